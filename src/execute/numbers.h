// SPDX-License-Identifier: Apache-2.0
//
// Floating-point numbers as they lie in memory.
#pragma once

#include <cstdint>
#include <optional>

#include "execute/engine_abi.h"
#include "steelyard/tables.h"

namespace steelyard {

// How many elements are no number (NaN) in so many bytes of them. 0 for a dtype of 8 bits or less.
[[nodiscard]] std::int64_t CountNans(DType dtype, const void* elements, std::int64_t bytes);

// Whether any of the elements is no number, or infinite. Neither where they are not floating-point.
struct NotNumbers {
  bool nan = false;
  bool infinity = false;
};
[[nodiscard]] NotNumbers FindNotNumbers(const SyElements& elements);

// The first of the elements as a number; nothing where there is none, or it is not floating-point.
[[nodiscard]] std::optional<double> FirstNumber(const SyElements& elements);

}  // namespace steelyard
