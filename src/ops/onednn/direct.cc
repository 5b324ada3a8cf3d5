// SPDX-License-Identifier: Apache-2.0
//
// A kernel refuses what its registers cannot hold: padding wider than a row of them, or code that
// outgrows its buffer. The conditions are those of oneDNN's init_conf of each kernel
// (src/cpu/x64/jit_avx512_common_conv_kernel.cpp, jit_avx512_core_bf16_conv_kernel.cpp,
// jit_avx512_common_1x1_conv_kernel.cpp, jit_uni_dw_conv_kernel_utils.cpp,
// jit_avx2_conv_kernel_f32.cpp).

#include "ops/onednn/direct.h"

#include <algorithm>
#include <cstdint>

namespace steelyard::onednn {
namespace {

using Kind = DirectKernel::Kind;

// Whether the padding of a row fits the results kept in registers.
bool PaddingFits(const Axis& width, std::int64_t registers) {
  const std::int64_t whole = RoundDown(width.out, registers);
  return width.before <= registers && width.After(whole) <= registers;
}

// --- Depthwise ----------------------------------------------------------------------------------

bool TakesDepthwise(const Problem& p) {
  constexpr std::int64_t kRow = 6;
  return p.rank == 4 && p.depthwise() && !p.LeavesImage() &&
         PaddingFits(p.width, std::min(kRow, p.width.out));
}

// --- All others, float32 ------------------------------------------------------------------------

// How many blocks of output channels and pixels of a row are in registers at once. The rules are
// those of oneDNN (3.8, init_conf of the forward kernel in
// src/cpu/x64/jit_avx512_common_conv_kernel.cpp), which give no reasons for their numbers.
class FloatRow {
 public:
  FloatRow(const Problem& p, std::int64_t block, bool first, const Target& target)
      : p_(p),
        target_(target),
        block_(block),
        input_block_(first ? p.inputs : block),
        first_(first),
        output_blocks_(DivideUp(p.outputs, block)) {}

  bool Fits() {
    Choose();
    return PaddingFits(p_.width, row_) && CodeFits();
  }

 private:
  static constexpr std::int64_t kRegisters = 28;
  static constexpr std::int64_t kAllRegisters = 31;
  static constexpr std::int64_t kMostBlocks = 5;
  // A column is worth kernels of its own where it and they are this long.
  static constexpr std::int64_t kLongColumn = 60, kLongKernel = 3;
  // Rows of which a kernel of three pixels keeps one block, unless the image has many channels.
  static constexpr std::int64_t kShortRow = 28;
  struct Exception {
    std::int64_t row, channels;
  };
  static constexpr std::array<Exception, 2> kManyChannels{{{13, 192}, {28, 512}}};
  // Where it steps over pixels: a small batch, of few channels or rows.
  static constexpr std::int64_t kSmallBatch = 16, kFewOutputs = 192, kFewRows = 10;
  // Of a single image: rows of so many pixels, of so few channels.
  static constexpr std::int64_t kRowOfOne = 147, kOutputsOfOne = 96;

  void Choose() {
    const std::int64_t out = p_.width.out;
    row_ = std::min(out, kRegisters);
    blocks_ = 1;
    if (IsColumn()) {
      for (blocks_ = std::min(output_blocks_, kMostBlocks); output_blocks_ % blocks_ != 0;)
        --blocks_;
      row_ = std::min(out, kAllRegisters / (blocks_ + 1));
    } else if (KeepsOneBlock()) {
      const bool pairs = p_.batch > 1 && !first_ && out <= 8 && p_.height.kernel <= 3 &&
                         p_.width.kernel <= 3 && output_blocks_ % 2 == 0 && WorkingSetFits();
      if (pairs) blocks_ = 2;
    } else {
      blocks_ = BestBlocks();
      row_ = std::min(out, kAllRegisters / (blocks_ + 1));
    }
  }

  // A single column of results under a kernel as wide as the image.
  bool IsColumn() const {
    return p_.groups == 1 && p_.batch == 1 && p_.height.stride == 1 && p_.width.stride == 1 &&
           p_.depth.stride == 1 && p_.width.out == 1 && p_.depth.in == 1 && p_.depth.out == 1 &&
           p_.depth.kernel == 1 && p_.width.in == p_.width.kernel && output_blocks_ > 1 &&
           p_.width.before == 0 && p_.width.after() == 0 && p_.depth.before == 0 &&
           p_.depth.after() == 0 && p_.width.dilation == 1 && p_.depth.dilation == 1 &&
           p_.height.out >= kLongColumn && p_.height.kernel >= kLongKernel;
  }

  // Source, result and weight of a row, for two blocks of output channels, in the first cache.
  bool WorkingSetFits() const {
    const double source = static_cast<double>(DivideUp(p_.width.in, p_.width.stride)) *
                          static_cast<double>(input_block_ * p_.height.kernel * p_.depth.kernel);
    const auto result = static_cast<double>(p_.width.out * block_ * 2);
    const double weight =
        static_cast<double>(p_.kernel()) * static_cast<double>(input_block_ * block_ * 2);
    return 4 * (source + result + weight) < static_cast<double>(target_.first_cache);
  }

  bool KeepsOneBlock() const {
    const std::int64_t out = p_.width.out, inputs = PaddedInputs();
    const auto excepted = [&](const Exception& e) { return out == e.row && inputs >= e.channels; };
    const bool small = p_.width.kernel == 3 && out <= kShortRow && WorkingSetFits() &&
                       std::ranges::none_of(kManyChannels, excepted);
    const bool strided = p_.width.stride != 1 || p_.height.stride != 1;
    const std::int64_t outputs = output_blocks_ * block_;
    return p_.width.kernel > 3 ||
           (small && (!strided || (p_.batch <= kSmallBatch &&
                                   (outputs <= kFewOutputs || p_.height.out <= kFewRows)))) ||
           (p_.batch == 1 &&
            (out <= kRegisters || first_ || (out <= kRowOfOne && outputs <= kOutputsOfOne)));
  }

  std::int64_t PaddedInputs() const { return first_ ? p_.inputs : RoundUp(p_.inputs, block_); }

  // The number of blocks whose rows share the work best among the threads; more blocks win ties.
  std::int64_t BestBlocks() const {
    std::int64_t best = 1;
    float best_share = 0;
    for (std::int64_t i = std::min(output_blocks_, kMostBlocks); i > 0; --i) {
      if (output_blocks_ % i != 0) continue;
      const float share = Share(i, Stretch(i, std::min(p_.width.out, kAllRegisters / (i + 1))));
      if (share <= 1.05F * best_share) continue;
      best = i;
      best_share = share;
    }
    return best;
  }

  // How evenly threads share rows cut in stretches.
  float Share(std::int64_t blocks, std::int64_t stretch) const {
    const std::int64_t work = p_.batch * p_.height.out * DivideUp(output_blocks_, blocks) *
                              DivideUp(p_.width.out, stretch);
    const float cut =
        static_cast<float>(p_.width.out) / static_cast<float>(RoundUp(p_.width.out, stretch));
    return cut * static_cast<float>(work) / static_cast<float>(RoundUp(work, target_.threads));
  }

  // The pixels of a row that a thread takes at a time.
  std::int64_t Stretch(std::int64_t blocks, std::int64_t row) const {
    const std::int64_t out = p_.width.out;
    if (first_ || p_.rank == 5) return out;
    const std::int64_t cache = target_.second_cache * 7 / 8 / 4;
    const std::int64_t source = input_block_ * row * p_.height.kernel;
    const std::int64_t result = block_ * blocks * row;
    const std::int64_t weight = block_ * blocks * input_block_ * p_.width.kernel * p_.height.kernel;
    const std::int64_t rows =
        std::max<std::int64_t>(2, (cache - 2 * weight) / (2 * result + 2 * source));
    std::int64_t best = row * rows;
    float share = Share(blocks, best);
    const std::int64_t most = DivideUp(out, 2 * row);
    for (std::int64_t parts = DivideUp(out, best); parts <= most; ++parts) {
      const std::int64_t stretch = std::min(RoundUp(DivideUp(out, parts), row), out);
      if (stretch < blocks * block_ && share > 0.9F) break;
      if (DivideUp(out, stretch) != parts) continue;
      const float here = Share(blocks, stretch);
      if (stretch >= 2 * row && here > share) {
        best = stretch;
        share = here;
      }
      if (share > 0.98F) break;
    }
    return std::min(out, std::max(2 * row, best));
  }

  // Every pixel of a row in registers, for each part of the row with padding of its own, is code.
  bool CodeFits() const {
    constexpr std::int64_t kInstruction = 15, kMostCode = std::int64_t{256} * 1024;
    const std::int64_t row = std::min(p_.width.out, kRegisters);
    const std::int64_t parts = 1 + (p_.width.before > 0 ? 1 : 0) +
                               (p_.width.After(RoundDown(p_.width.out, row)) > 0 ? 1 : 0);
    return parts * p_.width.kernel * input_block_ * blocks_ * row_ * kInstruction <= kMostCode;
  }

  const Problem& p_;
  const Target& target_;
  std::int64_t block_, input_block_;
  bool first_;
  std::int64_t output_blocks_;
  std::int64_t row_ = 1, blocks_ = 1;
};

// --- All others, bfloat16 -----------------------------------------------------------------------

bool NarrowRowFits(const Problem& p, std::int64_t block) {
  constexpr std::int64_t kRegisters = 31;
  const std::int64_t output_blocks = DivideUp(p.outputs, block), out = p.width.out;
  std::int64_t blocks = std::min<std::int64_t>(4, output_blocks);
  for (; blocks > 1; --blocks) {
    const std::int64_t row = kRegisters / (blocks + 1);
    if (output_blocks % blocks == 0 && p.width.before <= row && (out == 1 || out % row != 1)) break;
  }
  return PaddingFits(p.width, std::min(out, kRegisters / (blocks + 1)));
}

// --- Vectors of 8 -------------------------------------------------------------------------------

// The kernel of processors without AVX-512, which takes more kernels of few channels.
std::optional<DirectKernel> SmallVector(const Problem& p) {
  constexpr std::int64_t kBlock = 8, kRow = 3, kRegisters = 15;
  const bool plain = p.inputs < kBlock;
  // All groups together must be few channels, too.
  if (plain && p.groups * p.inputs >= kBlock) return {};
  if (p.groups > 1 && (p.outputs % kBlock != 0 || (!plain && p.inputs % kBlock != 0))) return {};
  std::int64_t row = std::min(kRow, p.width.out);
  const bool padded = p.height.before != 0 || p.width.before != 0;
  const bool strided = p.height.stride != 1 || p.width.stride != 1;
  if (p.width.before > row || (p.width.kernel > 7 && padded && strided)) return {};
  const std::int64_t behind = std::max<std::int64_t>(0, p.width.After(RoundDown(p.width.out, row)));
  if (behind > row * p.width.stride && p.width.out / row > 1) {
    row = std::min({behind / p.width.stride + p.width.out % row, p.width.out, kRegisters / 2});
    const std::int64_t still = p.width.After(RoundDown(p.width.out, row));
    if (row < std::max(p.width.before, still)) return {};
  }
  return DirectKernel{.kind = Kind::kSmallVector, .channel_block = kBlock, .reads_plain = plain};
}

// Groups are vectors of as many channels as divide them; one group is filled up.
std::int64_t BlockOf(const Problem& p, const Target& target) {
  const std::int64_t block = target.channel_block;
  if (p.groups == 1) return block;
  for (std::int64_t b : {block, block / 2, block / 4}) {
    if (p.inputs % b == 0 && p.outputs % b == 0) return b;
  }
  return 0;
}

// --- Back to the image --------------------------------------------------------------------------

// A row of the image in registers, of one block of channels or several.
class BackwardRow {
 public:
  BackwardRow(const Problem& p, std::int64_t block, const Target& target)
      : p_(p), target_(target), block_(block), input_blocks_(DivideUp(p.inputs, block)) {}

  bool Fits() {
    Choose();
    const Axis& a = p_.width;
    const std::int64_t left = Overflow(a.before), tail = a.in % row_;
    const std::int64_t right = Overflow(std::max<std::int64_t>(0, a.after() + tail));
    if (left * a.stride > row_ && !wide_) return false;
    if (right * a.stride > row_) return false;
    if (a.in > row_ && (row_ % a.stride != 0 || a.after() + tail < 0)) return false;
    const std::int64_t parts = 1 + (left > 0 ? 1 : 0) + (right > 0 ? 1 : 0);
    constexpr std::int64_t kInstruction = 15, kMostCode = std::int64_t{256} * 1024;
    return wide_ || parts * a.kernel * block_ * blocks_ * row_ * kInstruction <= kMostCode;
  }

 private:
  static constexpr std::int64_t kRegisters = 28, kAllRegisters = 31;

  // Results beyond the image that pixels at its edge go to, in steps.
  std::int64_t Overflow(std::int64_t padding) const {
    return std::max<std::int64_t>(0, (p_.width.extent() - 1 - padding) / p_.width.stride);
  }

  void Choose() {
    const Axis& a = p_.width;
    wide_ = a.kernel >= 14 && a.kernel < 20 && a.out == 1 && input_blocks_ > 1 &&
            a.kernel == a.in && a.stride == 1 && a.dilation == 1 && p_.height.dilation == 1 &&
            p_.depth.dilation == 1;
    const bool fits = WorkingSetFits();
    const bool one = a.kernel == 1 || (a.kernel == 5 && a.in < 8) ||
                     (a.kernel < 5 && (a.in <= 5 || (a.in > 8 && a.in <= 13) || !fits));
    const bool strided = p_.height.stride > 1 || p_.depth.stride > 1;
    blocks_ = 1;
    row_ = std::min(a.in, kRegisters);
    if ((!one || strided) && !wide_) {
      const bool short_rows = !(a.kernel > 3 || (a.kernel == 3 && fits && a.out > 8)) && !strided;
      if (!short_rows || input_blocks_ % 2 != 0) return;
      blocks_ = 2;
    } else {
      blocks_ = std::min<std::int64_t>(wide_ ? 2 : 4, input_blocks_);
      while (input_blocks_ % blocks_ != 0) --blocks_;
    }
    row_ = std::min(a.in, kAllRegisters / (blocks_ + 1));
  }

  bool WorkingSetFits() const {
    const auto image = static_cast<double>(p_.width.in * block_ * 2 * p_.height.kernel);
    const auto result = static_cast<double>(p_.width.out * block_);
    const auto weight = static_cast<double>(p_.height.kernel * p_.width.kernel) *
                        static_cast<double>(block_ * block_ * 2);
    return 4 * (image + result + weight) <= static_cast<double>(target_.first_cache);
  }

  const Problem& p_;
  const Target& target_;
  std::int64_t block_, input_blocks_;
  std::int64_t row_ = 1, blocks_ = 1;
  bool wide_ = false;
};

// The same of bfloat16: the blocks and pixels with most work between two reads of the weight.
class NarrowBackwardRow {
 public:
  NarrowBackwardRow(const Problem& p, std::int64_t block)
      : a_(p.width), input_blocks_(DivideUp(p.inputs, block)) {}

  bool Fits() {
    if (!Choose()) return false;
    const std::int64_t tail = a_.in % row_, left = Steps(a_.before);
    const std::int64_t right = Steps(std::max<std::int64_t>(0, a_.after() + tail));
    if (left * a_.stride > row_ || right * a_.stride > row_) return false;
    return a_.in <= row_ || (row_ % a_.stride == 0 && a_.after() + tail >= 0);
  }

 private:
  // Results beyond the image that pixels at its edge go to.
  std::int64_t Steps(std::int64_t padding) const {
    return std::max<std::int64_t>(0, (a_.extent() - 1 - padding) / a_.stride);
  }

  bool Choose() {
    constexpr std::int64_t kRegisters = 31, kMostBlocks = 4;
    std::int64_t longest = 0;
    for (std::int64_t blocks = 1; blocks <= kMostBlocks; ++blocks) {
      if (input_blocks_ % blocks != 0) continue;
      for (std::int64_t n = a_.stride;
           n * blocks + n / a_.stride <= kRegisters && n < a_.in + a_.stride; n += a_.stride) {
        const std::int64_t row = std::min(n, a_.in);
        if (Steps(a_.before) * a_.stride > row && row != a_.in) continue;
        const std::int64_t length = DivideUp(row, a_.stride) * blocks;
        if (length < longest || (length == longest && row_ >= row)) continue;
        longest = length;
        row_ = row;
      }
    }
    return longest > 0;
  }

  const Axis& a_;
  std::int64_t input_blocks_;
  std::int64_t row_ = 1;
};

bool FitsBackward(const Problem& p, std::int64_t block, const Target& target) {
  return p.narrow() ? NarrowBackwardRow(p, block).Fits() : BackwardRow(p, block, target).Fits();
}

bool IsDilated(const Axis& a) { return a.dilation != 1; }

}  // namespace

bool DropsPixels(const Problem& p) {
  const auto divides = [](const Axis& a) { return a.before == 0 && a.out * a.stride == a.in; };
  return p.rank == 4 && p.pointwise() && (p.height.stride != 1 || p.width.stride != 1) &&
         divides(p.height) && divides(p.width);
}

bool TakesPointwise(const Problem& p) {
  const auto whole = [](const Axis& a) { return a.before == 0 && a.stride == 1 && a.in == a.out; };
  if (p.groups > 1 || !p.pointwise()) return false;
  return DropsPixels(p) || (whole(p.depth) && whole(p.height) && whole(p.width));
}

std::optional<DirectKernel> ChooseBackward(const Problem& p, const Target& target) {
  if (p.large) return {};
  const std::int64_t block = target.channel_block;
  const bool dilated = IsDilated(p.height) || IsDilated(p.width);
  if (p.rank == 4 && p.depthwise() && !dilated) {
    return DirectKernel{.kind = Kind::kDepthwise, .channel_block = block};
  }
  if (TakesPointwise(p)) {
    return DirectKernel{
        .kind = Kind::kPointwise, .channel_block = block, .drops_pixels = DropsPixels(p)};
  }
  for (const Axis* a : {&p.depth, &p.height, &p.width}) {
    if (IsDilated(*a) && a->stride != 1) return {};
  }
  const std::int64_t own = BlockOf(p, target);
  if (p.LeavesImage() || own == 0 || !FitsBackward(p, own, target)) return {};
  return DirectKernel{.kind = Kind::kDirect, .channel_block = own};
}

std::optional<DirectKernel> ChooseDirect(const Problem& p, const Target& target) {
  if (p.large) return {};
  const std::int64_t block = target.channel_block;
  if (TakesDepthwise(p)) return DirectKernel{.kind = Kind::kDepthwise, .channel_block = block};
  if (TakesPointwise(p)) {
    return DirectKernel{
        .kind = Kind::kPointwise, .channel_block = block, .drops_pixels = DropsPixels(p)};
  }
  if (p.LeavesImage()) return {};
  const std::int64_t own = BlockOf(p, target);
  const bool plain = p.groups == 1 && p.inputs < block;
  if (own != 0) {
    const bool fits = p.narrow() ? NarrowRowFits(p, own) : FloatRow(p, own, plain, target).Fits();
    if (fits)
      return DirectKernel{.kind = Kind::kDirect, .channel_block = own, .reads_plain = plain};
  }
  if (p.narrow()) return {};
  return SmallVector(p);
}

}  // namespace steelyard::onednn
