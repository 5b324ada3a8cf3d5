// SPDX-License-Identifier: Apache-2.0
//
// Batch norms by cuDNN (ATen/native/cudnn/BatchNorm.cpp); it is taken to reserve nothing.

#include <array>
#include <optional>

#include "ir/layout.h"
#include "ops/gradients/normalization.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// input, weight, bias, running_mean, running_var, training, factor, eps
void CudnnShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self();
  if (input.rank() < 2) Refuse("an image without channels");
  const Dims statistics{op.boolean(5) ? input.size(1) : 0};
  const DType wide = op.tensor(1).dtype();
  out.Add(input.dtype(), input.sizes(), window::StridesLike(input, input.sizes()));
  out.Add(wide, statistics);
  out.Add(wide, statistics);
  out.Add(DType::kUInt8, Dims{0});
}

Work CudnnWork(const OpView& op) {
  const Count elements = work::Elements(op.self()), channels = op.self().size(1);
  if (op.boolean(5)) return {.alu = elements * 5 + channels * 17, .special = channels};
  return {.alu = elements * 2 + channels * 5, .special = channels};
}

// input, grad_output, weight, running_mean, running_var, save_mean, save_var, eps, reserve: the
// gradients of image, weight and bias.
void CudnnBackwardShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self(), weight = op.tensor(2);
  out.Add(input.dtype(), input.sizes(), window::StridesLike(input, input.sizes()));
  out.Add(weight.dtype(), weight.sizes());
  out.Add(weight.dtype(), weight.sizes());
}

// The gradient is read in the order of the image.
void CudnnBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self(), gradient = op.tensor(1);
  std::optional<Allocations::Scratch> copy;
  if (!LiesDense(gradient, IsChannelsLast(input.sizes(), input.strides())))
    copy = memory.Allocate(input.bytes(), "aten::empty");
  allocations::Via<"aten::empty">(op, memory);
  allocations::Free(copy, memory);
}

Work CudnnBackwardWork(const OpView& op) { return {.alu = work::Elements(op.self()) * 9}; }

constexpr OpDef Row(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work,
                    Gradient grad) {
  return Kernel(
      Family::kNormalization, words,
      {shape, Fusion::kOpaque, DeviceAllocations{allocations::Via<"aten::empty">, allocations},
       work, grad, precision::kFollow});
}

constexpr std::array kRows{
    Row({"aten::cudnn_batch_norm", "Channels scaled to mean 0 and variance 1 by cuDNN, with both.",
         "(Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
         "bool training, float exponential_average_factor, float epsilon) -> (Tensor, Tensor, "
         "Tensor, Tensor)",
         "aten::cudnn_batch_norm(f32[2,3,4,4], f32[3], f32[3], f32[3], f32[3], True, 0.1, 1e-05)"},
        CudnnShape, allocations::Via<"aten::empty">, CudnnWork, gradients::kCudnnBatchNorm),
    Row({"aten::cudnn_batch_norm_backward", "The gradients of a batch norm by cuDNN.",
         "(Tensor input, Tensor grad_output, Tensor weight, Tensor? running_mean, Tensor? "
         "running_var, Tensor? save_mean, Tensor? save_var, float epsilon, Tensor reserveSpace) -> "
         "(Tensor, Tensor, Tensor)",
         "aten::cudnn_batch_norm_backward(f32[2,3,4,4], f32[2,3,4,4], f32[3], f32[3], f32[3], "
         "f32[3], f32[3], 1e-05, u8[0])"},
        CudnnBackwardShape, CudnnBackwardAllocations, CudnnBackwardWork, kGradientUnknown),
};

}  // namespace

std::span<const OpDef> CudnnBatchNorm() { return kRows; }

}  // namespace steelyard::ops
