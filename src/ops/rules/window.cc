// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/window.h"

#include <fmt/core.h>

#include "ir/layout.h"
#include "ops/rules/work.h"

namespace steelyard::window {
namespace {

// What a file can mean: keeps every sum below in 64 bits.
constexpr std::int64_t kMost = std::int64_t{1} << 40;

void RequireBetween(std::string_view name, std::int64_t value, std::int64_t least) {
  if (value < least || value > kMost) Refuse(fmt::format("a {} of {}", name, value));
}

std::int64_t OutputSize(std::int64_t size, const Window& window, int i) {
  const std::int64_t stride = window.stride[i], padding = window.padding[i];
  RequireBetween("size", size, 0);
  RequireBetween("kernel size", window.kernel[i], 1);
  RequireBetween("stride", stride, 1);
  RequireBetween("padding", padding, 0);
  RequireBetween("dilation", window.dilation[i], 1);
  const Count reach = Count(window.dilation[i]) * (window.kernel[i] - 1);
  const std::int64_t padded = size + 2 * padding;
  const bool up = window.rounding == Rounding::kUp;
  const std::int64_t room =
      reach.overflowed() ? -1 : padded - reach.value() - 1 + (up ? stride - 1 : 0);
  std::int64_t windows = room < 0 ? 0 : room / stride + 1;
  // The last window must start inside the image or its left padding.
  if (up && windows > 0 && (windows - 1) * stride >= size + padding) --windows;
  if (windows == 0) {
    Refuse(fmt::format("a kernel of {} is larger than the padded image: {} + 2 * {}",
                       window.kernel[i], size, padding));
  }
  return windows;
}

}  // namespace

Dims PerDimension(std::string_view name, const Dims& list, int count) {
  if (list.size() == count) return list;
  if (list.size() == 1) return Dims::Filled(count, list[0]);
  Refuse(fmt::format("{} has {} numbers for {} dimensions", name, list.size(), count));
}

Dims OutputSizes(std::span<const std::int64_t> image, const Window& window) {
  Dims out;
  for (std::size_t i = 0; i < image.size(); ++i) {
    out.push_back(OutputSize(image[i], window, static_cast<int>(i)));
  }
  return out;
}

Count Elements(const Window& window) { return work::Elements(window.kernel); }

std::span<const std::int64_t> Spatial(std::span<const std::int64_t> sizes) {
  return sizes.size() < 2 ? std::span<const std::int64_t>() : sizes.subspan(2);
}

Dims StridesLike(const TensorView& like, std::span<const std::int64_t> sizes) {
  return IsChannelsLast(like.sizes(), like.strides()) ? ChannelsLastStrides(sizes)
                                                      : ContiguousStrides(sizes);
}

}  // namespace steelyard::window
