// SPDX-License-Identifier: Apache-2.0
//
// Private buffers of oneDNN's convolutions on x86-64 with AVX-512. oneDNN is no part of PyTorch's
// contract: which buffers it takes depends on the processor and its version, and the rules here
// were found by measuring torch 2.15 (oneDNN 3) on one that has avx512_bf16 and no AMX.
#pragma once

#include <cstdint>
#include <span>

#include "ops/op_def.h"

namespace steelyard::onednn {

// Batch, channels, spatial sizes of the images; output channels, input channels per group, kernel
// sizes of the weight.
struct Convolution {
  std::span<const std::int64_t> source, weight, result;
  std::span<const std::int64_t> stride, padding, dilation;
  std::int64_t groups = 1;
  DType dtype = DType::kFloat32;
  bool has_bias = false;
  bool channels_last = false;  // computed in place, without copies of the images
};

// Bytes of each buffer of a forward pass; 0 where oneDNN needs none.
struct Buffers {
  std::int64_t scratch = 0;  // the kernel's own
  std::int64_t source = 0;   // copies in the kernel's layout
  std::int64_t weight = 0;
  std::int64_t result = 0;
  bool result_last = false;  // comes with the channels last, of an image that is to have them first
  bool estimated = false;    // by a kernel whose buffers are not known to the byte
};
Buffers ForwardBuffers(const Convolution& convolution, const Target& target);
// Of the transposed convolution that goes from `convolution`'s result to its source.
Buffers TransposedBuffers(const Convolution& convolution, const Target& target);

// `channels` rounded up to whole blocks.
std::int64_t Padded(std::int64_t channels, const Target& target);

}  // namespace steelyard::onednn
