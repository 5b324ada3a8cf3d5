// SPDX-License-Identifier: Apache-2.0
//
// Windows that slide over the last dimensions of an image: of convolutions and pools
// (ATen/native/ConvUtils.h, Pool.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/op_def.h"

namespace steelyard::window {

enum class Rounding : std::uint8_t { kDown, kUp };

// One number per dimension the window slides over.
struct Window {
  Dims kernel, stride, padding, dilation;
  Rounding rounding = Rounding::kDown;
};

// `list` for `count` dimensions; a single number stands for all of them.
Dims PerDimension(std::string_view name, const Dims& list, int count);

// Sizes of the last dimensions after the window has passed over `image`. Refuses windows that do
// not fit. Requires: as many sizes as the window has dimensions.
Dims OutputSizes(std::span<const std::int64_t> image, const Window& window);

// Elements of one window.
Count Elements(const Window& window);

// The sizes of a tensor without the first two dimensions: batch and channels.
std::span<const std::int64_t> Spatial(std::span<const std::int64_t> sizes);

// Strides of an image of `sizes` in the memory format that `like` suggests.
Dims StridesLike(const TensorView& like, std::span<const std::int64_t> sizes);

}  // namespace steelyard::window
