// SPDX-License-Identifier: Apache-2.0

#include "memory/caching/device_memory.h"

#include <algorithm>
#include <iterator>

#include "support/assert.h"

namespace steelyard {
namespace {

std::int64_t InPages(std::int64_t bytes) {
  return (bytes + DeviceMemory::kPage - 1) / DeviceMemory::kPage * DeviceMemory::kPage;
}

}  // namespace

DeviceMemory DeviceMemory::Unlimited() {
  return DeviceMemory(std::int64_t{1} << 50);  // a PiB; leaves room to reserve more than that
}

std::optional<std::int64_t> DeviceMemory::Allocate(std::int64_t bytes) {
  if (!Commit(InPages(bytes))) return std::nullopt;
  return Reserve(bytes);
}

void DeviceMemory::Free(std::int64_t address) {
  const auto range = ranges_.find(address);
  SY_ASSERT(range != ranges_.end(), "only what was given comes back");
  Uncommit(range->second);
  Unreserve(address);
}

std::int64_t DeviceMemory::Reserve(std::int64_t bytes) {
  bytes = InPages(bytes);
  const auto hole =
      std::ranges::find_if(holes_, [&](const auto& range) { return range.second >= bytes; });
  SY_ASSERT(hole != holes_.end(), "there are more addresses than a program asks for");
  const auto [address, size] = *hole;
  holes_.erase(hole);
  if (size > bytes) holes_.emplace(address + bytes, size - bytes);
  ranges_.emplace(address, bytes);
  return address;
}

void DeviceMemory::Unreserve(std::int64_t address) {
  const auto range = ranges_.find(address);
  SY_ASSERT(range != ranges_.end(), "only what was given comes back");
  const auto hole = holes_.emplace(address, range->second).first;
  ranges_.erase(range);
  if (const auto next = std::next(hole);
      next != holes_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return;
  if (const auto before = std::prev(hole); before->first + before->second == hole->first) {
    before->second += hole->second;
    holes_.erase(hole);
  }
}

bool DeviceMemory::Commit(std::int64_t bytes) {
  if (bytes > free()) return false;
  taken_ += bytes;
  return true;
}

void DeviceMemory::Uncommit(std::int64_t bytes) { taken_ -= bytes; }

}  // namespace steelyard
