// SPDX-License-Identifier: Apache-2.0
//
// oneDNN allows blocks of one to four vectors by rules of thumb (oneDNN 3.8, fast_check_oc_block
// and fast_check_oc_block_1x1 in src/cpu/x64/jit_brgemm_conv_utils.cpp, their likes for ic in
// jit_brgemm_conv_bwd_utils.cpp) and takes of those the one that it estimates to be fastest. By
// measuring (torch 2.15) that is nearly always the widest, and two vectors rather than one.

#include "ops/onednn/blocks.h"

#include <cstdint>

#include "support/rounding.h"

namespace steelyard::onednn {
namespace {

// Four vectors: of kernels of one pixel, images of this many; of others, less weight for each
// pixel of the kernel and input channel than this.
constexpr double kPixelsForFour = 64;
constexpr std::int64_t kBytesForFour = std::int64_t{192} * 4;
// Three vectors, of kernels of more than a pixel: at most so much weight, and a larger image.
constexpr std::int64_t kBytesForThree = std::int64_t{384} * 4;
constexpr double kPixelsForThree = 81;

}  // namespace

bool NearlyFills(std::int64_t channels, std::int64_t block) {
  constexpr std::int64_t kParts = 20;
  return kParts * channels >= (kParts - 1) * RoundUp(channels, block);
}

std::int64_t ProductBlock(const ProductChannels& c) {
  const std::int64_t two = 2 * c.vector, three = 3 * c.vector, four = 4 * c.vector;
  const std::int64_t whole = RoundUp(c.channels, c.vector);
  if (whole == c.vector) return c.vector;
  if (c.pointwise) {
    if (whole % four == 0 && c.pixels >= kPixelsForFour) return four;
    return NearlyFills(c.channels, three) ? three : two;
  }
  const std::int64_t bytes = whole * c.element_bytes;
  if (whole % four == 0 && bytes < kBytesForFour) return four;
  const bool fits = whole % three == 0 && bytes <= kBytesForThree;
  return fits && c.pixels > kPixelsForThree ? three : two;
}

}  // namespace steelyard::onednn
