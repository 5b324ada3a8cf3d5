// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/normalization.h"

#include <algorithm>
#include <limits>

#include "ir/layout.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::normalization {

DType AccumulateType(DType dtype) {
  const bool half = dtype == DType::kBFloat16 || dtype == DType::kFloat16;
  return half ? DType::kFloat32 : dtype;
}

DType StatisticsType(const TensorView& input, std::initializer_list<TensorView> parameters) {
  const auto all_of = [&](DType dtype) {
    return std::ranges::all_of(
        parameters, [&](const TensorView& p) { return !p.defined() || p.dtype() == dtype; });
  };
  if (all_of(input.dtype())) return input.dtype();
  if (AccumulateType(input.dtype()) == input.dtype() || !all_of(DType::kFloat32)) {
    Refuse("parameters are of the input's dtype, or float32 for an input in half precision");
  }
  return DType::kFloat32;
}

bool IsDenseImage(const TensorView& image) {
  return image.is_contiguous() || IsContiguousChannelsLast(image.sizes(), image.strides());
}

bool ChannelsAreAdjacent(const TensorView& image) {
  if (!image.is_contiguous()) return true;
  return work::Elements(window::Spatial(image.sizes())) == Count(1);
}

bool UsesCudnn(const OpView& op) {
  constexpr std::int64_t kMostImages = 880801, kMostImagesAsTheyAre = 65535;
  constexpr double kLeastEpsilon = 0;
  const TensorView image = op.self();
  const bool trains = op.boolean(5), has_statistics = op.given(3) && op.given(4);
  const bool complete =
      op.given(1) && op.given(2) && (has_statistics || (!op.given(3) && !op.given(4) && trains));
  if (op.target().device != Device::kCuda || !complete || image.rank() < 3) return false;
  if (image.size(0) > (trains ? kMostImages : kMostImagesAsTheyAre) || op.real(7) < kLeastEpsilon ||
      image.count() > std::numeric_limits<std::int32_t>::max())
    return false;
  const DType dtype = image.dtype();
  if (dtype == DType::kFloat16) return op.tensor(1).dtype() == DType::kFloat32;
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

}  // namespace steelyard::normalization
