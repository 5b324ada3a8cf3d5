// SPDX-License-Identifier: Apache-2.0
//
// Kernels are tried in the order of oneDNN's list (src/cpu/cpu_convolution_list.cpp), each by the
// conditions of its init_conf (src/cpu/x64/jit_uni_dw_conv_kernel_utils.cpp,
// jit_avx512_common_conv_kernel.cpp, jit_avx2_conv_kernel_f32.cpp, and for bfloat16
// jit_avx512_core_bf16_conv_kernel.cpp, jit_avx512_core_bf16_1x1_conv_kernel.cpp). Those of
// bfloat16 add up in float32, and pair the pixels of both images in copies of their own.

#include "ops/onednn/weight_gradient.h"

#include <algorithm>
#include <cstdint>

#include "ops/onednn/direct.h"
#include "ops/onednn/scratch.h"

namespace steelyard::onednn {
namespace {

using Kind = WeightKernel::Kind;

constexpr std::int64_t kBlock = 16, kSmallBlock = 8;
constexpr std::int64_t kRegisters = 28;  // pixels of a row that registers hold
constexpr std::int64_t kMostBytes = (std::int64_t{1} << 31) - 1;

std::int64_t Behind(const Axis& a) { return std::max<std::int64_t>(0, a.after()); }
// Whether every pixel of padding belongs to a window with a pixel of the image.
bool Overlaps(const Axis& a) { return a.before < a.extent() && Behind(a) < a.extent(); }
bool PaddedByHalf(const Axis& a) {
  return a.before <= a.extent() / 2 && Behind(a) <= a.extent() / 2;
}
bool IsDilated(const Axis& a) { return a.dilation != 1; }

// Few channels of one group are a case of their own: images with colours.
bool IsFirst(const Problem& p) { return p.groups == 1 && p.inputs < kBlock; }

// Groups that lie in blocks cannot be filled up.
bool FillsBlocks(const Problem& p, std::int64_t block) {
  return p.channels_last || p.groups == 1 || (p.inputs % block == 0 && p.outputs % block == 0);
}

// --- Depthwise ----------------------------------------------------------------------------------

bool TakesDepthwise(const Problem& p) {
  constexpr std::int64_t kWidest = 3;
  if (p.rank != 4 || !p.depthwise()) return false;
  for (const Axis* a : {&p.height, &p.width}) {
    if (IsDilated(*a) || !PaddedByHalf(*a)) return false;
  }
  const auto steps = [&](std::int64_t padding) {
    return padding <= 1 || padding % p.height.stride == 0;
  };
  const std::int64_t rest = (p.height.stride - p.height.before % p.height.stride) % p.height.stride;
  return p.width.kernel <= kWidest && p.width.stride <= p.width.kernel &&
         p.height.in >= p.height.kernel + rest && steps(p.height.before) && steps(Behind(p.height));
}

// --- All others, float32 ------------------------------------------------------------------------

// The images, filled up; both are measured by the pixels of the source.
bool FitsBytes(const Problem& p, std::int64_t block) {
  const auto channels = [&](std::int64_t n) {
    return p.channels_last ? Count(n) : Count(RoundUp(n, block));
  };
  const Count pixels = Count(p.batch) * p.depth.in * p.height.in * p.width.in * 4;
  for (const std::int64_t n : {p.inputs, p.outputs}) {
    const Count bytes = channels(n) * pixels;
    if (bytes.overflowed() || bytes.value() > kMostBytes) return false;
  }
  return true;
}

// A kernel as wide as the image is computed by its columns.
bool IsWholeRow(const Problem& p) {
  constexpr std::int64_t kLeast = 14, kMost = 20;
  const auto plain = [](const Axis& a) {
    return a.stride == 1 && a.dilation == 1 && a.before == 0 && Behind(a) == 0;
  };
  return !p.channels_last && p.rank == 4 && p.width.kernel >= kLeast && p.width.kernel < kMost &&
         p.width.out == 1 && p.width.kernel == p.width.in && plain(p.width) && plain(p.height);
}

bool TakesFloat(const Problem& p) {
  constexpr std::int64_t kWidest = 14, kColours = 3;
  if (p.rank == 5 && IsDilated(p.depth)) return false;
  if (IsDilated(p.height) && (p.height.stride != 1 || p.height.extent() > p.height.in))
    return false;
  if (!Overlaps(p.width) || !PaddedByHalf(p.height) || !Overlaps(p.depth)) return false;
  if (p.depth.before > 0 && p.depth.kernel >= p.depth.in + p.depth.before) return false;
  if (std::max(p.width.before, Behind(p.width)) > kRegisters) return false;
  if (p.width.kernel > kWidest && !IsWholeRow(p)) return false;
  if (IsFirst(p) && !p.channels_last && p.inputs > kColours) return false;
  return FillsBlocks(p, kBlock) && FitsBytes(p, kBlock);
}

// The kernel of processors without AVX-512.
bool ReadsThree(const Problem& p) { return p.groups == 1 && p.inputs == 3; }

bool TakesSmallVector(const Problem& p) {
  constexpr std::int64_t kWidest = 13;
  for (const Axis* a : {&p.depth, &p.height, &p.width}) {
    if (IsDilated(*a) || !Overlaps(*a)) return false;
  }
  if (p.depth.before != 0 || Behind(p.depth) != 0) return false;
  if (p.groups > 1 && (p.inputs == 3 || p.groups * p.inputs == 3)) return false;
  return p.width.kernel <= kWidest && p.height.kernel <= p.height.in &&
         p.depth.kernel <= p.depth.in && FillsBlocks(p, kSmallBlock) && FitsBytes(p, kSmallBlock);
}

// --- All others, bfloat16 -----------------------------------------------------------------------

// Whether the source's pixels are paired in a copy, or read as they lie.
bool CopiesSource(const Problem& p) { return !IsFirst(p) || (p.channels_last && p.inputs != 1); }
// Volumes under kernels of one column are paired in registers.
bool PairsInRegisters(const Problem& p) {
  return !p.channels_last && p.rank == 5 && p.width.kernel == 1 && !IsFirst(p) &&
         p.width.stride == 1 && !IsDilated(p.width);
}

bool TakesNarrow(const Problem& p) {
  constexpr std::int64_t kWidest = 14, kWidestFirst = 24;
  for (const Axis* a : {&p.depth, &p.height, &p.width}) {
    if (IsDilated(*a) && a->stride != 1) return false;
  }
  if (IsDilated(p.height) && p.height.extent() > p.height.in) return false;
  if (IsDilated(p.depth) && (p.depth.before != 0 || Behind(p.depth) != 0)) return false;
  if (!Overlaps(p.width) || !PaddedByHalf(p.height) || !Overlaps(p.depth)) return false;
  const Axis& row = p.width;
  const bool first = IsFirst(p);
  if (first && row.out > kRegisters && (row.before >= kRegisters || row.extent() > row.out))
    return false;
  if (row.kernel > (first ? kWidestFirst : kWidest)) return false;
  const bool in_place = !CopiesSource(p) || PairsInRegisters(p);
  if (in_place && (std::max(row.before, Behind(row)) >= kRegisters || row.extent() > row.in + 1))
    return false;
  if (first) return p.channels_last || p.outputs % kBlock == 0;
  return FillsBlocks(p, kBlock);
}

// --- Scratch ------------------------------------------------------------------------------------

// The blocks of channels that are copied at a time: the fewest that divide all, from `least` on.
std::int64_t BlocksAtATime(std::int64_t all, std::int64_t least) {
  std::int64_t n = std::clamp<std::int64_t>(all, 1, least);
  while (all % n != 0) ++n;
  return n;
}

class WeightBuffers {
 public:
  WeightBuffers(const WeightKernel& kernel, const Problem& p, const Target& target)
      : kernel_(kernel),
        p_(p),
        threads_(target.threads),
        second_cache_(target.second_cache),
        outputs_(RoundUp(p.outputs, kernel.block)),
        inputs_(kernel.reads_plain ? p.inputs : RoundUp(p.inputs, kernel.block)) {}

  Count Bytes() {
    if (kernel_.kind == Kind::kDepthwise) {
      if (p_.narrow()) AddNarrowDepthwise();
    } else if (!p_.narrow()) {
      // A bias that does not fill its last block.
      if (p_.has_bias && p_.outputs != outputs_) scratch_.Add(Count(p_.groups) * outputs_ * 4);
    } else if (kernel_.kind == Kind::kPointwise) {
      AddNarrowPointwise();
    } else {
      AddNarrowDirect();
    }
    if (kernel_.drops_pixels) AddDropped();
    return scratch_.total();
  }

 private:
  static constexpr std::int64_t kNarrow = 2, kFloat = 4;
  // A barrier is a page, at a page.
  static constexpr std::int64_t kBarrier = 4096;
  // Blocks of input and output channels that are copied at a time, if there are as many.
  static constexpr std::int64_t kInputBlocks = 5, kOutputBlocks = 16;

  Count Pixels() const { return Count(p_.depth.out) * p_.height.out * p_.width.out; }
  // The sums of weight and bias.
  void AddSums() {
    const Count bias = p_.has_bias ? Count(p_.groups) * outputs_ : Count(0);
    scratch_.Add((Count(p_.groups) * outputs_ * inputs_ * p_.kernel() + bias) * kFloat);
  }

  void AddNarrowDepthwise() {
    const std::int64_t whole = RoundUp(p_.groups, kernel_.block);
    scratch_.Add(Count(whole) * p_.kernel() * kFloat);
    if (!p_.has_bias) return;
    const std::int64_t channels = p_.channels_last ? p_.groups : whole;
    scratch_.Add(Count(channels) * kFloat);
    if (p_.channels_last) scratch_.Add(Count(channels) * kFloat);
  }

  void AddNarrowPointwise() {
    if (p_.has_bias && p_.outputs != outputs_) {
      scratch_.Add(Count(p_.channels_last ? p_.outputs : outputs_) * kNarrow);
    }
    AddSums();
    // Large images that lie in blocks are paired in registers.
    constexpr std::int64_t kLargeSide = 14, kFewOutputs = 64;
    const bool large = p_.height.out > kLargeSide && p_.width.out > kLargeSide;
    if (large && !p_.channels_last && (p_.rank != 5 || outputs_ <= kFewOutputs)) return;
    const Count pixels = Pixels();
    const Count pairs = pixels.overflowed() ? pixels : Count(RoundUp(pixels.value(), 2));
    const auto copy = [&](std::int64_t channels, std::int64_t least) {
      scratch_.Add(pairs * BlocksAtATime(channels / kBlock, least) * kBlock * kNarrow * threads_);
    };
    copy(outputs_, kOutputBlocks);
    copy(RoundUp(p_.inputs, kBlock), kInputBlocks);
  }

  void AddNarrowDirect() {
    const bool waits = !CutsImage();
    if (!PairsInRegisters(p_)) {
      const auto blocks = [&](std::int64_t channels, std::int64_t block) {
        return waits ? p_.groups * DivideUp(channels, block) : threads_;
      };
      const std::int64_t input_block = IsFirst(p_) ? p_.inputs : kBlock;
      const std::int64_t padding = RoundUp(std::max(p_.width.before, Behind(p_.width) + 1), 2);
      Count source = padding;
      if (CopiesSource(p_)) {
        const std::int64_t row =
            RoundUp(DivideUp(p_.width.in, p_.width.stride) + padding, 2) * p_.width.stride;
        source +=
            Count(blocks(p_.inputs, input_block)) * row * input_block * p_.height.in * p_.depth.in;
      }
      scratch_.Add(source * kNarrow);
      scratch_.Add(Count(blocks(p_.outputs, kBlock)) * RoundUp(p_.width.out, 2) * kBlock *
                   p_.height.out * p_.depth.out * kNarrow);
    }
    AddSums();
    if (waits) scratch_.Add(kBarrier, kBarrier);
  }

  // Large results of images with few channels are paired by each thread for itself, so that none
  // waits for another.
  bool CutsImage() const {
    constexpr std::int64_t kLongRow = 124, kRows = 64, kLargeKernel = 6;
    const Axis &d = p_.depth, &h = p_.height, &w = p_.width;
    if (!IsFirst(p_)) return false;
    const Count result = Pixels() * p_.outputs;
    const std::int64_t cache = second_cache_ / kFloat;
    const auto holds = [&](std::int64_t n) { return !result.overflowed() && result.value() < n; };
    const bool streams = p_.channels_last && !holds(2 * cache) && d.kernel >= kLargeKernel &&
                         h.kernel >= kLargeKernel && w.kernel >= kLargeKernel;
    if (streams || holds(cache)) return false;
    return p_.rank == 5 ? w.out * h.out >= kRows * kLongRow && d.out > 1
                        : w.out >= kLongRow && h.out > 1;
  }

  // The pixels that a strided 1 x 1 kernel needs.
  void AddDropped() {
    const std::int64_t channels =
        p_.channels_last ? p_.inputs : BlocksAtATime(inputs_ / kBlock, kInputBlocks) * kBlock;
    scratch_.Add(Pixels() * channels * (p_.narrow() ? kNarrow : kFloat) * threads_);
  }

  const WeightKernel& kernel_;
  const Problem& p_;
  std::int64_t threads_, second_cache_, outputs_, inputs_;
  Scratch scratch_;
};

}  // namespace

std::optional<WeightKernel> ChooseWeightKernel(const Problem& p) {
  if (p.large) return {};
  if (TakesDepthwise(p)) return WeightKernel{.kind = Kind::kDepthwise, .block = kBlock};
  if (TakesPointwise(p)) {
    return WeightKernel{.kind = Kind::kPointwise, .block = kBlock, .drops_pixels = DropsPixels(p)};
  }
  if (p.narrow() ? TakesNarrow(p) : TakesFloat(p)) {
    return WeightKernel{.kind = Kind::kDirect, .block = kBlock, .reads_plain = IsFirst(p)};
  }
  if (p.narrow() || !TakesSmallVector(p)) return {};
  return WeightKernel{
      .kind = Kind::kSmallVector, .block = kSmallBlock, .reads_plain = ReadsThree(p)};
}

Count WeightScratch(const WeightKernel& kernel, const Problem& problem, const Target& target) {
  return WeightBuffers(kernel, problem, target).Bytes();
}

}  // namespace steelyard::onednn
