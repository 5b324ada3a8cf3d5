// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels work on blocks of channels as the forward ones do (onednn.cc). Strided ones
// leave the image's gradient with its channels last; what no kernel takes is a product with columns
// of gathered windows.

#include "ops/rules/onednn_backward.h"

#include <algorithm>

#include "ops/onednn/direct.h"
#include "ops/onednn/problem.h"
#include "ops/onednn/scratch.h"
#include "ops/onednn/transposed.h"
#include "ops/rules/allocations.h"

namespace steelyard::onednn {
namespace {

using Kind = DirectKernel::Kind;

// The block of kernels of processors without AVX-512, which take more problems of few channels.
constexpr std::int64_t kSmallBlock = 8;
// Weights wider than this are differentiated by columns where few channels are read in place
// (measured: 14 is not, 16 is); depthwise ones wider than that are, too.
constexpr std::int64_t kWidestPlain = 14;
constexpr std::int64_t kWidestDepthwise = 3;
// What kernels of channels-last images keep (measured: whatever the shape).
constexpr std::int64_t kMatrixList = 8344;
// The scratch of strided kernels lies at pages.
constexpr std::int64_t kPage = 4096;

bool IsDilated(const Problem& p) {
  return p.depth.dilation != 1 || p.height.dilation != 1 || p.width.dilation != 1;
}
bool IsStrided(const Problem& p) {
  return p.depth.stride != 1 || p.height.stride != 1 || p.width.stride != 1;
}
std::int64_t Widest(const Problem& p) {
  return std::max({p.depth.kernel, p.height.kernel, p.width.kernel});
}

bool IsPadded(const Problem& p) {
  return p.depth.before != 0 || p.height.before != 0 || p.width.before != 0;
}

class Plan {
 public:
  Plan(const Problem& p, const Target& target)
      : p_(p), target_(target), direct_(ChooseDirect(p, target)) {}

  ImageGradientBuffers OfImage() const {
    const Buffers back = BackwardBuffers(p_, Use::kGradient, target_);
    if (!p_.channels_last) {
      return {.given = back.source,
              .weight = back.weight,
              .image = back.result,
              .scratch = back.scratch,
              .reordered = back.result_last};
    }
    if (p_.groups > 1) return {.weight = InVectors() ? OwnWeight() : BlockPerGroup()};
    const bool strided = IsStrided(p_) && !IsDilated(p_);
    return {.weight = back.result_last ? back.weight : Bytes(Weight(p_.outputs, MatrixInputs())),
            .scratch = strided ? back.scratch : kMatrixList};
  }

  WeightGradientBuffers OfWeight() const {
    WeightGradientBuffers out{.bias = p_.has_bias ? Bytes(Count(p_.groups) * p_.outputs) : 0};
    if (p_.channels_last) {
      FillInPlace(out);
    } else if (ByColumns()) {
      out.weight = Bytes(p_.WeightElements());
      constexpr std::int64_t kAccumulators = 4;
      out.scratch = Columns(kAccumulators);
    } else {
      FillInBlocks(out);
    }
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
  Count Pixels() const { return Count(p_.depth.out) * p_.height.out * p_.width.out; }
  bool Pointwise() const { return direct_ && direct_->kind == Kind::kPointwise; }

  // Groups that only the small kernel takes forward.
  bool FewPerGroup() const { return p_.groups > 1 && direct_->kind == Kind::kSmallVector; }

  // --- The image's gradient, with its channels last ---------------------------------------------

  // Input channels of the weight. oneDNN estimates which block of 16 to 64 is fastest; here are the
  // outcomes that were measured: 48 for short rows of many channels and where it fits.
  std::int64_t MatrixInputs() const {
    constexpr std::int64_t kShortRow = 8, kLongRow = 16;
    const std::int64_t block = target_.channel_block, i = p_.inputs;
    const std::int64_t threes = RoundUp(i, 3 * block);
    if (i <= block) return block;
    const bool pointwise = p_.pointwise() && !p_.LeavesImage();
    if (pointwise && p_.width.out < kShortRow && i > 4 * block && threes - i <= i / 25) {
      return threes;
    }
    if ((pointwise || !IsStrided(p_) || p_.width.out >= kLongRow) && threes == i) return i;
    return RoundUp(i, 2 * block);
  }

  // --- The weight's gradient --------------------------------------------------------------------

  bool ByColumns() const {
    if (!direct_ || FewPerGroup()) return true;
    if (p_.narrow()) return false;
    if (p_.depthwise()) return Widest(p_) > kWidestDepthwise || SkipsPixels();
    if (p_.groups > 1 && direct_->channel_block < kSmallBlock) return true;
    const bool small = WeightBlock() == kSmallBlock;
    if (p_.rank == 5 && (small ? IsPadded(p_) : IsPaddedWide())) return true;
    if (Pointwise()) return false;
    if (IsDilated(p_) && (IsStrided(p_) || small)) return true;
    if ((IsDilated(p_) || small) && ExceedsImage()) return true;
    return (ReadsPlain() || small) && Widest(p_) > kWidestPlain;
  }

  bool AnyAxis(bool (*holds)(const Axis& a)) const {
    return holds(p_.depth) || holds(p_.height) || holds(p_.width);
  }
  bool SkipsPixels() const {
    return AnyAxis([](const Axis& a) { return a.stride > a.kernel; });
  }
  bool IsPaddedWide() const {
    return AnyAxis([](const Axis& a) { return a.before > a.extent() / 2; });
  }
  bool ExceedsImage() const {
    return AnyAxis([](const Axis& a) { return a.extent() > a.in; });
  }

  // Up to three channels, as of coloured images, are read as they are.
  bool ReadsPlain() const {
    constexpr std::int64_t kColours = 3;
    return p_.groups == 1 && p_.inputs <= kColours && !Pointwise();
  }

  std::int64_t WeightBlock() const {
    const bool few = p_.groups == 1 && p_.inputs < target_.channel_block;
    return few && !ReadsPlain() && !Pointwise() ? kSmallBlock : direct_->channel_block;
  }

  void FillInBlocks(WeightGradientBuffers& out) const {
    const std::int64_t block = WeightBlock();
    if (p_.depthwise()) {
      const std::int64_t channels = RoundUp(p_.groups, block);
      out.given = Bytes(Image(false, channels));
      out.source = Bytes(Image(true, channels));
      out.weight = Bytes(Count(channels) * p_.kernel());
    } else {
      const std::int64_t outputs = RoundUp(p_.outputs, block), inputs = RoundUp(p_.inputs, block);
      out.given = Bytes(Image(false, p_.groups * outputs));
      out.source = ReadsPlain() ? 0 : Bytes(Image(true, p_.groups * inputs));
      out.weight = Bytes(Weight(outputs, ReadsPlain() ? p_.inputs : inputs));
    }
    out.scratch = p_.narrow() ? out.weight * 2 : BlockScratch(block);
  }

  // Of as many channels a strided 1 x 1 kernel drops the pixels at a time.
  static std::int64_t ReducedChannels(std::int64_t inputs) {
    constexpr std::int64_t kMost = 128;
    return std::min(inputs, kMost);
  }

  // A bias that does not fill its last block, and the pixels a strided 1 x 1 kernel needs.
  std::int64_t BlockScratch(std::int64_t block) const {
    Scratch scratch;
    if (p_.has_bias && !p_.depthwise() && p_.outputs % block != 0) {
      scratch.Add(Count(RoundUp(p_.outputs, block)) * 4);
    }
    if (direct_->drops_pixels) {
      scratch.Add(Pixels() * ReducedChannels(RoundUp(p_.inputs, block)) * 4);
    }
    return allocations::Bytes(scratch.total(), DType::kUInt8);
  }

  // Nothing is copied but the weight. Large kernels, and groups that are no vectors, have blocks of
  // their own for every group.
  void FillInPlace(WeightGradientBuffers& out) const {
    const std::int64_t block = target_.channel_block;
    const bool large = Widest(p_) > kWidestDepthwise || !InVectors();
    const std::int64_t outputs = RoundUp(p_.outputs, block);
    if (p_.groups == 1) {
      const bool plain = p_.inputs < block && !Pointwise();
      out.weight = Bytes(Weight(outputs, plain ? p_.inputs : RoundUp(p_.inputs, block)));
    } else if (large) {
      out.weight = BlockPerGroup();
    } else {
      out.weight = OwnWeight();
    }
    Scratch scratch;
    const std::int64_t channels = large ? p_.outputs : p_.groups * p_.outputs;
    if (p_.has_bias && channels % block != 0) {
      scratch.Add(Count(RoundUp(channels, block)) * (large ? p_.groups : 1) * 4);
    }
    if (direct_ && direct_->drops_pixels) scratch.Add(Pixels() * ReducedChannels(p_.inputs) * 4);
    out.scratch = p_.narrow() ? out.weight * 2 : allocations::Bytes(scratch.total(), DType::kUInt8);
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

  // A 1 x 1 kernel that touches every pixel once needs no windows.
  bool Gathers() const {
    const auto same = [](const Axis& a) { return a.in == a.out && a.stride == 1; };
    return !(p_.pointwise() && same(p_.depth) && same(p_.height) && same(p_.width));
  }

  // The windows of one image and group, and so many times the weight.
  std::int64_t Columns(std::int64_t weights) const {
    const Count window = Count(p_.inputs) * p_.kernel();
    Scratch scratch;
    if (Gathers()) scratch.Add(window * p_.height.out * p_.width.out * 4 * target_.threads);
    scratch.Add(p_.WeightElements() * weights * 4);
    return allocations::Bytes(scratch.total(), DType::kUInt8);
  }

  const Problem& p_;
  const Target& target_;
  std::optional<DirectKernel> direct_;
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
