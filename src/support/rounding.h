// SPDX-License-Identifier: Apache-2.0
//
// Integers that are rounded up.
#pragma once

#include <cstdint>

namespace steelyard {

// How many of size `by` hold `n`. Requires: n >= 0, by > 0.
[[nodiscard]] constexpr std::int64_t DivideUp(std::int64_t n, std::int64_t by) {
  return n / by + (n % by == 0 ? 0 : 1);
}

// The least multiple of `to` that is at least `n`. Requires: n >= 0, to > 0.
[[nodiscard]] constexpr std::int64_t RoundUp(std::int64_t n, std::int64_t to) {
  return DivideUp(n, to) * to;
}

}  // namespace steelyard
