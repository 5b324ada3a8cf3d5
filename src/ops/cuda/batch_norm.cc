// SPDX-License-Identifier: Apache-2.0
//
// How an image is walked decides what there is beside results: rows need nothing, channels that lie
// last are staged, and any other strides go through an iterator and `var_mean`.

#include "ops/cuda/batch_norm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/reduce.h"
#include "ops/rules/allocations.h"
#include "ops/rules/normalization.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::cuda {
namespace {

using normalization::AccumulateType;
using Scratch = std::optional<Allocations::Scratch>;

constexpr std::string_view kFactory = "aten::empty";

// How kernels walk an image: row by row, channels last, or by an iterator over any strides.
enum class Walk : std::uint8_t { kRows, kChannelsLast, kAny };

Walk WalkOf(const TensorView& image) {
  if (image.is_contiguous()) return image.stride(1) == 1 ? Walk::kChannelsLast : Walk::kRows;
  return IsContiguousChannelsLast(image.sizes(), image.strides()) ? Walk::kChannelsLast
                                                                  : Walk::kAny;
}

bool AreContiguous(const OpView& op, std::span<const int> arguments) {
  return std::ranges::all_of(arguments,
                             [&](int i) { return !op.given(i) || op.tensor(i).is_contiguous(); });
}

std::int64_t LastPower(std::int64_t n) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

// flexible_launch_configs of Normalization.cuh: where at least eight blocks work on a channel, each
// leaves `numbers` of each channel.
void StageChannels(const TensorView& image, std::int64_t numbers, Allocations& memory) {
  constexpr std::int64_t kThreads = 512, kTile = 32, kPerThread = 16, kMostBlocks = 128,
                         kLeastBlocks = 8;
  const std::int64_t channels = image.size(1);
  if (image.count() == 0) return;
  const std::int64_t reduced = image.count() / channels;
  std::int64_t width = std::min(LastPower(channels), kTile);
  const std::int64_t height = std::min(LastPower(DivideUp(reduced, kPerThread)), kThreads / width);
  if (width * height != kThreads) width = std::min(LastPower(channels), kThreads / height);
  const std::int64_t blocks = std::min(DivideUp(reduced, height * kPerThread), kMostBlocks);
  if (blocks < kLeastBlocks) return;
  const DType wide = AccumulateType(image.dtype());
  const auto staged =
      memory.Allocate(allocations::Bytes(Count(numbers) * channels * blocks, wide), kFactory);
  memory.Free(memory.Allocate(DivideUp(channels, width) * 4));
  memory.Free(staged);
}

// The mean and variance of each channel by `var_mean`, which reads float16 but no bfloat16.
void StageMoments(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kMomentNumbers = 4;
  const TensorView image = op.self();
  const DType wide = AccumulateType(image.dtype());
  const DType read = image.dtype() == DType::kFloat16 ? image.dtype() : wide;
  const Scratch cast = allocations::Cast(image, read, memory);
  const shape::DimSet all_but_channels = ~(shape::DimSet{1} << 1);
  Stage(op, {image.sizes(), shape::CastStrides(image, read)}, read, all_but_channels,
        {.bytes = kMomentNumbers * BitsOf(wide) / 8, .fits_result = false}, memory);
  allocations::Free(cast, memory);
}

}  // namespace

bool WalksChannelsLast(const TensorView& image) {
  return WalkOf(image) == Walk::kChannelsLast ||
         IsContiguousChannelsLast(image.sizes(), image.strides());
}

void BatchNorm(const OpView& op, Allocations& memory) {
  for (int i = 0; i < 3; ++i) memory.Output(i, kFactory);
  const TensorView image = op.self();
  const Walk walk = WalkOf(image);
  if (op.boolean(5)) {
    if (walk == Walk::kChannelsLast) StageChannels(image, 4, memory);
    if (walk == Walk::kAny) StageMoments(op, memory);
  }
  constexpr std::array kParameters{1, 2};
  const bool any =
      walk == Walk::kAny || (walk == Walk::kChannelsLast && !AreContiguous(op, kParameters));
  if (!any) return;
  // Those that are missing are numbers.
  std::vector<Allocations::Scratch> numbers;
  for (const int i : kParameters) {
    if (!op.given(i)) numbers.push_back(memory.Allocate(BitsOf(AccumulateType(image.dtype())) / 8));
  }
  for (std::size_t i = numbers.size(); i-- > 0;) memory.Free(numbers[i]);
}

namespace {

enum Result { kImage, kScale, kShift };

// `reshape` to a batch of channels of pixels.
Scratch Rows(const TensorView& t, Allocations& memory) {
  const std::int64_t pixels = t.count() / std::max<std::int64_t>(t.size(0) * t.size(1), 1);
  const Dims rows{t.size(0), t.size(1), pixels};
  if (t.count() == 0 || ViewStrides(t.sizes(), t.strides(), rows)) return std::nullopt;
  return memory.Allocate(allocations::Bytes(work::Elements(t), t.dtype()), kFactory);
}

void MakeGiven(const OpView& op, std::initializer_list<Result> results, Allocations& memory) {
  for (const Result i : results) {
    if (op.output(i).defined()) memory.Output(i, kFactory);
  }
}

// One kernel gives all, of images row by row.
void GradientsAtOnce(const OpView& op, Allocations& memory) {
  const Scratch image = Rows(op.tensor(1), memory), gradient = Rows(op.self(), memory);
  MakeGiven(op, {kImage, kScale, kShift}, memory);
  allocations::Free(gradient, memory);
  allocations::Free(image, memory);
}

}  // namespace

bool SumsChannelsLast(const OpView& op) {
  constexpr std::array kVectors{2, 5, 6};
  return WalksChannelsLast(op.tensor(1)) && WalksChannelsLast(op.self()) &&
         AreContiguous(op, kVectors);
}

void BatchNormGradients(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), image = op.tensor(1);
  const bool trains = op.boolean(7), wants_image = op.output(kImage).defined();
  const bool reduces = trains || op.output(kScale).defined() || op.output(kShift).defined();
  const bool last = WalksChannelsLast(image);
  if (reduces && wants_image && !last) return GradientsAtOnce(op, memory);
  const std::int64_t bytes = allocations::Bytes(image.size(1), AccumulateType(image.dtype()));
  // cuDNN keeps no statistics where there is no training: those that ran are made into scales.
  Scratch scale;
  if (!trains && (!op.given(6) || op.tensor(6).count() == 0)) scale = memory.Allocate(bytes);
  std::vector<Allocations::Scratch> sums;
  const auto make_sums = [&] {
    for (int i = 0; i < 2; ++i) sums.push_back(memory.Allocate(bytes, kFactory));
  };
  if (reduces && SumsChannelsLast(op)) {
    make_sums();
    MakeGiven(op, {kScale, kShift}, memory);
    StageChannels(image, 2, memory);
  } else if (reduces) {
    const Scratch rows = Rows(image, memory), of_gradient = Rows(gradient, memory);
    if (wants_image) make_sums();
    MakeGiven(op, {kScale, kShift}, memory);
    allocations::Free(of_gradient, memory);
    allocations::Free(rows, memory);
  }
  // Of the kernel for any strides, a weight that is missing is a number.
  Scratch number;
  if (trains && wants_image && !op.given(2) && !SumsChannelsLast(op)) {
    number = memory.Allocate(BitsOf(AccumulateType(image.dtype())) / 8);
  }
  MakeGiven(op, {kImage}, memory);
  allocations::Free(number, memory);
  for (std::size_t i = sums.size(); i-- > 0;) memory.Free(sums[i]);
  allocations::Free(scale, memory);
}

}  // namespace steelyard::cuda
