// SPDX-License-Identifier: Apache-2.0
//
// Kernels work on blocks of channels, so images and weights are copied into layouts whose channels
// are rounded up to whole blocks. oneDNN takes the first kernel of its list that does not refuse
// (src/cpu/cpu_convolution_list.cpp); onednn/ has one file for each kind.

#include "ops/rules/onednn.h"

#include <algorithm>

#include "ops/onednn/blocks.h"
#include "ops/onednn/columns.h"
#include "ops/onednn/direct.h"
#include "ops/onednn/pointwise.h"
#include "ops/onednn/problem.h"
#include "ops/onednn/scratch.h"
#include "ops/onednn/transposed.h"
#include "ops/rules/allocations.h"
#include "ops/rules/work.h"

namespace steelyard::onednn {
namespace {

// bfloat16 weights hold pairs of channels.
constexpr std::int64_t kPair = 2;

// Row-major images: what the chosen kernel copies.
class Plan {
 public:
  Plan(const Problem& problem, const Target& target) : p_(problem), target_(target) {}

  Buffers Forward() const {
    if (p_.IsInnerProduct()) return AsProduct();
    if (p_.channels_last) return InPlace();
    if (p_.rank == 5 && p_.depthwise() && !p_.large && !Dilated()) return ByPixel();
    if (const auto kernel = ChooseDirect(p_, target_)) return InBlocks(*kernel);
    if (const auto scratch = ColumnScratch(p_, target_)) {
      return {.scratch = allocations::Bytes(*scratch, DType::kUInt8),
              .result = Bytes(p_.ResultElements())};
    }
    return Reference();
  }

 private:
  bool Dilated() const {
    return p_.depth.dilation != 1 || p_.height.dilation != 1 || p_.width.dilation != 1;
  }
  std::int64_t Bytes(Count elements) const { return allocations::Bytes(elements, p_.dtype); }
  std::int64_t Image(bool source, std::int64_t channels) const {
    const auto pixels = [&](const Axis& a) { return source ? a.in : a.out; };
    return Bytes(Count(p_.batch) * channels * pixels(p_.depth) * pixels(p_.height) *
                 pixels(p_.width));
  }
  Count Weight(std::int64_t outputs, std::int64_t inputs) const {
    return Count(p_.groups) * outputs * inputs * p_.kernel();
  }

  Buffers InBlocks(const DirectKernel& kernel) const {
    const std::int64_t block = kernel.channel_block;
    if (kernel.kind == DirectKernel::Kind::kDepthwise) {
      const std::int64_t channels = RoundUp(p_.groups, block);
      return {.scratch = ScratchOf(kernel),
              .source = Image(true, channels),
              .weight = Bytes(Count(channels) * p_.kernel()),
              .result = Image(false, channels)};
    }
    const std::int64_t outputs = RoundUp(p_.outputs, block), inputs = RoundUp(p_.inputs, block);
    std::int64_t read = kernel.reads_plain ? p_.inputs : inputs;
    if (p_.narrow()) read = RoundUp(read, kPair);
    return {.scratch = ScratchOf(kernel),
            .source = kernel.reads_plain ? 0 : Image(true, p_.groups * inputs),
            .weight = Bytes(Weight(outputs, read)),
            .result = Image(false, p_.groups * outputs)};
  }

  std::int64_t ScratchOf(const DirectKernel& kernel) const {
    const bool depthwise = kernel.kind == DirectKernel::Kind::kDepthwise;
    const std::int64_t channels = depthwise ? p_.groups : p_.outputs;
    const std::int64_t padded = RoundUp(channels, kernel.channel_block);
    const std::int64_t width = p_.narrow() ? 2 : 4;
    const Count pixels = Count(p_.depth.out) * p_.height.out * p_.width.out;
    Scratch scratch;
    // A bias that does not fill its last block; depthwise bfloat16 kernels want it in float32.
    if (p_.has_bias && depthwise && p_.narrow()) {
      scratch.Add(Count(padded) * 4);
    } else if (p_.has_bias && padded != channels) {
      scratch.Add(Count(padded) * width);
    }
    std::int64_t threads = target_.threads;
    if (kernel.kind == DirectKernel::Kind::kPointwise && p_.narrow()) {
      const PointwiseSums sums = SumsOf(p_, kernel.channel_block, target_);
      scratch.Add(sums.bytes);
      threads = sums.threads;
    }
    if (kernel.drops_pixels) {
      scratch.Add(pixels * RoundUp(p_.inputs, kernel.channel_block) * width * threads);
    }
    return allocations::Bytes(scratch.total(), DType::kUInt8);
  }

  // Depthwise kernels of volumes work pixel by pixel, with the channels last.
  Buffers ByPixel() const {
    return {.source = MovedSource(),
            .weight = Bytes(Count(RoundUp(p_.groups, target_.channel_block)) * p_.kernel()),
            .result = Bytes(p_.ResultElements()),
            .result_last = MovesResult()};
  }

  // The plain loops that take whatever nothing else takes.
  Buffers Reference() const {
    return {.source = MovedSource(),
            .result = Bytes(p_.ResultElements()),
            .result_last = MovesResult()};
  }
  // A product of matrices, with the channels last; its scratch is not known.
  Buffers AsProduct() const {
    Buffers out{.estimated = true};
    if (p_.channels_last) return out;
    out.source = MovedSource();
    out.weight = Bytes(p_.WeightElements());
    out.result = Bytes(p_.ResultElements());
    return out;
  }
  // With a single channel or pixel, both orders are one.
  std::int64_t MovedSource() const {
    const bool same =
        p_.groups * p_.inputs == 1 || (p_.depth.in == 1 && p_.height.in == 1 && p_.width.in == 1);
    return same ? 0 : Bytes(p_.SourceElements());
  }
  bool MovesResult() const {
    return p_.groups * p_.outputs != 1 &&
           (p_.depth.out != 1 || p_.height.out != 1 || p_.width.out != 1);
  }

  // Nothing is copied but the weight. Kernels of one group or of wide ones take batches of
  // matrices from a list (brgconv); narrow groups are vectors, or become blocks of their own.
  Buffers InPlace() const {
    const std::int64_t block = target_.channel_block;
    if (p_.depthwise()) {
      return {.weight = Bytes(Count(RoundUp(p_.groups, block)) * p_.kernel()),
              .estimated = p_.narrow() || p_.large || Dilated() || p_.LeavesImage()};
    }
    const std::int64_t inputs = p_.narrow() ? RoundUp(p_.inputs, kPair) : p_.inputs;
    if (p_.groups == 1 || p_.inputs > block) {
      return {.scratch = MatrixListBytes(),
              .weight = Bytes(Weight(RoundUp(p_.outputs, OutputBlock()), inputs)),
              .estimated = BatchesAreEstimated()};
    }
    const std::int64_t vector = SmallVector();
    return {.weight = Bytes(Weight(RoundUp(p_.outputs, vector), RoundUp(p_.inputs, vector))),
            .estimated = p_.narrow() || p_.large || p_.inputs == 1 || !ChooseRow()};
  }

  std::int64_t MatrixListBytes() const {
    constexpr std::int64_t kPage = 4096;
    return PairListBytes(p_.large ? 1 : p_.kernel()) * target_.threads + kPage;
  }

  // Output channels of a batch of matrices.
  std::int64_t OutputBlock() const {
    if (p_.narrow()) return target_.channel_block;
    const bool pointwise = p_.pointwise() && !Padded();
    return ProductBlock({.channels = p_.outputs,
                         .vector = target_.channel_block,
                         .pointwise = pointwise,
                         .pixels = Pixels(!pointwise) / p_.strides()});
  }
  bool Padded() const { return p_.depth.before > 0 || p_.height.before > 0 || p_.width.before > 0; }
  double Pixels(bool source) const {
    const auto pixels = [&](const Axis& a) { return source ? a.in : a.out; };
    return static_cast<double>(pixels(p_.depth)) * static_cast<double>(pixels(p_.height)) *
           static_cast<double>(pixels(p_.width));
  }

  // Where a single input channel or column is gathered first, or an estimate of speed decides.
  bool BatchesAreEstimated() const {
    constexpr double kLargeWeight = 1 << 20, kFewPixels = 256;
    const std::int64_t blocks = DivideUp(p_.outputs, target_.channel_block);
    const double weight = 4.0 * static_cast<double>(p_.inputs) * static_cast<double>(p_.kernel()) *
                          static_cast<double>(blocks * target_.channel_block);
    const bool gathers = (p_.groups == 1 && p_.inputs == 1 && !p_.pointwise()) ||
                         (!p_.pointwise() && p_.width.kernel == 1 && p_.width.out == 1);
    const bool odd = blocks > 1 && blocks % 2 != 0;
    return p_.narrow() || p_.large || gathers ||
           (odd && weight > kLargeWeight && Pixels(false) <= kFewPixels);
  }

  // Channels of narrow groups are whole vectors of 8 or 4, if not of a block.
  std::int64_t SmallVector() const {
    const std::int64_t block = target_.channel_block;
    if (p_.inputs >= block || p_.outputs >= block) return block;
    for (std::int64_t vector : {block / 2, block / 4}) {
      if (p_.inputs % vector == 0 && p_.outputs % vector == 0) return vector;
    }
    return block;
  }
  // Whether rows of registers hold the padding of narrow groups.
  bool ChooseRow() const {
    constexpr std::int64_t kLeastRow = 10;
    return !p_.LeavesImage() && p_.width.before <= std::min(kLeastRow, p_.width.out) &&
           p_.width.kernel <= kLeastRow;
  }

  const Problem& p_;
  const Target& target_;
};

constexpr std::int64_t kMostNumber = (std::int64_t{1} << 31) - 1;

bool IsLarge(const Axis& a) {
  return std::max({a.in, a.out, a.kernel, a.stride, a.dilation, a.before}) > kMostNumber;
}
bool IsLarge(Count elements) { return elements.overflowed() || elements.value() > kMostNumber; }

}  // namespace

Problem ProblemOf(const Convolution& c) {
  Problem p;
  p.batch = c.source[0];
  p.groups = c.groups;
  p.inputs = c.weight[1];
  p.outputs = c.weight[0] / c.groups;
  p.rank = static_cast<int>(c.source.size());
  p.dtype = c.dtype;
  p.has_bias = c.has_bias;
  p.channels_last = c.channels_last;
  Axis* const axes[] = {&p.width, &p.height, &p.depth};
  const std::size_t n = c.stride.size();
  for (std::size_t i = 0; i < n; ++i) {
    *axes[n - 1 - i] = {.in = c.source[i + 2],
                        .out = c.result[i + 2],
                        .kernel = c.weight[i + 2],
                        .stride = c.stride[i],
                        .dilation = c.dilation[i],
                        .before = c.padding[i]};
  }
  const Count kernel = Count(p.depth.kernel) * p.height.kernel * p.width.kernel;
  p.large = IsLarge(p.depth) || IsLarge(p.height) || IsLarge(p.width) || IsLarge(kernel) ||
            IsLarge(work::Elements(c.source)) || IsLarge(work::Elements(c.weight)) ||
            IsLarge(work::Elements(c.result));
  return p;
}

std::int64_t Padded(std::int64_t channels, const Target& target) {
  return RoundUp(channels, target.channel_block);
}

Buffers ForwardBuffers(const Convolution& convolution, const Target& target) {
  const Problem problem = ProblemOf(convolution);
  return Plan(problem, target).Forward();
}

Buffers TransposedBuffers(const Convolution& convolution, const Target& target) {
  return BackwardBuffers(ProblemOf(convolution), Use::kTransposed, target);
}

}  // namespace steelyard::onednn
