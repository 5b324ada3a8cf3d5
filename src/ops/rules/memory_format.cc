// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/memory_format.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "ir/layout.h"

namespace steelyard {
namespace {

MemoryFormat FormatNamed(std::string_view text) {
  if (text.find("channels_last") != std::string_view::npos) return MemoryFormat::kChannelsLast;
  if (text.find("preserve") != std::string_view::npos) return MemoryFormat::kPreserve;
  return MemoryFormat::kContiguous;
}

// Files have a format for images and one for volumes; which it is follows from the dimensions, too.
void RequireRank(const OpView& op, std::string_view format) {
  if (format.find("channels_last") == std::string_view::npos) return;
  const bool of_volume = format.find("channels_last_3d") != std::string_view::npos;
  const bool of_tensor = op.arg(0).kind == ArgKind::kValue;
  const int rank = of_tensor ? op.self().rank() : op.ints(0).size();
  if (rank == (of_volume ? 5 : 4)) return;
  Refuse(fmt::format("the memory format {} is of {} dimensions, not {}",
                     of_volume ? "channels_last_3d" : "channels_last", of_volume ? 5 : 4, rank));
}

Dims ChannelsLast(std::span<const std::int64_t> sizes) {
  if (sizes.size() != 4 && sizes.size() != 5) Refuse("channels_last needs 4 or 5 dimensions");
  return ChannelsLastStrides(sizes);
}

}  // namespace

MemoryFormat FormatOf(const OpView& op, int i, MemoryFormat missing) {
  if (!op.given(i)) return missing;
  if (op.arg(i).kind == ArgKind::kString) {
    RequireRank(op, op.text(i));
    return FormatNamed(op.text(i));
  }
  constexpr std::array kFormats{MemoryFormat::kContiguous, MemoryFormat::kPreserve,
                                MemoryFormat::kChannelsLast, MemoryFormat::kChannelsLast};
  const std::int64_t number = op.integer(i);
  if (number < 0 || number >= std::ssize(kFormats)) Refuse("an unknown memory format");
  return kFormats[static_cast<std::size_t>(number)];
}

bool LiesDense(const TensorView& tensor, bool channels_last) {
  return channels_last ? IsContiguousChannelsLast(tensor.sizes(), tensor.strides())
                       : tensor.is_contiguous();
}

std::int64_t SuggestedFormat(const TensorView& tensor) {
  return IsChannelsLast(tensor.sizes(), tensor.strides()) ? kChannelsLastFormat : kContiguousFormat;
}

Dims StridesIn(MemoryFormat format, const TensorView& tensor) {
  if (format == MemoryFormat::kPreserve) {
    return EmptyLikeStrides(tensor.sizes(), tensor.strides());
  }
  return StridesIn(format, tensor.sizes());
}

Dims StridesIn(MemoryFormat format, std::span<const std::int64_t> sizes) {
  return format == MemoryFormat::kChannelsLast ? ChannelsLast(sizes) : ContiguousStrides(sizes);
}

}  // namespace steelyard
