// SPDX-License-Identifier: Apache-2.0
//
// The words of PYTORCH_ALLOC_CONF, `key:value,key:[size:value,...]`: one row for each key, with the
// values that PyTorch 2.15 takes (executed, tests/oracle/test_caching.py).

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

#include "memory/caching/settings.h"
#include "support/choices.h"

namespace steelyard {
namespace {

constexpr std::string_view kList = "a list such as [64:8,256:4,>:1]";

// What a key does with its value. Returns what would be a value, nothing when it took this one.
using Wanted = std::string;
using Take = Wanted (*)(std::string_view value, AllocatorSettings* settings);

struct Key {
  std::string_view name;
  Take take;
};

template <class Number>
std::optional<Number> AsNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return number;
}

// Sizes are told in MiB. Larger than any memory is as large as can be.
std::optional<std::int64_t> AsMebibytes(std::string_view text) {
  const std::optional<std::int64_t> number = AsNumber<std::int64_t>(text);
  if (!number || *number < 0) return std::nullopt;
  return *number > AllocatorSettings::kUnlimited / kMiB ? AllocatorSettings::kUnlimited
                                                        : *number * kMiB;
}

Wanted AtLeast(std::int64_t least, std::string_view value, std::int64_t* field) {
  const std::optional<std::int64_t> size = AsMebibytes(value);
  if (!size || *size < least) return fmt::format("a whole number from {} on, in MiB", least / kMiB);
  *field = *size;
  return {};
}

Wanted TakeBool(std::string_view value, bool* field) {
  if (value != "True" && value != "False") return "True or False";
  *field = value == "True";
  return {};
}

// Of the allocator of pinned host memory, and of locks and captures: it moves no block.
Wanted TakeNothing(std::string_view value, AllocatorSettings*) {
  return value.empty() ? "a value" : Wanted{};
}

Wanted TakeBackend(std::string_view value, AllocatorSettings*) {
  return value == "native" ? Wanted{} : "native (what cudaMallocAsync does, only the driver knows)";
}

Wanted TakeLargeSegment(std::string_view value, AllocatorSettings* settings) {
  return AtLeast(kPackedLimit + kMiB, value, &settings->large_segment_size);
}

// Both are held against the size of large segments that stands before them.
Wanted TakeMaxSplit(std::string_view value, AllocatorSettings* settings) {
  return AtLeast(settings->large_segment_size, value, &settings->max_split_size);
}
Wanted TakeMaxNonSplit(std::string_view value, AllocatorSettings* settings) {
  return AtLeast(settings->large_segment_size, value, &settings->max_non_split_rounding);
}

Wanted TakeGarbageThreshold(std::string_view value, AllocatorSettings* settings) {
  const std::optional<double> share = AsNumber<double>(value);
  if (!share || !(*share > 0 && *share < 1)) return "a number between 0 and 1";
  settings->garbage_collection_threshold = *share;
  return {};
}

Wanted TakeFraction(std::string_view value, AllocatorSettings* settings) {
  const std::optional<double> share = AsNumber<double>(value);
  if (!share || !(*share >= 0 && *share <= 1)) return "a number from 0 to 1";
  settings->memory_fraction = share;
  return {};
}

Wanted TakeExpandable(std::string_view value, AllocatorSettings* settings) {
  return TakeBool(value, &settings->expandable_segments);
}

Wanted TakeRefuseEarly(std::string_view value, AllocatorSettings* settings) {
  return TakeBool(value, &settings->refuse_early);
}

Wanted TakeReserve(std::string_view value, AllocatorSettings* settings) {
  constexpr double kMostGiB = 1 << 20;
  const bool is_size = value.ends_with('G');
  if (is_size) value.remove_suffix(1);
  const std::optional<double> number = AsNumber<double>(value);
  if (!number || !std::isfinite(*number) || *number <= 0) {
    return "a share of the device's memory (0.5) or a size (40G)";
  }
  AddressReserve& reserve = settings->expandable_reserve;
  reserve.is_share = !is_size;
  reserve.share = *number;
  reserve.bytes = static_cast<std::int64_t>(std::min(*number, kMostGiB) * double{kGiB});
  return {};
}

bool IsPowerOfTwo(std::int64_t number) {
  return number > 0 && std::has_single_bit(static_cast<std::uint64_t>(number));
}

// One number for all sizes, or a list of `size in MiB:number`: the first stands for all smaller
// sizes too, every other for its own, and `>` for those from the one before it on.
Wanted TakeDivisions(std::string_view value, AllocatorSettings* settings) {
  auto& divisions = settings->roundup_divisions;
  if (!value.starts_with('[')) {
    const std::optional<std::int64_t> number = AsNumber<std::int64_t>(value);
    if (!number || !IsPowerOfTwo(*number)) return fmt::format("a power of two or {}", kList);
    divisions.fill(*number);
    return {};
  }
  if (!value.ends_with(']')) return Wanted(kList);
  value = value.substr(1, value.size() - 2);
  std::size_t last = 0;
  for (bool first = true; !value.empty(); first = false) {
    const std::string_view pair = value.substr(0, value.find(','));
    value.remove_prefix(std::min(pair.size() + 1, value.size()));
    const std::size_t colon = std::min(pair.find(':'), pair.size());
    const std::string_view size = pair.substr(0, colon);
    const auto number = AsNumber<std::int64_t>(pair.substr(std::min(colon + 1, pair.size())));
    if (!number || (*number != 0 && !IsPowerOfTwo(*number))) return Wanted(kList);
    if (size == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(last), divisions.end(), *number);
      continue;
    }
    const std::optional<std::int64_t> mebibytes = AsNumber<std::int64_t>(size);
    if (!mebibytes || !IsPowerOfTwo(*mebibytes)) return Wanted(kList);
    const auto bits =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(*mebibytes)));
    const std::size_t entry = std::min(bits - 1, divisions.size() - 1);
    if (first) std::fill_n(divisions.begin(), entry, *number);
    divisions[entry] = *number;
    last = entry + 1;
  }
  return {};
}

constexpr Key kKeys[] = {
    {"backend", TakeBackend},
    {"expandable_segments", TakeExpandable},
    {"expandable_segments_reserve", TakeReserve},
    {"garbage_collection_threshold", TakeGarbageThreshold},
    {"graph_capture_record_stream_reuse", TakeNothing},
    {"large_segment_size_mb", TakeLargeSegment},
    {"max_non_split_rounding_mb", TakeMaxNonSplit},
    {"max_split_size_mb", TakeMaxSplit},
    {"per_process_memory_fraction", TakeFraction},
    {"pinned_free_catch_all", TakeNothing},
    {"pinned_max_cached_size_mb", TakeNothing},
    {"pinned_max_round_threshold_mb", TakeNothing},
    {"pinned_num_register_threads", TakeNothing},
    {"pinned_reserve_segment_size_mb", TakeNothing},
    {"pinned_use_background_threads", TakeNothing},
    {"pinned_use_cuda_host_register", TakeNothing},
    {"release_lock_on_cudamalloc", TakeNothing},
    {"roundup_power2_divisions", TakeDivisions},
    {"throw_on_cudamalloc_oom", TakeRefuseEarly},
};

// The end of the first `key:value` of the text: a comma that stands in no list.
std::size_t EndOfPair(std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::size_t list = text.find('[');
  if (comma == std::string_view::npos || list > comma) return std::min(comma, text.size());
  const std::size_t closed = text.find(']', list);
  return closed == std::string_view::npos ? text.size()
                                          : std::min(text.find(',', closed), text.size());
}

}  // namespace

Result<AllocatorSettings> ParseAllocatorSettings(std::string_view text) {
  AllocatorSettings settings;
  std::string words(text);
  std::erase_if(words, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
  for (std::string_view rest = words; !rest.empty();) {
    const std::string_view pair = rest.substr(0, EndOfPair(rest));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t colon = std::min(pair.find(':'), pair.size());
    const std::string_view name = pair.substr(0, colon);
    const std::string_view value = pair.substr(std::min(colon + 1, pair.size()));
    const auto* const key = std::ranges::find(kKeys, name, &Key::name);
    if (key == std::end(kKeys))
      return Unexpected(NoSuch("allocator setting", name, NamesOf(kKeys)));
    if (const Wanted wanted = key->take(value, &settings); !wanted.empty()) {
      return Unexpected(UsageError(fmt::format("it is \"{}\"", value), std::string(name),
                                   fmt::format("Give {}.", wanted)));
    }
  }
  return settings;
}

}  // namespace steelyard
