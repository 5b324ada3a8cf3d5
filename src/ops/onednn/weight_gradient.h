// SPDX-License-Identifier: Apache-2.0
//
// The kernels that give the gradient of a convolution's weight: which of them takes a problem, and
// the scratch it asks for. What none takes is a product with columns of windows (columns.h).
#pragma once

#include <optional>

#include "ops/onednn/problem.h"

namespace steelyard::onednn {

struct WeightKernel {
  enum class Kind : std::uint8_t { kDepthwise, kPointwise, kDirect, kSmallVector };
  Kind kind = Kind::kDirect;
  std::int64_t block = 16;    // of channels, in the weight and in images that are copied
  bool reads_plain = false;   // the few input channels are neither copied nor filled up
  bool drops_pixels = false;  // a strided 1 x 1 kernel copies the pixels it needs
};

std::optional<WeightKernel> ChooseWeightKernel(const Problem& problem);

// Exact with one thread; several may add up in buffers of their own.
Count WeightScratch(const WeightKernel& kernel, const Problem& problem, const Target& target);

}  // namespace steelyard::onednn
