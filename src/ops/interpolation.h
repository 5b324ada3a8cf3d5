// SPDX-License-Identifier: Apache-2.0
//
// Interpolation as torch.nn.functional.interpolate writes it out on CUDA under deterministic
// algorithms (torch/_decomp/decompositions.py), so that its gradient adds up in one order: pixels
// are looked up by index tensors and mixed by elementwise operators.
#pragma once

#include <cstdint>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops::interpolation {

// Whether it is written out there: of images that are differentiated or not.
bool IsWrittenOut(const Dispatcher& d);

// Of an image to these spatial sizes: _upsample_linear, of one, two or three dimensions.
Tensor Linear(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners);

// Of an image of two spatial dimensions by sixteen neighbours: upsample_bicubic2d_vec.
Tensor Cubic(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners);

}  // namespace steelyard::ops::interpolation
