// SPDX-License-Identifier: Apache-2.0
//
// A tensor is one word of the key of a call, because equal sizes and strides stand in one place of
// the pool. Those that `Intern` did not put there are never found, and asked of the row each time.

#include "ops/dispatch/known_kernels.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "support/hash.h"

namespace steelyard {
namespace {

template <class T>
std::uint64_t HashOf(std::span<const T> numbers) {
  return HashText({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
}

// What a rule can see of a tensor: place, rank, dtype, flags and kind, from the highest bits on.
std::uint64_t WordOf(const Value& value) {
  static_assert(Dims::kMaxRank < 256);
  const auto flags =
      static_cast<unsigned>(value.wrapped_number) | static_cast<unsigned>(value.conjugated) << 1U |
      static_cast<unsigned>(value.negated) << 2U | static_cast<unsigned>(value.on_host) << 3U;
  const auto low = static_cast<std::uint32_t>(value.rank) << 24U |
                   static_cast<std::uint32_t>(value.dtype) << 16U | flags << 8U |
                   static_cast<std::uint32_t>(ArgKind::kValue);
  return std::uint64_t{value.dims} << 32U | low;
}

}  // namespace

void KnownKernels::Index::Put(const Slot& slot) {
  std::size_t at = slot.hash & mask();
  while (slots_[at].id != kNoId) at = (at + 1) & mask();
  slots_[at] = slot;
}

void KnownKernels::Index::Add(std::uint64_t hash, std::uint32_t id) {
  if (++count_ * 2 > slots_.size()) {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    for (const Slot& slot : before) {
      if (slot.id != kNoId) Put(slot);
    }
  }
  Put({hash, id});
}

// Whether it can be told from others: what runs a graph depends on what is in it.
bool KnownKernels::AddToKey(const Argument& a) {
  const auto kind = static_cast<std::uint64_t>(a.kind);
  const auto add = [&](std::uint64_t payload) { key_.push_back(payload << 8U | kind); };
  switch (a.kind) {
    case ArgKind::kNone:
      add(0);
      return true;
    case ArgKind::kValue:
      key_.push_back(WordOf(program_.values[a.value]));
      return program_.values[a.value].kind == ValueKind::kTensor;
    case ArgKind::kInt:
    case ArgKind::kBool:
      add(0);
      key_.push_back(static_cast<std::uint64_t>(a.dim.raw()));
      return true;
    case ArgKind::kFloat:
      add(0);
      key_.push_back(std::bit_cast<std::uint64_t>(a.real));
      return true;
    case ArgKind::kString:
      add(a.text);
      return true;
    case ArgKind::kDType:
      add(static_cast<std::uint64_t>(a.dtype));
      return true;
    case ArgKind::kList:
    case ArgKind::kComplex:
      add(a.list.count);
      return std::ranges::all_of(program_.list(a.list),
                                 [&](const Argument& element) { return AddToKey(element); });
    case ArgKind::kGraph:
      return false;
  }
  __builtin_unreachable();
}

KernelId KnownKernels::Find(const OpDef& def, std::span<const Argument> args) {
  key_.clear();
  if (!program_.packings.empty()) return kNoId;  // what is read of such a weight its name tells
  key_.push_back(std::bit_cast<std::uintptr_t>(&def));
  for (const Argument& argument : args) {
    if (AddToKey(argument)) continue;
    key_.clear();
    return kNoId;
  }
  hash_ = HashOf(std::span<const std::uint64_t>(key_));
  return by_call_.Find(hash_, [&](KernelId id) {
    const Kernel& kernel = kernels_[id];
    return kernel.words == key_.size() &&
           std::equal(key_.begin(), key_.end(), words_.begin() + kernel.first_word);
  });
}

KernelId KnownKernels::Add(std::span<const Result> results, Count bytes) {
  if (key_.empty()) return kNoId;
  const auto id = static_cast<KernelId>(kernels_.size());
  kernels_.push_back({.first_word = static_cast<std::uint32_t>(words_.size()),
                      .words = static_cast<std::uint32_t>(key_.size()),
                      .first_result = static_cast<std::uint32_t>(results_.size()),
                      .results = static_cast<std::uint32_t>(results.size()),
                      .bytes = bytes});
  words_.insert(words_.end(), key_.begin(), key_.end());
  results_.insert(results_.end(), results.begin(), results.end());
  by_call_.Add(hash_, id);
  return id;
}

std::uint32_t KnownKernels::Intern(std::span<const std::int64_t> sizes,
                                   std::span<const std::int64_t> strides) {
  const auto rank = static_cast<std::uint32_t>(sizes.size());
  const std::uint64_t hash = HashOf(sizes) ^ std::rotl(HashOf(strides), 1);
  const std::uint32_t found = by_dims_.Find(hash, [&](std::uint32_t id) {
    const std::span<const std::int64_t> dims = program_.dims.span(placed_[id].dims, 2 * rank);
    return placed_[id].rank == rank && std::ranges::equal(dims.first(rank), sizes) &&
           std::ranges::equal(dims.last(rank), strides);
  });
  if (found != kNoId) return placed_[found].dims;
  const std::uint32_t dims = program_.dims.Allocate(2 * rank);
  const std::span<std::int64_t> room = program_.dims.span(dims, 2 * rank);
  std::ranges::copy(sizes, room.begin());
  std::ranges::copy(strides, room.begin() + rank);
  by_dims_.Add(hash, static_cast<std::uint32_t>(placed_.size()));
  placed_.push_back({dims, rank});
  return dims;
}

}  // namespace steelyard
