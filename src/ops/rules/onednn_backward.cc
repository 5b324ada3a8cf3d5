// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels work on blocks of channels as the forward ones do (onednn.cc). Strided ones
// leave the image's gradient with its channels last; what no kernel takes is a product with columns
// of gathered windows.

#include "ops/rules/onednn_backward.h"

#include <algorithm>

#include "ops/onednn/blocks.h"
#include "ops/onednn/columns.h"
#include "ops/onednn/problem.h"
#include "ops/onednn/scratch.h"
#include "ops/onednn/transposed.h"
#include "ops/onednn/weight_gradient.h"
#include "ops/rules/allocations.h"

namespace steelyard::onednn {
namespace {

bool IsDilated(const Problem& p) {
  return p.depth.dilation != 1 || p.height.dilation != 1 || p.width.dilation != 1;
}
bool IsStrided(const Problem& p) {
  return p.depth.stride != 1 || p.height.stride != 1 || p.width.stride != 1;
}
bool PaddedByHalf(const Axis& a) { return std::max(a.before, a.after()) <= a.extent() / 2; }

class Plan {
 public:
  Plan(const Problem& p, const Target& target) : p_(p), target_(target) {}

  ImageGradientBuffers OfImage() const {
    if (p_.IsInnerProduct()) return ImageOfProduct();
    const Buffers back = BackwardBuffers(p_, Use::kGradient, target_);
    if (!p_.channels_last) {
      return {.given = back.source,
              .weight = back.weight,
              .image = back.result,
              .scratch = back.scratch,
              .reordered = back.result_last,
              .estimated = back.estimated};
    }
    const bool strided = IsStrided(p_) && !IsDilated(p_);
    const bool estimated = LastIsEstimated() || (strided && back.estimated);
    if (p_.groups > 1) {
      return {.weight = InVectors() ? OwnWeight() : BlockPerGroup(), .estimated = estimated};
    }
    return {.weight = back.result_last ? back.weight : Bytes(Weight(p_.outputs, MatrixInputs())),
            .scratch = strided ? back.scratch : MatrixList(),
            .estimated = estimated};
  }

  WeightGradientBuffers OfWeight() const {
    WeightGradientBuffers out{.bias = p_.has_bias ? Bytes(Count(p_.groups) * p_.outputs) : 0};
    if (p_.IsInnerProduct()) return WeightOfProduct(out);
    if (const auto kernel = ChooseWeightKernel(p_)) {
      FillInBlocks(*kernel, out);
      // Threads may add up in buffers of their own.
      out.estimated = target_.threads > 1;
      return out;
    }
    out.weight = Bytes(p_.WeightElements());
    const auto columns = WeightColumnScratch(p_, target_);
    out.plain = p_.channels_last && columns && p_.inputs * p_.kernel() != 1;
    out.scratch = columns ? allocations::Bytes(*columns, DType::kUInt8) : 0;
    out.estimated = !columns;
    return out;
  }

 private:
  std::int64_t Bytes(Count elements) const { return allocations::Bytes(elements, p_.dtype); }
  Count Image(bool source, std::int64_t channels) const {
    const auto pixels = [&](const Axis& a) { return source ? a.in : a.out; };
    return Count(p_.batch) * channels * pixels(p_.depth) * pixels(p_.height) * pixels(p_.width);
  }
  Count Weight(std::int64_t outputs, std::int64_t inputs) const {
    return Count(p_.groups) * outputs * inputs * p_.kernel();
  }

  // --- Products of matrices, with the channels last; their scratch is not known -----------------

  ImageGradientBuffers ImageOfProduct() const {
    if (p_.channels_last) return {.estimated = true};
    return {.weight = Bytes(p_.WeightElements()),
            .image = Bytes(p_.SourceElements()),
            .reordered = true,
            .estimated = true};
  }
  WeightGradientBuffers WeightOfProduct(WeightGradientBuffers out) const {
    out.source = p_.channels_last ? 0 : Bytes(p_.SourceElements());
    out.weight = Bytes(p_.WeightElements());
    out.plain = !p_.channels_last;
    out.estimated = true;
    return out;
  }

  // --- The image's gradient, with its channels last ---------------------------------------------

  // Pairs of matrices, one for each element of the kernel.
  std::int64_t MatrixList() const {
    constexpr std::int64_t kPage = 4096, kGap = 128;
    return PairListBytes(p_.large ? 1 : p_.kernel()) * target_.threads + kPage + kGap;
  }

  // Other kernels take some of these, and some copy the gradient.
  bool LastIsEstimated() const {
    const bool grouped = p_.groups > 1 && !(p_.depthwise() && p_.rank == 4);
    if (p_.narrow() || p_.large || IsDilated(p_) || grouped) return true;
    return !PaddedByHalf(p_.depth) || !PaddedByHalf(p_.height) || !PaddedByHalf(p_.width);
  }

  // Input channels of the weight, in whole blocks.
  std::int64_t MatrixInputs() const {
    const bool pointwise = p_.pointwise() && !p_.LeavesImage();
    const auto pixels = static_cast<double>(p_.depth.out * p_.height.out * p_.width.out);
    return RoundUp(p_.inputs, ProductBlock({.channels = p_.inputs,
                                            .vector = target_.channel_block,
                                            .element_bytes = p_.narrow() ? 2 : 4,
                                            .pointwise = pointwise,
                                            .pixels = pointwise ? pixels : pixels / p_.strides()}));
  }

  // --- The weight's gradient --------------------------------------------------------------------

  void FillInBlocks(const WeightKernel& kernel, WeightGradientBuffers& out) const {
    const std::int64_t block = kernel.block;
    if (kernel.kind == WeightKernel::Kind::kDepthwise) {
      const std::int64_t channels = RoundUp(p_.groups, block);
      if (!p_.channels_last) {
        out.given = Bytes(Image(false, channels));
        out.source = Bytes(Image(true, channels));
      }
      out.weight = Bytes(Count(channels) * p_.kernel());
    } else {
      const std::int64_t outputs = RoundUp(p_.outputs, block);
      const std::int64_t inputs = kernel.reads_plain ? p_.inputs : RoundUp(p_.inputs, block);
      if (!p_.channels_last) {
        out.given = Bytes(Image(false, p_.groups * outputs));
        out.source = kernel.reads_plain ? 0 : Bytes(Image(true, p_.groups * inputs));
      }
      out.weight = Bytes(Weight(outputs, inputs));
    }
    out.scratch = allocations::Bytes(WeightScratch(kernel, p_, target_), DType::kUInt8);
  }

  // --- Both -------------------------------------------------------------------------------------

  // Of groups, not filled up unless each is one channel.
  std::int64_t OwnWeight() const {
    return p_.depthwise() ? Bytes(Count(RoundUp(p_.groups, target_.channel_block)) * p_.kernel())
                          : Bytes(p_.WeightElements());
  }

  std::int64_t BlockPerGroup() const {
    const std::int64_t block = target_.channel_block;
    return Bytes(Weight(RoundUp(p_.outputs, block), RoundUp(p_.inputs, block)));
  }
  bool InVectors() const {
    constexpr std::int64_t kVector = 4;
    return p_.depthwise() || (p_.inputs % kVector == 0 && p_.outputs % kVector == 0);
  }

  const Problem& p_;
  const Target& target_;
};

}  // namespace

ImageGradientBuffers BuffersOfImageGradient(const Convolution& convolution, const Target& target) {
  const Problem problem = ProblemOf(convolution);
  return Plan(problem, target).OfImage();
}

WeightGradientBuffers BuffersOfWeightGradient(const Convolution& convolution,
                                              const Target& target) {
  const Problem problem = ProblemOf(convolution);
  return Plan(problem, target).OfWeight();
}

}  // namespace steelyard::onednn
