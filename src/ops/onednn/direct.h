// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's kernels that keep a row of results in registers (jit:avx512_core and its relatives):
// which of them takes a convolution of row-major images, and in blocks of how many channels.
#pragma once

#include <optional>

#include "ops/onednn/problem.h"

namespace steelyard::onednn {

struct DirectKernel {
  enum class Kind : std::uint8_t { kDepthwise, kPointwise, kDirect, kSmallVector };
  Kind kind = Kind::kDirect;
  std::int64_t channel_block = 16;  // of the image and the weight
  bool reads_plain = false;         // few input channels are read as they are
  bool drops_pixels = false;        // a strided 1 x 1 kernel copies the pixels it needs
};

// A 1 x 1 kernel that reads every pixel once, or that copies those it needs.
bool TakesPointwise(const Problem& problem);
bool DropsPixels(const Problem& problem);

std::optional<DirectKernel> ChooseDirect(const Problem& problem, const Target& target);
// The same of the kernels that go from the result back to the image.
std::optional<DirectKernel> ChooseBackward(const Problem& problem, const Target& target);

}  // namespace steelyard::onednn
