// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels of the normalizations of images: what they allocate follows
// ATen/native/Normalization.cpp, cpu/batch_norm_kernel.cpp, group_norm.cpp and
// cpu/group_norm_kernel.cpp.

#include "ops/gradients/normalization_backward.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/batch_norm.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/releases.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/normalization.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using normalization::AccumulateType;
using normalization::ChannelsAreAdjacent;
using normalization::IsDenseImage;
using Scratch = std::optional<Allocations::Scratch>;

enum Result { kImage, kScale, kShift };

bool Wants(const OpView& op, Result result) {
  const std::vector<std::int64_t> mask = op.integers(9);
  return static_cast<std::size_t>(result) < mask.size() && mask[result] != 0;
}

// --- native_batch_norm_backward ------------------------------------------------------------------

// (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
// output_mask)

// The first parameter or statistic that there is decides the dtype of the parameters' gradients.
DType ParameterType(const OpView& op) {
  for (int i = 2; i <= 6; ++i) {
    if (op.given(i)) return op.tensor(i).dtype();
  }
  return op.tensor(1).dtype();
}

// Without training CUDA scales the gradient alone, in its order, unless one kernel gives all.
Dims ImageStrides(const OpView& op, bool reduces) {
  const TensorView input = op.tensor(1);
  const bool on_cuda = op.target().device == Device::kCuda;
  if (!on_cuda || op.boolean(7) || (reduces && !cuda::WalksChannelsLast(input))) {
    return window::StridesLike(input, input.sizes());
  }
  const std::array operands{Layout{op.self().sizes(), op.self().strides()}};
  return IteratorStrides(input.sizes(), operands);
}

void BatchBackwardShape(const OpView& op, Outputs& out) {
  const TensorView input = op.tensor(1);
  const bool on_cuda = op.target().device == Device::kCuda;
  const bool reduces = op.boolean(7) || Wants(op, kScale) || Wants(op, kShift);
  // One kernel sums for both parameters, and gives empty gradients of those that are not there.
  const bool both = on_cuda && cuda::SumsChannelsLast(op) && reduces;
  const Dims channels = !on_cuda      ? Dims{input.size(1)}
                        : op.given(2) ? Dims(op.tensor(2).sizes())
                                      : Dims{both ? 0 : input.size(1)};
  const DType dtype = ParameterType(op);
  Wants(op, kImage) ? out.Add(input.dtype(), input.sizes(), ImageStrides(op, reduces))
                    : out.AddNone();
  both || Wants(op, kScale) ? out.Add(dtype, channels) : out.AddNone();
  both || Wants(op, kShift) ? out.Add(dtype, channels) : out.AddNone();
}

// `sum` of the gradient over all but the channels, of float16 in float32. A single number that is
// spread over the image is not widened.
void SumGradient(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self();
  const std::int64_t channels = op.tensor(1).size(1);
  if (gradient.dtype() == DType::kFloat16) {
    const Allocations::Scratch wide = memory.Allocate(
        allocations::Bytes(work::Elements(gradient), DType::kFloat32), "aten::empty_strided");
    const Allocations::Scratch sum =
        memory.Allocate(allocations::Bytes(channels, DType::kFloat32), "aten::sum");
    memory.Free(wide);
    return memory.Free(sum);
  }
  const Allocations::Scratch sum =
      memory.Allocate(allocations::Bytes(channels, gradient.dtype()), "aten::sum");
  const bool spread = std::ranges::all_of(gradient.strides(), [](auto s) { return s == 0; });
  if (!spread) allocations::SumScratch(gradient, channels, memory);
  memory.Free(sum);
}

// Of adjacent channels every thread has two sums of each. Of half precision, three more numbers of
// each channel are kept: its mean, its inverse deviation and its weight. Else there is a tensor of
// ones for a weight that is not given, and outside training one of the inverse deviations.
void AdjacentBackwardAllocations(const OpView& op, Allocations& memory) {
  const DType dtype = op.tensor(1).dtype(), wide = AccumulateType(dtype);
  const Count channels = op.tensor(1).size(1);
  std::vector<Allocations::Scratch> buffers;
  const auto allocate = [&](Count count, std::string_view label) {
    buffers.push_back(memory.Allocate(allocations::Bytes(count, wide), label));
  };
  if (wide != dtype) {
    for (int i = 0; i < 3; ++i) allocate(channels, "aten::empty");
  } else {
    if (!op.given(2)) allocate(channels, "aten::empty");
    if (!op.boolean(7)) allocate(channels, "aten::resize_");
  }
  allocate(channels * op.target().threads * 2, "aten::empty");
  for (std::size_t i = buffers.size(); i-- > 0;) memory.Free(buffers[i]);
}

// Where gradient and image lie alike, the image's gradient is made a second time; else the
// gradient's sums are an operator.
void BatchBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), input = op.tensor(1);
  const bool alike = IsDenseImage(input) && IsDenseImage(gradient) &&
                     IsChannelsLast(input.sizes(), input.strides()) ==
                         IsChannelsLast(gradient.sizes(), gradient.strides());
  Scratch first;
  if (Wants(op, kImage)) {
    alike ? void(first = memory.Allocate(input.bytes(), "aten::empty"))
          : memory.Output(kImage, "aten::empty");
  }
  for (const Result result : {kScale, kShift}) {
    if (Wants(op, result)) memory.Output(result, "aten::empty");
  }
  if (!alike) return SumGradient(op, memory);
  if (Wants(op, kImage)) memory.Output(kImage, "aten::empty");
  allocations::Free(first, memory);
  if (ChannelsAreAdjacent(input)) AdjacentBackwardAllocations(op, memory);
}

// Two sums over the gradient; in training the image's gradient also needs the projection on the
// normalized image.
Work BatchBackwardWork(const OpView& op) {
  const Count elements = work::Elements(op.self());
  const Count image = Wants(op, kImage) ? elements * (op.boolean(7) ? 5 : 1) : Count(0);
  return {.alu = elements * 4 + image};
}

// --- native_group_norm_backward ------------------------------------------------------------------

// (grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)

void GroupBackwardShape(const OpView& op, Outputs& out) {
  const TensorView input = op.tensor(1), weight = op.tensor(4);
  const DType dtype = weight.defined() ? weight.dtype() : input.dtype();
  const Dims channels{op.integer(6)};
  shape::RequireSizes(channels);
  Wants(op, kImage)
      ? out.Add(input.dtype(), input.sizes(), window::StridesLike(input, input.sizes()))
      : out.AddNone();
  Wants(op, kScale) ? out.Add(dtype, channels) : out.AddNone();
  Wants(op, kShift) ? out.Add(dtype, channels) : out.AddNone();
}

// Image and gradient are copied into the order that the image suggests; every channel of every
// image has two sums.
void GroupBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.tensor(1);
  const bool last = IsChannelsLast(input.sizes(), input.strides());
  std::vector<Allocations::Scratch> buffers;
  const auto allocate = [&](std::int64_t bytes) {
    buffers.push_back(memory.Allocate(bytes, "aten::empty"));
  };
  for (const TensorView& image : {input, op.self()}) {
    if (!LiesDense(image, last)) allocate(image.bytes());
  }
  for (const int i : {2, 3, 4}) {  // mean, rstd, weight
    if (op.given(i) && !op.tensor(i).is_contiguous()) allocate(op.tensor(i).bytes());
  }
  if (Wants(op, kImage)) memory.Output(kImage, "aten::empty_strided");
  for (const Result result : {kScale, kShift}) {
    if (Wants(op, result)) memory.Output(result, "aten::empty");
  }
  const Count sums = Count(op.integer(5)) * op.integer(6);
  for (int i = 0; i < 2; ++i) allocate(allocations::Bytes(sums, AccumulateType(input.dtype())));
  for (std::size_t i = buffers.size(); i-- > 0;) memory.Free(buffers[i]);
}

// Gradient and image in the order that the image suggests, before PyTorch 2.15 row by row; sums of
// each channel, then factors of each group and, row by row, of each channel.
void GroupBackwardOnCuda(const OpView& op, Allocations& memory) {
  const TensorView input = op.tensor(1);
  const DType wide = AccumulateType(input.dtype());
  const bool is_older = cuda::IsBefore(op.target(), cuda::kGroupNormKeepsOrder);
  const bool last = !is_older && IsChannelsLast(input.sizes(), input.strides());
  const auto copy = [&](const TensorView& t) -> Scratch {
    if (LiesDense(t, last)) return std::nullopt;
    return memory.Allocate(allocations::Bytes(work::Elements(t), t.dtype()), "aten::empty");
  };
  const Scratch gradient = copy(op.self());
  const Scratch image = copy(input);
  std::vector<Scratch> dense;
  for (const int i : {2, 3, 4}) {  // mean, rstd, weight
    if (op.given(i) && !is_older) dense.push_back(cuda::Contiguous(op.tensor(i), memory));
  }
  for (const Result result : {kImage, kScale, kShift}) {
    if (Wants(op, result)) memory.Output(result, "aten::empty");
  }
  const Count images = op.integer(5);
  const auto make = [&](Count count) {
    return memory.Allocate(allocations::Bytes(images * count, wide), "aten::empty");
  };
  const auto first = make(op.integer(6)), second = make(op.integer(6));
  if (Wants(op, kImage)) {
    const auto a = make(op.integer(8)), b = make(op.integer(8));
    Scratch factors;
    if (op.given(4) && !last) factors = make(op.integer(6));
    memory.Free(a);
    memory.Free(b);
    allocations::Free(factors, memory);
  }
  memory.Free(second);
  memory.Free(first);
  for (std::size_t i = dense.size(); i-- > 0;) allocations::Free(dense[i], memory);
  allocations::Free(image, memory);
  allocations::Free(gradient, memory);
}

Work GroupBackwardWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1)) * 8}; }

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Backward(OpName name, std::string_view summary, Signature signature,
                         std::string_view example, ShapeFn shape, DeviceAllocations allocations,
                         WorkFn work) {
  return CopyingOut(
      Kernel(Family::kNormalization, {name, summary, signature, example},
             {shape, Fusion::kOpaque, allocations, work, kGradientUnknown, precision::kFollow}));
}

constexpr std::array kRows{
    Differentiable(
        gradients::kBatchNormBackward,
        Backward(
            "aten::native_batch_norm_backward", "The gradients of a batch norm.",
            "(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? "
            "running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] "
            "output_mask) -> (Tensor, Tensor, Tensor)",
            "aten::native_batch_norm_backward(f32[2,3,4,4], f32[2,3,4,4], f32[3], f32[3], f32[3], "
            "f32[3], f32[3], True, 1e-05, [True,True,True])",
            BatchBackwardShape, {BatchBackwardAllocations, cuda::BatchNormGradients},
            BatchBackwardWork)),
    Backward("aten::native_group_norm_backward", "The gradients of a group norm.",
             "(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, "
             "SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
             "aten::native_group_norm_backward(f32[2,6,4], f32[2,6,4], f32[2,3], f32[2,3], f32[6], "
             "2, 6, 4, 3, [True,True,True])",
             GroupBackwardShape, {GroupBackwardAllocations, GroupBackwardOnCuda},
             GroupBackwardWork),
};

}  // namespace

std::span<const OpDef> NormalizationBackward() { return kRows; }

}  // namespace steelyard::ops
