// SPDX-License-Identifier: Apache-2.0
//
// Contiguous strides of sizes that may be symbolic; all as raw Dims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// The products of sizes that are the strides of a contiguous tensor, as expressions where needed.
// Requires: at most Dims::kMaxRank sizes.
Dims ContiguousDims(ExpressionTable& expressions, std::span<const std::int64_t> sizes);

// Tells whether strides are those of a contiguous tensor, however their expressions are written.
// Symbolic ones are compared at a few points of the symbols' ranges: two products of sizes that
// agree there are the same product.
class ContiguityTest {
 public:
  // Requires: neither symbols nor expressions are added to `program` while this is in use.
  explicit ContiguityTest(const Program& program);

  // Of a tensor's sizes followed by its strides.
  bool operator()(std::span<const std::int64_t> sizes_and_strides) const;

 private:
  std::vector<std::vector<std::optional<std::int64_t>>> points_;
};

}  // namespace steelyard
