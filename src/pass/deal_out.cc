// SPDX-License-Identifier: Apache-2.0

#include "pass/deal_out.h"

#include <algorithm>
#include <functional>

namespace steelyard {

std::vector<std::vector<Dealt>> DealOut(std::span<const std::vector<std::int64_t>> groups,
                                        std::size_t ranks) {
  std::vector<std::int64_t> totals(ranks, 0);
  std::vector<std::vector<Dealt>> out;
  for (const std::vector<std::int64_t>& sizes : groups) {
    std::vector<Dealt>& dealt = out.emplace_back(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) dealt[i].place = i;
    std::ranges::stable_sort(dealt, std::greater(),
                             [&](const Dealt& parameter) { return sizes[parameter.place]; });
    for (Dealt& parameter : dealt) {
      const auto fewest = std::ranges::min_element(totals);
      parameter.rank = static_cast<std::size_t>(fewest - totals.begin());
      *fewest += sizes[parameter.place];
    }
  }
  return out;
}

}  // namespace steelyard
