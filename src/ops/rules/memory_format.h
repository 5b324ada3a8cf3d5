// SPDX-License-Identifier: Apache-2.0
//
// Memory formats: in which order the elements of a fresh tensor lie.
#pragma once

#include <cstdint>
#include <span>

#include "ops/op_def.h"

namespace steelyard {

enum class MemoryFormat : std::uint8_t { kPreserve, kContiguous, kChannelsLast };

// Argument i. Files name the format; schemas and decompositions number it as c10::MemoryFormat.
MemoryFormat FormatOf(const OpView& op, int i, MemoryFormat missing);
// As decompositions pass it.
inline constexpr std::int64_t kContiguousFormat = 0, kChannelsLastFormat = 2;
// That which the strides of a tensor suggest, as passed by decompositions.
std::int64_t SuggestedFormat(const TensorView& tensor);

// Whether its elements lie without gaps in this order: channels last, or else row by row.
bool LiesDense(const TensorView& tensor, bool channels_last);

// Strides of a fresh tensor with the sizes of `tensor`.
Dims StridesIn(MemoryFormat format, const TensorView& tensor);
// Strides of a fresh tensor that follows no other: preserving means row-major.
Dims StridesIn(MemoryFormat format, std::span<const std::int64_t> sizes);

}  // namespace steelyard
