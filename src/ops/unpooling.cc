// SPDX-License-Identifier: Apache-2.0
//
// Maxima put back where they stood, and maxima of windows at random places
// (ATen/native/MaxUnpooling.cpp, FractionalMaxPool*d.cpp).

#include <array>

#include "ops/cuda/copies.h"
#include "ops/cuda/determinism.h"
#include "ops/gradients/image.h"
#include "ops/gradients/image_backward.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// Images of that many dimensions, with channels and perhaps a batch before them.
void RequireImage(const TensorView& t, int spatial) {
  if (t.rank() == spatial + 1 || t.rank() == spatial + 2) return;
  Refuse(shape::Text(t) + " is no image");
}
// The sizes of the image with others behind its channels: argument i.
Dims WithSizes(const OpView& op, int i, int spatial) {
  const Dims wanted = window::PerDimension("output size", op.ints(i), spatial);
  shape::RequireSizes(wanted);
  Dims sizes(op.self().sizes().first(static_cast<std::size_t>(op.self().rank() - spatial)));
  for (const std::int64_t size : wanted) sizes.push_back(size);
  return sizes;
}

// --- max_unpool*d(self, indices, output_size, ...) ----------------------------------------------

template <int kSpatial>
void UnpoolShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), indices = op.tensor(1);
  RequireImage(self, kSpatial);
  if (indices.dtype() != DType::kInt64) Refuse("places are int64, not " + shape::Text(indices));
  if (!std::ranges::equal(self.sizes(), indices.sizes())) Refuse("one place for each maximum");
  const Dims sizes = WithSizes(op, 2, kSpatial);
  const bool on_cuda = op.target().device == Device::kCuda;
  if (kSpatial == 3 || on_cuda) return out.Add(self.dtype(), sizes);
  out.Add(self.dtype(), sizes, window::StridesLike(self, sizes));
}
template <int kSpatial>
void UnpoolAllocations(const OpView& op, Allocations& memory) {
  const auto in_order = [&](const TensorView& t) {
    const bool last = kSpatial == 2 && IsChannelsLast(op.self().sizes(), op.self().strides());
    std::optional<Allocations::Scratch> copy;
    if (!LiesDense(t, last)) copy = memory.Allocate(t.bytes(), "aten::empty");
    return copy;
  };
  const auto self = in_order(op.self()), indices = in_order(op.tensor(1));
  memory.Output(0, "aten::resize_");
  allocations::Free(indices, memory);
  allocations::Free(self, memory);
}
Work MoveMaxima(const OpView& op) { return {.move = work::Elements(op.self())}; }

// --- fractional_max_pool*d(self, kernel_size, output_size, random_samples) ----------------------

template <int kSpatial>
void FractionalShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), samples = op.tensor(3);
  RequireImage(self, kSpatial);
  if (!IsFloating(self.dtype()) || samples.dtype() != self.dtype()) {
    Refuse("an image and samples of one floating-point dtype are needed");
  }
  shape::RequireRank("the samples", samples, 3);
  const Dims sizes = WithSizes(op, 2, kSpatial);
  const Dims kernel = window::PerDimension("kernel size", op.ints(1), kSpatial);
  for (int i = 0; i < kSpatial; ++i) {
    const std::int64_t size = self.size(i - kSpatial);
    if (kernel[i] < 1 || sizes[sizes.size() - kSpatial + i] + kernel[i] - 1 > size) {
      Refuse("windows that do not fit into the image");
    }
  }
  out.Add(self.dtype(), sizes);
  out.Add(DType::kInt64, sizes);
}
void FractionalAllocations(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const auto self = allocations::Contiguous(op.self(), memory);
  allocations::Free(allocations::Contiguous(op.tensor(3), memory), memory);
  allocations::Free(self, memory);
}
Work FractionalWork(const OpView& op) {
  Count window = 1;
  for (const std::int64_t size : op.ints(1)) window = window * size;
  return {.compare = work::Elements(op.output()) * window};
}

// grad_output, self, kernel_size, output_size, indices
void ImageShape(const OpView& op, Outputs& out) {
  out.Add(op.tensor(1).dtype(), op.tensor(1).sizes());
}
// The gradient is copied for the shape and again for the kernel.
void FractionalBackwardAllocations(const OpView& op, Allocations& memory) {
  const auto copy = allocations::Contiguous(op.self(), memory);
  memory.Output(0);
  allocations::Free(copy, memory);
  allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}
void FractionalVolumeBackwardAllocations(const OpView& op, Allocations& memory) {
  const auto copy = allocations::Contiguous(op.self(), memory);
  memory.Output(0, "aten::resize_");
  allocations::Free(copy, memory);
}
Work AddGradient(const OpView& op) { return {.alu = work::Elements(op.self())}; }

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Pool(const Words& words, ShapeFn shape, DeviceAllocations allocations, WorkFn work,
                     Gradient grad, Precision precision = precision::kFullOnCpu) {
  return OpaqueKernel(Family::kPooling, words, shape, allocations, work, grad, precision);
}

constexpr std::array kRows{
    Pool({"aten::max_unpool2d", "Maxima where they stood in an image of zeros.",
          "(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
          "aten::max_unpool2d(f32[2,3,4,4], i64[2,3,4,4], [8,8])"},
         cuda::Unordered<UnpoolShape<2>>, {UnpoolAllocations<2>, cuda::CopiesThenOutputs<0, 1>},
         MoveMaxima, gradients::kMaxUnpool2d),
    Pool({"aten::max_unpool3d", "Maxima where they stood in a volume of zeros.",
          "(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> "
          "Tensor",
          "aten::max_unpool3d(f32[2,3,4,4,4], i64[2,3,4,4,4], [8,8,8], [2,2,2], [0,0,0])"},
         cuda::Unordered<UnpoolShape<3>>, {UnpoolAllocations<3>, cuda::CopiesThenOutputs<0, 1>},
         MoveMaxima, gradients::kMaxUnpool3d),
    Pool({"aten::fractional_max_pool2d", "Maxima of windows at random places of an image.",
          "(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> "
          "(Tensor, Tensor)",
          "aten::fractional_max_pool2d(f32[2,3,8,8], [2,2], [4,4], f32[2,3,2])"},
         FractionalShape<2>, FractionalAllocations, FractionalWork,
         gradients::kFractionalMaxPool2d),
    Pool({"aten::fractional_max_pool3d", "Maxima of windows at random places of a volume.",
          "(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> "
          "(Tensor, Tensor)",
          "aten::fractional_max_pool3d(f32[2,3,8,8,8], [2,2,2], [4,4,4], f32[2,3,3])"},
         FractionalShape<3>, FractionalAllocations, FractionalWork,
         gradients::kFractionalMaxPool3d),
    Differentiable(
        gradients::OfMaxima<4, 2>("FractionalMaxPool2DBackwardBackward0"),
        Pool({"aten::fractional_max_pool2d_backward",
              "The gradient of an image by where maxima stood.",
              "(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor "
              "indices) -> Tensor",
              "aten::fractional_max_pool2d_backward(f32[2,3,4,4], f32[2,3,8,8], [2,2], [4,4], "
              "i64[2,3,4,4])"},
             cuda::Unordered<ImageShape>,
             {FractionalBackwardAllocations, cuda::CopiesThenOutputs<0>}, AddGradient,
             kGradientUnknown, precision::kFollow)),
    Differentiable(
        gradients::OfMaxima<4, 3>("FractionalMaxPool3DBackwardBackward0"),
        Pool({"aten::fractional_max_pool3d_backward",
              "The gradient of a volume by where maxima stood.",
              "(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor "
              "indices) -> Tensor",
              "aten::fractional_max_pool3d_backward(f32[2,3,4,4,4], f32[2,3,8,8,8], [2,2,2], "
              "[4,4,4], i64[2,3,4,4,4])"},
             cuda::Unordered<ImageShape>, FractionalVolumeBackwardAllocations, AddGradient,
             kGradientUnknown, precision::kFollow)),
};

}  // namespace

std::span<const OpDef> Unpooling() { return kRows; }

}  // namespace steelyard::ops
