// SPDX-License-Identifier: Apache-2.0
//
// Convolutions on CUDA: cuDNN's, whose plans are taken to need no workspace, and ATen's own for
// kernels that see one channel each (ATen/native/cudnn/ConvShared.cpp,
// cuda/DepthwiseConv2d.cu).

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/convolve.h"
#include "ops/cuda/copies.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/convolution.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using convolution::Geometry;
using convolution::SpatialRank;

TensorView None(const OpView& op) { return {op.program(), kNoId}; }

// cuDNN has no kernels of double precision for that order (cudnn_conv_suggest_memory_format).
bool ReadsChannelsLast(const TensorView& input, const TensorView& weight) {
  return input.dtype() != DType::kFloat64 && weight.dtype() != DType::kFloat64 &&
         convolution::UsesChannelsLast(input, weight);
}

// --- Forward -------------------------------------------------------------------------------------

// self, weight, padding, stride, dilation, groups, benchmark, deterministic, allow_tf32
void CudnnShape(const OpView& op, Outputs& out) {
  const int n = SpatialRank(op.tensor(1));
  Outputs image;
  convolution::AddImage(op.self(), op.tensor(1), None(op),
                        {.stride = window::PerDimension("stride", op.ints(3), n),
                         .padding = window::PerDimension("padding", op.ints(2), n),
                         .dilation = window::PerDimension("dilation", op.ints(4), n),
                         .groups = op.integer(5)},
                        image);
  const Dims& sizes = image.metas()[0].sizes;
  const bool last = ReadsChannelsLast(op.self(), op.tensor(1));
  out.Add(op.self().dtype(), sizes, last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes));
}
// Image and weight are read in the order in which the result is.
void CudnnAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const bool last = ReadsChannelsLast(op.self(), op.tensor(1));
  std::vector<Allocations::Scratch> copies;
  for (const TensorView& t : {op.self(), op.tensor(1)}) {
    if (!LiesDense(t, last))
      copies.push_back(memory.Allocate(allocations::Bytes(work::Elements(t), t.dtype())));
  }
  for (std::size_t i = copies.size(); i-- > 0;) memory.Free(copies[i]);
}
Work CudnnWork(const OpView& op) { return convolution::WorkOf(op, op.tensor(1), None(op)); }

// self, weight, kernel_size, bias, stride, padding, dilation
void DepthwiseShape(const OpView& op, Outputs& out) {
  const int n = SpatialRank(op.tensor(1));
  convolution::AddImage(op.self(), op.tensor(1), op.tensor(3),
                        {.stride = window::PerDimension("stride", op.ints(4), n),
                         .padding = window::PerDimension("padding", op.ints(5), n),
                         .dilation = window::PerDimension("dilation", op.ints(6), n),
                         .groups = op.self().size(1)},
                        out);
}
void DepthwiseAllocations(const OpView& op, Allocations& memory) {
  std::vector<std::optional<Allocations::Scratch>> copies;
  for (const int i : {0, 1, 3}) {
    if (op.given(i)) copies.push_back(cuda::Contiguous(op.tensor(i), memory));
  }
  memory.Output(0, "aten::resize_");
  for (std::size_t i = copies.size(); i-- > 0;) allocations::Free(copies[i], memory);
}
// The same of volumes, which lie row by row whatever their operands do.
void DepthwiseVolumeShape(const OpView& op, Outputs& out) {
  Outputs any;
  DepthwiseShape(op, any);
  out.Add(any.metas()[0].dtype, any.metas()[0].sizes);
}
void DepthwiseVolumeAllocations(const OpView& op, Allocations& memory) {
  const auto image = cuda::Contiguous(op.self(), memory);
  memory.Output(0, "aten::empty");
  const auto weight = cuda::Contiguous(op.tensor(1), memory);
  if (op.given(3)) allocations::Free(cuda::Contiguous(op.tensor(3), memory), memory);
  allocations::Free(weight, memory);
  allocations::Free(image, memory);
}
Work DepthwiseWork(const OpView& op) { return convolution::WorkOf(op, op.tensor(1), op.tensor(3)); }

// --- Backward ------------------------------------------------------------------------------------
// grad_output, input, weight, stride, padding, dilation, transposed, groups, output_mask: the
// gradients of image and weight.

bool Wants(const OpView& op, std::size_t i) {
  const std::vector<std::int64_t> mask = op.integers(8);
  return i < mask.size() && mask[i] != 0;
}

void BackwardShape(const OpView& op, Outputs& out) {
  convolve::RequireOfConvolution(op);
  const TensorView input = op.tensor(1), weight = op.tensor(2);
  const bool last = ReadsChannelsLast(input, weight);
  for (int i = 0; i < 2; ++i) {
    const TensorView like = op.tensor(i + 1);
    const Dims sizes(like.sizes());
    Wants(op, static_cast<std::size_t>(i))
        ? out.Add(like.dtype(), sizes, last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes))
        : out.AddNone();
  }
}

// Gradient and factors are made dense in the order of the image. A gradient whose strides suggest
// another order is copied at once; else, where it is not dense, for either result, after the
// image's gradient is there and before the weight's is.
void CudnnBackwardAllocations(const OpView& op, Allocations& memory) {
  const bool last = ReadsChannelsLast(op.tensor(1), op.tensor(2));
  constexpr std::string_view kLabel = "aten::empty";
  const auto copy = [&](const TensorView& t) -> std::optional<Allocations::Scratch> {
    if (LiesDense(t, last)) return std::nullopt;
    return memory.Allocate(allocations::Bytes(work::Elements(t), t.dtype()), kLabel);
  };
  const auto suggests_last = [](const TensorView& t) {
    return IsChannelsLast(t.sizes(), t.strides());
  };
  const bool at_once = suggests_last(op.self()) != suggests_last(op.tensor(1));
  // What has been copied into the image's order is copied again where cuDNN reads another.
  const bool twice = at_once && suggests_last(op.tensor(1)) != last;
  const auto copy_anyway = [&] {
    return std::optional(
        memory.Allocate(allocations::Bytes(work::Elements(op.self()), op.self().dtype()), kLabel));
  };
  const auto whole = twice ? copy_anyway() : at_once ? copy(op.self()) : std::nullopt;
  if (op.output(0).defined()) {
    memory.Output(0, Allocations::kCaller);
    const auto weight = copy(op.tensor(2));
    const auto gradient = twice ? copy_anyway() : at_once ? std::nullopt : copy(op.self());
    allocations::Free(gradient, memory);
    allocations::Free(weight, memory);
  }
  if (op.output(1).defined()) {
    const auto gradient = at_once ? std::nullopt : copy(op.self());
    const auto image = copy(op.tensor(1));
    memory.Output(1, kLabel);
    allocations::Free(image, memory);
    allocations::Free(gradient, memory);
  }
  allocations::Free(whole, memory);
}

// The weight's first.
void DepthwiseBackwardAllocations(const OpView& op, Allocations& memory) {
  const auto gradient = cuda::Contiguous(op.self(), memory);
  for (const int i : {1, 0}) {
    if (op.output(i).defined()) memory.Output(i, "aten::resize_");
  }
  allocations::Free(gradient, memory);
}

// Each gradient takes as many multiply-adds as the result did.
Work BackwardWork(const OpView& op) {
  const TensorView weight = op.tensor(2);
  const Count each =
      work::Elements(op.self()) * weight.size(1) * work::Elements(window::Spatial(weight.sizes()));
  Work w;
  for (std::size_t i = 0; i < 2; ++i) {
    if (Wants(op, i)) w.mac += each;
  }
  return w;
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Convolution(const Words& words, ShapeFn shape, WorkFn work, AllocationsFn cuda) {
  return Kernel(Family::kConvolution, words,
                {shape, Fusion::kOutFusable, DeviceAllocations{allocations::OutputsOnly, cuda},
                 work, kNoGradient, precision::kFollow});
}

constexpr Signature kBackwardSignature =
    "(Tensor grad_output, Tensor input, Tensor weight, SymInt[] stride, SymInt[] padding, SymInt[] "
    "dilation, bool transposed, SymInt groups, bool[2] output_mask) -> (Tensor, Tensor)";

constexpr std::array kRows{
    Casting(precision::kLowOnCuda,
            Convolution(
                {"aten::cudnn_convolution", "Convolution by cuDNN.",
                 "(Tensor self, Tensor weight, SymInt[] padding, SymInt[] stride, SymInt[] "
                 "dilation, SymInt groups, bool benchmark, bool deterministic, bool allow_tf32) -> "
                 "Tensor",
                 "aten::cudnn_convolution(f32[2,4,8,8], f32[6,4,3,3], [1,1], [1,1], [1,1], 1, "
                 "False, False, False)"},
                CudnnShape, CudnnWork, CudnnAllocations)),
    Convolution({"aten::_conv_depthwise2d", "Convolution of each channel with kernels of its own.",
                 "(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] "
                 "stride, SymInt[2] padding, SymInt[2] dilation) -> Tensor",
                 "aten::_conv_depthwise2d(f32[2,4,8,8], f32[4,1,3,3], [3,3], f32[4], [1,1], [1,1], "
                 "[1,1])"},
                DepthwiseShape, DepthwiseWork, DepthwiseAllocations),
    Convolution({"aten::conv_depthwise3d",
                 "Convolution of each channel of a volume with kernels of its own.",
                 "(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, SymInt[3] "
                 "stride, SymInt[3] padding, SymInt[3] dilation) -> Tensor",
                 "aten::conv_depthwise3d(f32[2,4,4,8,8], f32[4,1,3,3,3], [3,3,3], f32[4], [1,1,1], "
                 "[1,1,1], [1,1,1])"},
                DepthwiseVolumeShape, DepthwiseWork, DepthwiseVolumeAllocations),
    Convolution({"steelyard::cudnn_convolution_backward",
                 "The gradients of a convolution by cuDNN, inside `convolution_backward`.",
                 kBackwardSignature,
                 "steelyard::cudnn_convolution_backward(f32[2,6,8,8], f32[2,4,8,8], f32[6,4,3,3], "
                 "[1,1], [1,1], [1,1], False, 1, [True,True])"},
                BackwardShape, BackwardWork, CudnnBackwardAllocations),
    Convolution({"steelyard::depthwise_convolution_backward",
                 "The gradients of a convolution channel by channel, inside "
                 "`convolution_backward`.",
                 kBackwardSignature,
                 "steelyard::depthwise_convolution_backward(f32[2,4,8,8], f32[2,4,8,8], "
                 "f32[4,1,3,3], [1,1], [1,1], [1,1], False, 4, [True,True])"},
                BackwardShape, BackwardWork, DepthwiseBackwardAllocations),
    Convolution({"steelyard::depthwise_volume_backward",
                 "The gradients of a convolution of volumes channel by channel, inside "
                 "`convolution_backward`.",
                 kBackwardSignature,
                 "steelyard::depthwise_volume_backward(f32[2,4,4,8,8], f32[2,4,4,8,8], "
                 "f32[4,1,3,3,3], [1,1,1], [1,1,1], [1,1,1], False, 4, [True,True])"},
                BackwardShape, BackwardWork, allocations::OutputsOnly),
};

}  // namespace

std::span<const OpDef> CudaConvolution() { return kRows; }

}  // namespace steelyard::ops
