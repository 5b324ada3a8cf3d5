// SPDX-License-Identifier: Apache-2.0
//
// The numbers and names by which torch's export schema writes dtypes, layouts, memory formats and
// operators (torch/_export/serde/schema.py; the same in all versions of it).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steelyard/tables.h"

namespace steelyard::pt2 {

struct DTypeCode {
  std::int64_t code;
  DType dtype;
};

// The row of a dtype's code, or nullptr.
const DTypeCode* FindDType(std::int64_t code);

inline constexpr std::int64_t kStridedLayout = 7;
// "strided", "sparse_coo"; "" for an unknown code.
std::string_view LayoutNamed(std::int64_t code);
// "contiguous_format", "channels_last"; "" for an unknown code.
std::string_view MemoryFormatNamed(std::int64_t code);

// "torch.ops.aten.softmax.int" -> "aten::softmax.int", "torch.ops.aten.linear.default" ->
// "aten::linear", "torch.ops.higher_order.cond" -> "higher_order::cond", "_operator.mul" ->
// "operator::mul", "#ns:op" (an extension) -> "ns::op".
std::string OpNameOf(std::string_view target);

}  // namespace steelyard::pt2
