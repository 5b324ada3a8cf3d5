// SPDX-License-Identifier: Apache-2.0
//
// Which of several processes steps which parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace steelyard {

// A parameter that is given to a process: its place in its group.
struct Dealt {
  std::size_t place = 0;
  std::size_t rank = 0;
};

// As torch.distributed.optim.ZeroRedundancyOptimizer deals them out, of groups of parameters with
// so many elements: the largest of a group first, each to the first of those processes that have
// the fewest elements of all groups so far. In the order in which they are dealt. Requires:
// there is a process.
std::vector<std::vector<Dealt>> DealOut(std::span<const std::vector<std::int64_t>> groups,
                                        std::size_t ranks);

}  // namespace steelyard
