// SPDX-License-Identifier: Apache-2.0
//
// The part of number formatting that only renderers need: several numbers in one scale, as on the
// axis of a chart or along the row of a table whose label holds the unit. See steelyard/units.h
// for the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steelyard/units.h"

namespace steelyard {

// One way to write numbers of a unit: 2'028'000'000 bytes in the scale of GiB is `1.89`.
struct Scale {
  std::string_view prefix = {};  // "Gi", "M" or nothing.
  std::string_view suffix = {};  // "B", "FLOP" or nothing.
  double divisor = 1.0;          // What a value is divided by to be written in this scale.
  int decimals = 0;              // Digits after the point.

  // Returns prefix and suffix together: "GiB", "GFLOP". Empty for plain numbers.
  [[nodiscard]] std::string Word() const;
};

// Returns the scale in which `Format` would write `largest`, the largest magnitude of the numbers
// that are to share it.
[[nodiscard]] Scale CommonScale(double largest, Unit unit, UnitStyle style = UnitStyle::kAuto);

// Returns `value` in `scale`, without prefix or suffix. Zero is written `0`, so that an empty share
// of the work is seen at a glance. A whole number in a scale without a prefix keeps every digit.
[[nodiscard]] std::string FormatIn(std::int64_t value, const Scale& scale,
                                   Sign sign = Sign::kIfNegative);
[[nodiscard]] std::string FormatIn(double value, const Scale& scale, Sign sign = Sign::kIfNegative);

// Returns bytes that a user chose, by powers of 1000 and of 1024, since one of them is what was
// written: `80.00 GB (74.51 GiB)`. Below 1000 both are the same: `512 B`.
[[nodiscard]] std::string FormatLimit(std::int64_t bytes);

}  // namespace steelyard
