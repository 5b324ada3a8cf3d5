// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's own convolutions on CUDA, which run where cuDNN does not: windows are gathered into
// columns, image by image, and multiplied by cuBLAS (aten/src/ATen/native/cuda/ConvolutionMM2d.cu,
// NaiveDilatedConvolution.cu, NaiveConvolutionTranspose2d.cu and 3d). All results are row-major.
#pragma once

#include <cstdint>

#include "ops/op_def.h"

namespace steelyard::cuda {

// Of kernels of (self, weight, kernel_size, bias, ...): windows of the image are columns.
enum class Columns : std::uint8_t { kWhereNeeded, kAlways };
void SlowConvolution(const OpView& op, Columns columns, Allocations& memory);

// A column for each pixel of the image; a bias is added by a product with ones.
void SlowTransposed(const OpView& op, Allocations& memory);
void SlowTransposedVolume(const OpView& op, Allocations& memory);

// Of (grad_output, self, weight, ..., output_mask): the gradients of image, weight and bias, one
// after the other, with one buffer of columns.
void SlowBackward(const OpView& op, Allocations& memory);
// All three of one image after the other.
void SlowDilatedBackward(const OpView& op, Allocations& memory);
// The image's, then the others.
void SlowTransposedBackward(const OpView& op, Allocations& memory);

}  // namespace steelyard::cuda
