// SPDX-License-Identifier: Apache-2.0
//
// Kernels work on blocks of `channel_block` channels, so images and weights are copied into
// layouts whose channels are rounded up to it. Four kinds of kernels differ in what they copy:
// direct (one group), depthwise, grouped (in vectors of 4 channels), and GEMM on gathered columns.

#include "ops/rules/onednn.h"

#include <algorithm>

#include "ops/rules/allocations.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::onednn {
namespace {

// Every entry of a kernel's scratchpad is followed by this much (measured: the scratch of a kernel
// with one entry of n bytes is n + 128).
constexpr std::int64_t kScratchGap = 128;
// Channels-last kernels keep a list of matrix pairs (brgemm) of this size, whatever the shape
// (measured).
constexpr std::int64_t kMatrixList = 8216;
// Grouped kernels need channels per group in multiples of this (measured: 4, 8, 12, 20 go this
// way; 2, 3, 5, 6, 10, 18 become GEMMs).
constexpr std::int64_t kGroupVector = 4;
// bfloat16 weights hold pairs of channels.
constexpr std::int64_t kPair = 2;

std::int64_t RoundUp(std::int64_t n, std::int64_t block) { return (n + block - 1) / block * block; }

enum class Kind : std::uint8_t { kDirect, kDepthwise, kGrouped, kGemm };

class Plan {
 public:
  Plan(const Convolution& c, const Target& target)
      : c_(c),
        target_(target),
        outputs_(c.weight[0]),
        inputs_(c.weight[1]),
        kernel_(work::Elements(window::Spatial(c.weight))),
        pixels_(work::Elements(window::Spatial(c.result))),
        pointwise_(kernel_ == Count(1)),
        kind_(FindKind()) {}

  Buffers Forward() const {
    if (c_.channels_last) return InPlace();
    switch (kind_) {
      case Kind::kDirect:
        return Direct();
      case Kind::kDepthwise:
        return {.scratch = BiasScratch(),
                .source = Image(c_.source, Padded(c_.source[1])),
                .weight = Weight(Padded(outputs_), 1),
                .result = Image(c_.result, Padded(c_.result[1]))};
      case Kind::kGrouped:
        return {.source = Image(c_.source, c_.source[1]),
                .weight = Weight(outputs_, inputs_),
                .result = Image(c_.result, c_.result[1])};
      case Kind::kGemm:
        return {.scratch = GemmScratch(), .result = Image(c_.result, c_.result[1])};
    }
    __builtin_unreachable();
  }

 private:
  Kind FindKind() const {
    if (c_.groups == 1) return Kind::kDirect;
    const std::int64_t outputs_per_group = outputs_ / c_.groups;
    if (inputs_ == 1 && outputs_per_group == 1) return Kind::kDepthwise;
    const bool vectors = inputs_ % kGroupVector == 0 && outputs_per_group % kGroupVector == 0;
    return vectors ? Kind::kGrouped : Kind::kGemm;
  }

  bool narrow() const { return c_.dtype != DType::kFloat32; }
  std::int64_t Padded(std::int64_t channels) const { return onednn::Padded(channels, target_); }
  std::int64_t Bytes(Count elements) const { return allocations::Bytes(elements, c_.dtype); }
  std::int64_t Image(std::span<const std::int64_t> sizes, std::int64_t channels) const {
    return Bytes(Count(sizes[0]) * channels * work::Elements(window::Spatial(sizes)));
  }
  std::int64_t Weight(std::int64_t outputs, std::int64_t inputs) const {
    return Bytes(Count(outputs) * inputs * kernel_);
  }
  // One entry of the scratchpad; each thread has its own.
  std::int64_t Entry(std::int64_t bytes) const {
    return allocations::Bytes((Count(bytes) + kScratchGap) * target_.threads, DType::kUInt8);
  }
  std::int64_t Floats(Count elements) const {
    return allocations::Bytes(elements, DType::kFloat32);
  }

  // Few input channels are read in place unless a 1 x 1 kernel multiplies them as a matrix.
  Buffers Direct() const {
    const bool in_place = inputs_ < target_.channel_block && !pointwise_;
    const std::int64_t read_inputs = narrow() ? RoundUp(inputs_, kPair) : inputs_;
    return {.scratch = BiasScratch() + ReducedImage() + Accumulators(),
            .source = in_place ? 0 : Image(c_.source, Padded(inputs_)),
            .weight = Weight(Padded(outputs_), in_place ? read_inputs : Padded(inputs_)),
            .result = Image(c_.result, Padded(outputs_))};
  }

  // Nothing is copied but the weight. Groups that are no vectors become blocks of their own.
  Buffers InPlace() const {
    switch (kind_) {
      case Kind::kDepthwise:
        return {.weight = Weight(Padded(outputs_), 1)};
      case Kind::kGrouped:
        return {.weight = Weight(outputs_, inputs_)};
      case Kind::kDirect: {
        const std::int64_t inputs = narrow() ? RoundUp(inputs_, kPair) : inputs_;
        return {.scratch = kMatrixList, .weight = Weight(Padded(outputs_), inputs)};
      }
      case Kind::kGemm: {
        const Count outputs = Count(c_.groups) * Padded(outputs_ / c_.groups);
        const bool wide = inputs_ >= target_.channel_block;
        return {.scratch = wide ? kMatrixList : 0,
                .weight = Bytes(outputs * (wide ? inputs_ : Padded(inputs_)) * kernel_)};
      }
    }
    __builtin_unreachable();
  }

  // A bias that does not fill its last block; depthwise bfloat16 kernels want it in float32.
  std::int64_t BiasScratch() const {
    if (!c_.has_bias) return 0;
    if (narrow() && kind_ == Kind::kDepthwise) return Entry(Floats(Padded(outputs_)));
    return outputs_ % target_.channel_block == 0 ? 0 : Entry(Bytes(Padded(outputs_)));
  }

  // A strided 1 x 1 kernel first drops the pixels it skips, if its strides divide the image.
  std::int64_t ReducedImage() const {
    if (!pointwise_ || std::ranges::max(c_.stride) == 1) return 0;
    for (std::size_t i = 0; i < c_.stride.size(); ++i) {
      if (Count(c_.result[i + 2]) * c_.stride[i] != Count(c_.source[i + 2])) return 0;
    }
    return Entry(Bytes(pixels_ * Padded(inputs_)));
  }

  // 1 x 1 kernels of bfloat16 add up one image in float32.
  std::int64_t Accumulators() const {
    return narrow() && pointwise_ ? Entry(Floats(pixels_ * Padded(outputs_))) : 0;
  }

  // Columns of one group and image; bfloat16 adds its sums in float32.
  std::int64_t GemmScratch() const {
    const std::int64_t columns = Entry(Bytes(pixels_ * inputs_ * kernel_));
    return narrow() ? columns + Entry(Floats(pixels_ * (outputs_ / c_.groups))) : columns;
  }

  const Convolution& c_;
  const Target& target_;
  std::int64_t outputs_, inputs_;
  Count kernel_, pixels_;
  bool pointwise_;
  Kind kind_;
};

}  // namespace

std::int64_t Padded(std::int64_t channels, const Target& target) {
  return RoundUp(channels, target.channel_block);
}

Buffers ForwardBuffers(const Convolution& convolution, const Target& target) {
  return Plan(convolution, target).Forward();
}

}  // namespace steelyard::onednn
