// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels work on blocks of channels as the forward ones do; strided ones leave the
// image's gradient with its channels last, and some weights get theirs by a GEMM over columns.

#include "ops/rules/onednn_backward.h"

#include <algorithm>

#include "ops/rules/allocations.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::onednn {
namespace {

// As in the forward pass: after every entry of a scratchpad.
constexpr std::int64_t kScratchGap = 128;
// Weights wider than this are differentiated by GEMM where few channels are read in place
// (measured: 14 is not, 16 is).
constexpr std::int64_t kWidestDirect = 14;
// Depthwise ones wider than this are, too.
constexpr std::int64_t kWidestDepthwise = 3;

class Plan {
 public:
  Plan(const Convolution& c, const Target& target)
      : c_(c),
        target_(target),
        outputs_(c.weight[0]),
        inputs_(c.weight[1]),
        kernel_(work::Elements(window::Spatial(c.weight))),
        pixels_(work::Elements(window::Spatial(c.result))),
        widest_(std::ranges::max(window::Spatial(c.weight))),
        in_place_(c.groups == 1 && inputs_ < target.channel_block),
        strided_(IsStrided()) {}

  ImageGradientBuffers OfImage() const {
    if (c_.channels_last) return {.weight = PaddedWeight()};
    return {.given = Image(c_.result),
            .weight = PaddedWeight(),
            .image = Image(c_.source),
            .reordered = strided_};
  }

  WeightGradientBuffers OfWeight() const {
    WeightGradientBuffers out{.bias = c_.has_bias ? Bytes(outputs_) : 0};
    if (ByGemm()) {
      out.weight = Bytes(work::Elements(c_.weight));
      out.scratch = Bytes(pixels_ * inputs_ * kernel_ + work::Elements(c_.weight) * 4 + 64);
      return out;
    }
    const bool large = c_.channels_last && widest_ > kWidestDepthwise;
    if (!c_.channels_last) {
      out.given = Image(c_.result);
      out.source = in_place_ ? 0 : Image(c_.source);
    }
    out.weight = large ? GroupedWeight() : Weight();
    out.scratch = narrow() ? out.weight * 2 : Scratch(large ? c_.groups : 1);
    return out;
  }

 private:
  // Strided kernels with enough channels come out channels-last.
  bool IsStrided() const {
    if (std::ranges::max(c_.stride) == 1) return false;
    if (c_.groups == 1) return true;
    return narrow() ? inputs_ == 1 : inputs_ > target_.channel_block;
  }
  bool ByGemm() const {
    if (narrow() || c_.channels_last) return false;
    const bool depthwise = c_.groups > 1 && inputs_ == 1;
    return (in_place_ && widest_ > kWidestDirect) || (depthwise && widest_ > kWidestDepthwise);
  }
  bool narrow() const { return c_.dtype != DType::kFloat32; }
  std::int64_t Padded(std::int64_t channels) const { return onednn::Padded(channels, target_); }
  std::int64_t Bytes(Count elements) const { return allocations::Bytes(elements, c_.dtype); }
  std::int64_t Image(std::span<const std::int64_t> sizes) const {
    return Bytes(Count(sizes[0]) * Padded(sizes[1]) * work::Elements(window::Spatial(sizes)));
  }

  std::int64_t Weight(std::int64_t outputs, std::int64_t inputs) const {
    return Bytes(Count(outputs) * inputs * kernel_);
  }
  std::int64_t OwnWeight() const {
    return Weight(inputs_ == 1 ? Padded(outputs_) : outputs_, inputs_);
  }
  std::int64_t Weight() const {
    if (c_.groups > 1) return OwnWeight();
    return Weight(Padded(outputs_), in_place_ ? inputs_ : Padded(inputs_));
  }
  std::int64_t PaddedWeight() const {
    return c_.groups > 1 ? OwnWeight() : Weight(Padded(outputs_), Padded(inputs_));
  }
  std::int64_t GroupedWeight() const {
    if (c_.groups == 1) return Weight();
    return Weight(c_.groups * Padded(outputs_ / c_.groups), Padded(inputs_));
  }

  // A strided 1 x 1 kernel drops the pixels it skips; a bias that does not fill its last block is
  // padded.
  std::int64_t Scratch(std::int64_t groups) const {
    constexpr std::int64_t kReducedChannels = 128;
    Count elements = strided_ && widest_ == 1 ? pixels_ * kReducedChannels : Count(0);
    const std::int64_t each = outputs_ / groups;
    if (c_.has_bias && each % target_.channel_block != 0) elements += Count(Padded(each)) * groups;
    return elements == Count(0) ? 0 : Bytes(elements) + kScratchGap;
  }

  const Convolution& c_;
  const Target& target_;
  std::int64_t outputs_, inputs_;
  Count kernel_, pixels_;
  std::int64_t widest_;
  bool in_place_;  // so few channels that the image is not copied
  bool strided_;
};

}  // namespace

ImageGradientBuffers BuffersOfImageGradient(const Convolution& convolution, const Target& target) {
  return Plan(convolution, target).OfImage();
}

WeightGradientBuffers BuffersOfWeightGradient(const Convolution& convolution,
                                              const Target& target) {
  return Plan(convolution, target).OfWeight();
}

}  // namespace steelyard::onednn
