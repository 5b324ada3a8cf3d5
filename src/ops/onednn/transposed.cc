// SPDX-License-Identifier: Apache-2.0
//
// The strided kernel keeps, for each thread, a list of pairs of matrices and a copy of one padded
// image (oneDNN, src/cpu/x64/jit_brgemm_conv_bwd_utils.cpp); what it refuses goes to the kernels of
// the way back and adds its bias from a copy of the result (src/cpu/ref_deconvolution.cpp).

#include "ops/onednn/transposed.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "ops/onednn/blocks.h"
#include "ops/onednn/columns.h"
#include "ops/onednn/direct.h"
#include "ops/onednn/pointwise.h"
#include "ops/onednn/scratch.h"
#include "ops/rules/allocations.h"

namespace steelyard::onednn {
namespace {

class Transposed {
 public:
  Transposed(const Problem& p, Use use, const Target& target)
      : p_(p), use_(use), target_(target), width_(p.narrow() ? 2 : 4) {}

  Buffers Plan() const {
    const auto kernel = ChooseBackward(p_, target_);
    // A gradient in few channels per group is left to them.
    const bool left = use_ == Use::kGradient && Narrower() && kernel;
    if (IsStrided() && !p_.large && !Dilated() && !HasSmallGroups() && !left) return Strided();
    if (kernel) return InBlocks(*kernel);
    if (const auto columns = BackwardColumnScratch(p_, target_)) {
      return {.scratch = Nested(*columns, p_.SourceElements()),
              .result = Bytes(p_.SourceElements()),
              .estimated = p_.channels_last || MayFitSmallVectors()};
    }
    return {.result = Bytes(p_.SourceElements()), .estimated = true};
  }

 private:
  static constexpr std::int64_t kPage = 4096;
  static constexpr std::int64_t kPair = 2;
  static constexpr std::int64_t kNarrowVector = 8, kKnownNarrow = 56;
  static constexpr std::int64_t kLargeWeight = std::int64_t{1} << 20, kFewPixels = 64,
                                kVeryFewPixels = 4;
  static constexpr std::int64_t kLongRow = 64, kManyTaps = 25;

  bool IsStrided() const {
    return p_.depth.stride != 1 || p_.height.stride != 1 || p_.width.stride != 1;
  }
  bool Dilated() const {
    return p_.depth.dilation != 1 || p_.height.dilation != 1 || p_.width.dilation != 1;
  }
  // Groups of few channels go another way, unless that takes vectors only; a narrower kernel of
  // float32 has a smaller idea of few.
  bool HasSmallGroups() const {
    const std::int64_t few = target_.channel_block / (p_.narrow() ? 1 : 2);
    const bool vectors = p_.inputs % 4 == 0 && p_.outputs % 4 == 0;
    return p_.groups > 1 && p_.outputs <= few && (!p_.narrow() || vectors);
  }
  // A narrower kernel takes some of these.
  bool MayFitSmallVectors() const {
    const bool eights = p_.inputs % kNarrowVector == 0 && p_.outputs % kNarrowVector == 0;
    return !p_.narrow() && eights && (p_.groups > 1 || Dilated());
  }
  std::int64_t Bytes(Count elements) const { return allocations::Bytes(elements, p_.dtype); }

  // --- Strided, channels last -------------------------------------------------------------------

  Buffers Strided() const {
    const std::int64_t outputs = p_.narrow() ? RoundUp(p_.outputs, kPair) : p_.outputs;
    const std::int64_t inputs = RoundUp(p_.inputs, InputBlock());
    return {.scratch = StridedScratch(),
            .source = SameOrder(p_.groups * p_.outputs, false) ? 0 : Bytes(p_.ResultElements()),
            .weight = Bytes(Count(p_.groups) * outputs * inputs * p_.kernel()),
            .result = Bytes(p_.SourceElements()),
            .result_last = !SameOrder(p_.groups * p_.inputs, true),
            .estimated = StridedIsEstimated()};
  }

  // Where oneDNN's estimate of its own speed decides between steps of different sizes (measured:
  // these are the cases in which the rules here sometimes miss).
  bool StridedIsEstimated() const {
    const std::int64_t whole = RoundUp(p_.inputs, target_.channel_block);
    const bool odd_blocks = whole > target_.channel_block && whole / target_.channel_block % 2 != 0;
    const bool large_weight = p_.outputs * p_.kernel() * whole * width_ > kLargeWeight;
    const std::int64_t pixels = p_.depth.out * p_.height.out * p_.width.out;
    const bool few_pixels = pixels <= kFewPixels;
    const bool many_pairs =
        PairListBytes(p_.kernel()) > PairListBytes(1) && p_.width.kernel != p_.kernel();
    const bool long_row =
        p_.width.in % p_.width.stride != 0 && (p_.width.in > kLongRow || target_.threads > 1);
    return p_.narrow() || (odd_blocks && large_weight && few_pixels) || many_pairs || long_row ||
           (p_.inputs <= 2 && (p_.kernel() >= kManyTaps || pixels <= kVeryFewPixels)) ||
           MayTakeThree() || (Narrower() && RoundUp(p_.inputs, kNarrowVector) > kKnownNarrow);
  }

  // The kernel of processors without AVX-512.
  bool Narrower() const {
    return !p_.narrow() && p_.groups > 1 && p_.outputs <= target_.channel_block;
  }

  // With a single channel or pixel, both orders are one.
  bool SameOrder(std::int64_t channels, bool source) const {
    const auto pixels = [&](const Axis& a) { return source ? a.in : a.out; };
    return channels == 1 ||
           (pixels(p_.depth) == 1 && pixels(p_.height) == 1 && pixels(p_.width) == 1);
  }

  // Channels of the transposed convolution's result that a product takes at a time.
  std::int64_t InputBlock() const {
    if (Narrower()) return NarrowBlock();
    const auto pixels = static_cast<double>(p_.depth.out * p_.height.out * p_.width.out);
    const bool whole_image = Pointwise() && use_ == Use::kGradient;
    return ProductBlock({.channels = p_.inputs,
                         .vector = target_.channel_block,
                         .element_bytes = width_,
                         .pointwise = Pointwise(),
                         .pixels = whole_image ? pixels : pixels / p_.strides()});
  }
  // Whether oneDNN may take three vectors of a kernel of one pixel rather than four. Which it does
  // was measured of the gradient to many channels, in one thread, but for small images (2,141
  // shapes of 512 to 2048 channels, 9 to 1,024 pixels and batches of 2 to 8).
  bool MayTakeThree() const {
    constexpr std::int64_t kManyOutputs = 512, kMostMeasured = 2048;
    constexpr std::int64_t kSmallImage = 64, kLargeImage = 100;
    const std::int64_t four = std::int64_t{4} * target_.channel_block;
    const std::int64_t three = std::int64_t{3} * target_.channel_block;
    const std::int64_t whole = RoundUp(p_.inputs, target_.channel_block);
    if (!Pointwise() || whole % four != 0 || !NearlyFills(p_.inputs, three)) return false;
    const std::int64_t pixels = p_.height.out * p_.width.out;
    const bool measured = use_ == Use::kGradient && target_.threads == 1 && p_.rank == 4 &&
                          p_.groups == 1 && p_.outputs >= kManyOutputs &&
                          std::max(p_.inputs, p_.outputs) <= kMostMeasured &&
                          (pixels < kSmallImage || pixels >= kLargeImage);
    return !measured;
  }
  std::int64_t NarrowBlock() const {
    const std::int64_t vectors = DivideUp(p_.inputs, kNarrowVector);
    if (vectors <= 3) return vectors * kNarrowVector;
    return (vectors % 3 == 0 || vectors == 5 ? 3 : 4) * kNarrowVector;
  }
  bool Pointwise() const {
    const auto inside = [](const Axis& a) { return a.before <= 0 && a.after() <= 0; };
    return p_.pointwise() && inside(p_.depth) && inside(p_.height) && inside(p_.width);
  }

  std::int64_t StridedScratch() const {
    const auto padded = [](const Axis& a) {
      const auto beyond = [&](std::int64_t padding) {
        return std::max<std::int64_t>(0, a.extent() - 1 - padding) / a.stride;
      };
      return a.out + beyond(a.before) + beyond(a.after());
    };
    const Count image = Count(padded(p_.depth)) * padded(p_.height) * padded(p_.width);
    Scratch scratch(kPage);
    scratch.Add(Count(PairListBytes(p_.kernel())) * target_.threads);
    if (p_.narrow()) scratch.Add(Count(InputBlock()) * DivideUp(p_.width.in, p_.width.stride) * 4);
    const bool uneven = p_.width.in % p_.width.stride != 0;
    const std::int64_t outputs = p_.narrow() && uneven ? RoundUp(p_.outputs, kPair) : p_.outputs;
    scratch.Add(Pages(image * p_.groups * outputs) * width_ * target_.threads);
    scratch.Add(Count(kPage) * target_.threads);  // which parts of the image are copied
    if (uneven) {
      const Count row = Count(RoundUp(p_.width.in, p_.width.stride)) * p_.width.stride;
      scratch.Add(Pages(row * p_.groups * p_.inputs) * width_ * target_.threads);
    }
    return Nested(scratch.total(), 0);
  }

  static Count Pages(Count n) { return n.overflowed() ? n : Count(RoundUp(n.value(), kPage)); }
  // --- Everything else --------------------------------------------------------------------------

  // The kernel's own scratch, and a copy of the result where a bias is added to it.
  std::int64_t Nested(Count kernel, Count result) const {
    if (use_ == Use::kGradient) return allocations::Bytes(kernel, DType::kUInt8);
    Scratch scratch;
    scratch.Add(kernel);
    if (p_.has_bias) scratch.Add(result * 4);
    return allocations::Bytes(scratch.total(), DType::kUInt8);
  }

  Buffers InBlocks(const DirectKernel& kernel) const {
    const std::int64_t block = kernel.channel_block;
    const bool depthwise = kernel.kind == DirectKernel::Kind::kDepthwise;
    const auto channels = [&](std::int64_t of_group) {
      return depthwise ? RoundUp(p_.groups, block) : p_.groups * RoundUp(of_group, block);
    };
    const Count weights =
        depthwise ? Count(channels(1))
                  : Count(p_.groups) * RoundUp(p_.outputs, block) * RoundUp(p_.inputs, block);
    const Count source = Pixels(true) * channels(p_.inputs);
    return {.scratch = Nested(BlockScratch(kernel), source),
            .source = Bytes(Pixels(false) * channels(p_.outputs)),
            .weight = Bytes(weights * p_.kernel()),
            .result = Bytes(source),
            .estimated = p_.channels_last || (kernel.drops_pixels && SharesChannels())};
  }
  // Whether a strided 1 x 1 kernel may take the channels part by part.
  bool SharesChannels() const {
    constexpr std::int64_t kSmallImage = 49, kManyChannels = 512;
    const Count pixels = Count(p_.depth.out) * p_.height.out * p_.width.out;
    return target_.threads > 1 || p_.narrow() ||
           (pixels.value() <= kSmallImage && p_.inputs > kManyChannels);
  }
  // The sums of a 1 x 1 kernel of bfloat16; the image as a strided one computes it, without the
  // pixels that it skips.
  Count BlockScratch(const DirectKernel& kernel) const {
    Scratch scratch;
    std::int64_t threads = target_.threads;
    if (kernel.kind == DirectKernel::Kind::kPointwise && p_.narrow()) {
      Problem back = p_;
      std::swap(back.inputs, back.outputs);
      const PointwiseSums sums = SumsOf(back, kernel.channel_block, target_);
      scratch.Add(sums.bytes);
      threads = sums.threads;
    }
    if (kernel.drops_pixels && use_ == Use::kGradient) {
      scratch.Add(Count(p_.depth.out) * p_.height.out * p_.width.out *
                  RoundUp(p_.inputs, kernel.channel_block) * width_ * threads);
    }
    return scratch.total();
  }
  Count Pixels(bool source) const {
    const auto pixels = [&](const Axis& a) { return source ? a.in : a.out; };
    return Count(p_.batch) * pixels(p_.depth) * pixels(p_.height) * pixels(p_.width);
  }

  const Problem& p_;
  Use use_;
  const Target& target_;
  std::int64_t width_;
};

}  // namespace

Buffers BackwardBuffers(const Problem& problem, Use use, const Target& target) {
  return Transposed(problem, use, target).Plan();
}

}  // namespace steelyard::onednn
