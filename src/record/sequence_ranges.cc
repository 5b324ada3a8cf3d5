// SPDX-License-Identifier: Apache-2.0
#include "record/sequence_ranges.h"

#include <algorithm>

namespace steelyard {

void SequenceRanges::Begin(std::uint64_t thread, std::uint64_t number, std::uint32_t module) {
  std::vector<Range>& ranges = by_thread_[thread];
  // Nothing was numbered since: of two modules that begin at one number the later has it.
  if (!ranges.empty() && ranges.back().first >= number) {
    ranges.back() = {number, module};
    return;
  }
  if (!ranges.empty() && ranges.back().second == module) return;
  ranges.emplace_back(number, module);
}

std::optional<std::uint32_t> SequenceRanges::Find(std::uint64_t thread,
                                                  std::uint64_t number) const {
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) return std::nullopt;
  const std::vector<Range>& ranges = found->second;
  const auto after = std::ranges::upper_bound(ranges, number, {}, &Range::first);
  if (after == ranges.begin()) return std::nullopt;
  return std::prev(after)->second;
}

}  // namespace steelyard
