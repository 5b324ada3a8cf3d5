// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of convolutions have in common with the code that chooses between them.
#pragma once

#include <cstdint>
#include <span>

#include "ops/op_def.h"
#include "ops/rules/onednn.h"
#include "ops/rules/window.h"

namespace steelyard::convolution {

// The lists that say how the kernel passes over the image, one number per spatial dimension.
struct Geometry {
  Dims stride, padding, dilation;
  std::int64_t groups = 1;
};

// Dimensions of a weight besides its channels.
int SpatialRank(const TensorView& weight);

// Refuses operands whose ranks, dtypes or channels do not fit together.
void RequireOperands(const TensorView& input, const TensorView& weight, std::int64_t groups);
void RequireOperands(const TensorView& input, const TensorView& weight, const TensorView& bias,
                     std::int64_t groups);

// Whether the kernels compute in channels-last order: if either operand suggests it.
bool UsesChannelsLast(const TensorView& input, const TensorView& weight);

// Adds the image that such a convolution gives.
void AddImage(const TensorView& input, const TensorView& weight, const TensorView& bias,
              const Geometry& geometry, Outputs& out);

// Refuses a gradient that is not of the size of such a convolution's image.
void RequireGradient(const TensorView& gradient, const TensorView& input, const TensorView& weight,
                     const Geometry& geometry);

// Whether a matrix product needs the windows gathered: a 1 x 1 kernel that touches every pixel once
// multiplies the image as it is.
bool NeedsColumns(const TensorView& weight, const Geometry& geometry);

// oneDNN's private buffers, when it convolves `input` with `weight` to an image of the sizes `out`,
// or transposes that.
onednn::Buffers ForwardBuffers(const TensorView& input, const TensorView& weight,
                               std::span<const std::int64_t> out, const Geometry& geometry,
                               bool has_bias, const Target& target);
onednn::Buffers TransposedBuffers(const TensorView& input, const TensorView& weight,
                                  std::span<const std::int64_t> out, const Geometry& geometry,
                                  bool has_bias, const Target& target);

// Each element of the result is a sum over the kernel and the input channels of its group.
Work WorkOf(const OpView& op, const TensorView& weight, const TensorView& bias);

}  // namespace steelyard::convolution
