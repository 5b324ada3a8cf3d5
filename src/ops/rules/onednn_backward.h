// SPDX-License-Identifier: Apache-2.0
//
// Private buffers of oneDNN's backward kernels of convolutions, measured as those of the forward
// pass are (onednn.h).
#pragma once

#include <cstdint>

#include "ops/rules/onednn.h"

namespace steelyard::onednn {

// Bytes of each buffer of the kernel that gives the image's gradient; 0 where it needs none.
struct ImageGradientBuffers {
  std::int64_t given = 0;   // a copy of the incoming gradient
  std::int64_t weight = 0;  // a copy of the weight
  std::int64_t image = 0;   // the result in the kernel's layout
  std::int64_t scratch = 0;
  // Whether the result comes out in another order and is copied once more.
  bool reordered = false;
  bool estimated = false;  // by a kernel whose buffers are not known to the byte
};
ImageGradientBuffers BuffersOfImageGradient(const Convolution& convolution, const Target& target);

// The same of the kernel that gives the gradients of weight and bias.
struct WeightGradientBuffers {
  std::int64_t given = 0;
  std::int64_t source = 0;  // a copy of the image
  std::int64_t weight = 0;  // the result in the kernel's layout
  std::int64_t scratch = 0;
  std::int64_t bias = 0;
  bool plain = false;  // the result lies in an order that PyTorch copies once more
  bool estimated = false;
};
WeightGradientBuffers BuffersOfWeightGradient(const Convolution& convolution, const Target& target);

}  // namespace steelyard::onednn
