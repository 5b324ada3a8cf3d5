// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels of pools, upsampling, borders and columns. They add into zeros of the image's
// size; operands that do not lie in the order in which a kernel walks are copied into it
// (ATen/native/*Pool*.cpp, UpSample*.cpp, ReflectionPad.cpp, ReplicationPadding.cpp, Col2Im.cpp and
// the kernels below cpu/).

#include "ops/gradients/image_backward.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/determinism.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/label.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using Scratch = std::optional<Allocations::Scratch>;

enum class Order : std::uint8_t { kRows, kChannelsLast };

// The order that a tensor suggests.
Order OrderOf(const TensorView& t) {
  return IsChannelsLast(t.sizes(), t.strides()) ? Order::kChannelsLast : Order::kRows;
}

bool LiesIn(Order order, const TensorView& t) {
  return LiesDense(t, order == Order::kChannelsLast);
}

// Copies of those that do not lie in that order.
void Reorder(Order order, std::initializer_list<TensorView> tensors, Allocations& memory) {
  std::vector<Scratch> copies;
  for (const TensorView& t : tensors) {
    if (!LiesIn(order, t)) copies.emplace_back(memory.Allocate(t.bytes(), "aten::empty"));
  }
  for (std::size_t i = copies.size(); i-- > 0;) allocations::Free(copies[i], memory);
}

// --- Shapes: (grad_output, self, ...) ------------------------------------------------------------

void LikeImageShape(const OpView& op, Outputs& out) {
  const TensorView image = op.tensor(1);
  out.Add(image.dtype(), image.sizes(), window::StridesLike(image, image.sizes()));
}

void RowMajorShape(const OpView& op, Outputs& out) {
  out.Add(op.tensor(1).dtype(), op.tensor(1).sizes());
}

// On CUDA row by row whatever the image is.
void PaddedShape(const OpView& op, Outputs& out) {
  op.target().device == Device::kCuda ? RowMajorShape(op, out) : LikeImageShape(op, out);
}

// --- Allocations ---------------------------------------------------------------------------------

// Kernels walk in the order of the gradient; the result is copied first where its channels are
// adjacent, else last.
template <Label kFactory>
void PoolAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, kFactory.view());
  const Order order = OrderOf(op.self());
  if (order == Order::kRows) return Reorder(order, {op.self(), op.output()}, memory);
  Reorder(order, {op.output(), op.self()}, memory);
}

// The same with the positions of maxima.
template <Label kFactory>
void MaxPoolAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, kFactory.view());
  const Order order = OrderOf(op.self());
  const TensorView indices = op.tensor(7);
  if (order == Order::kRows) return Reorder(order, {op.self(), indices, op.output()}, memory);
  Reorder(order, {op.output(), op.self(), indices}, memory);
}

// This one walks in the order of the image.
void AdaptiveMaxAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  Reorder(OrderOf(op.tensor(1)), {op.self(), op.tensor(2)}, memory);
}

// Kernels that write rows whatever the image is.
template <Label kFactory>
void RowsAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, kFactory.view());
  Reorder(Order::kRows, {op.self()}, memory);
}

// These write rows.
void RowsUpsampleAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  Reorder(Order::kRows, {op.self()}, memory);
}

// These walk in rows unless the gradient's channels lie last.
void UpsampleAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const bool last = LiesIn(Order::kChannelsLast, op.self());
  Reorder(last ? Order::kChannelsLast : Order::kRows, {op.self(), op.output()}, memory);
}

// These walk in rows and write what has been asked for.
void AntialiasAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  Reorder(Order::kRows, {op.self(), op.output()}, memory);
}

// On CUDA they walk in the order of the image.
void PoolOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView image = op.tensor(1);
  Reorder(OrderOf(image), {image, op.self()}, memory);
}
void MaxPoolOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView image = op.tensor(1);
  Reorder(OrderOf(image), {image, op.self(), op.tensor(7)}, memory);
}
void MaxVolumeOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  Reorder(OrderOf(op.tensor(1)), {op.self(), op.tensor(7)}, memory);
}

void AdaptiveMaxOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  Reorder(Order::kRows, {op.self(), op.tensor(2), op.output()}, memory);
}

// Averages of images whose channels lie last are read as they lie.
void AdaptiveAverageOnCuda(const OpView& op, Allocations& memory) {
  if (OrderOf(op.tensor(1)) == Order::kChannelsLast) return memory.Output(0);
  PoolAllocations<"aten::resize_">(op, memory);
}

// Few channels are not worth walking channels last.
void UpsampleOnCuda(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kLeastChannels = 4;
  memory.Output(0);
  const TensorView gradient = op.self();
  if (gradient.rank() == 4 && gradient.size(1) >= kLeastChannels &&
      LiesIn(Order::kChannelsLast, gradient) && LiesIn(Order::kChannelsLast, op.output()))
    return;
  Reorder(Order::kRows, {op.output(), gradient}, memory);
}

// Between images of one size it copies, whatever the order.
void BilinearOnCuda(const OpView& op, Allocations& memory) {
  if (std::ranges::equal(op.self().sizes(), op.output().sizes())) return memory.Output(0);
  UpsampleOnCuda(op, memory);
}

// These write what has been asked for.
void GradientInRows(const OpView& op, Allocations& memory) {
  memory.Output(0);
  Reorder(Order::kRows, {op.self()}, memory);
}

// An addition for each element of the gradient.
Work AddGradient(const OpView& op) { return {.alu = work::Elements(op.self())}; }
// A product and an addition for each neighbour.
template <int kNeighbours>
Work Interpolate(const OpView& op) {
  return {.alu = work::Elements(op.self()) * (std::int64_t{2} * kNeighbours)};
}

// --- Pools ---------------------------------------------------------------------------------------

// (grad_output, output_size, input_size, ...)
template <int kRank>
Dims ImageSizes(const OpView& op) {
  Dims sizes = op.ints(2);
  shape::RequireRank("the gradient", op.self(), kRank);
  if (sizes.size() != kRank) Refuse(fmt::format("an image of {} dimensions", sizes.size()));
  shape::RequireSizes(sizes);
  return sizes;
}
template <int kRank>
void RowsUpsampleShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), ImageSizes<kRank>(op));
}
template <int kRank>
void UpsampleShape(const OpView& op, Outputs& out) {
  const Dims sizes = ImageSizes<kRank>(op);
  out.Add(op.self().dtype(), sizes, window::StridesLike(op.self(), sizes));
}

// --- col2im(self, output_size, kernel_size, dilation, padding, stride) ---------------------------

// An empty tensor like the columns is made first and then resized to the image: where that is
// smaller, it keeps the storage of the columns.
void ColumnStorageShape(const OpView& op, Outputs& out) {
  const Count pixels = work::Elements(std::span<const std::int64_t>(op.ints(1)));
  out.Add(op.self().dtype(), Dims{std::max(op.self().count(), pixels.value())});
}

void ColumnStorageAllocations(const OpView& op, Allocations& memory) {
  if (op.output().count() > op.self().count()) {
    const Allocations::Scratch like = memory.Allocate(op.self().bytes(), "aten::empty");
    memory.Output(0, "aten::resize_");
    memory.Free(like, "aten::resize_");
  } else {
    memory.Output(0, "aten::empty");
  }
  if (!op.self().is_contiguous()) {
    memory.Free(memory.Allocate(op.self().bytes(), "aten::empty"), Allocations::kCaller);
  }
}

std::vector<Tensor> Col2Im(Dispatcher& d, const OpView& op) {
  const TensorView columns = op.self();
  if (columns.rank() != 2 && columns.rank() != 3) {
    Refuse(fmt::format("columns are a matrix or a batch of them, not {}", shape::Text(columns)));
  }
  const Dims image = window::PerDimension("output size", op.ints(1), 2);
  const Dims kernel = window::PerDimension("kernel size", op.ints(2), 2);
  const std::int64_t window = kernel[0] * kernel[1];
  if (window <= 0 || columns.size(-2) % window != 0) {
    Refuse(fmt::format("{} rows of windows of {}", columns.size(-2), window));
  }
  Dims sizes;
  if (columns.rank() == 3) sizes.push_back(columns.size(0));
  sizes.push_back(columns.size(-2) / window);
  for (std::int64_t size : image) sizes.push_back(size);
  const Tensor storage = d.Call("steelyard::column_storage", op.arg(0), sizes, op.arg(2), op.arg(3),
                                op.arg(4), op.arg(5));
  return {d.Call("aten::as_strided", storage, sizes, ContiguousStrides(sizes))};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Kernel(Family family, OpName name, std::string_view summary, Signature signature,
                       std::string_view example, AllocationsFn on_cpu, ShapeFn shape, WorkFn work,
                       AllocationsFn on_cuda) {
  return Kernel(family, {name, summary, signature, example},
                {shape, Fusion::kOpaque, DeviceAllocations{on_cpu, on_cuda}, work, kGradientUnknown,
                 precision::kFollow});
}

// What CUDA allocates as the CPU does.
constexpr OpDef Kernel(Family family, OpName name, std::string_view summary, Signature signature,
                       std::string_view example, AllocationsFn allocations,
                       ShapeFn shape = LikeImageShape, WorkFn work = AddGradient) {
  return Kernel(family, name, summary, signature, example, allocations, shape, work, allocations);
}

constexpr std::array kRows{
    Differentiable(
        gradients::OfMaxima<7, 2>("MaxPool2DWithIndicesBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::max_pool2d_with_indices_backward",
            "The gradient of a max pool.",
            "(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, "
            "int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
            "aten::max_pool2d_with_indices_backward(f32[2,3,4,4], f32[2,3,8,8], [2,2], [2,2], "
            "[0,0], [1,1], False, i64[2,3,4,4])",
            MaxPoolAllocations<"aten::max_pool2d_with_indices_backward">, LikeImageShape,
            AddGradient, MaxPoolOnCuda)),
    Differentiable(
        gradients::OfMaxima<7, 3>("MaxPool3DWithIndicesBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::max_pool3d_with_indices_backward",
            "The gradient of a max pool.",
            "(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, "
            "int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor",
            "aten::max_pool3d_with_indices_backward(f32[2,3,2,4,4], f32[2,3,4,8,8], [2,2,2], "
            "[2,2,2], [0,0,0], [1,1,1], False, i64[2,3,2,4,4])",
            MaxPoolAllocations<"aten::resize_">, cuda::Unordered<LikeImageShape>, AddGradient,
            MaxVolumeOnCuda)),
    Differentiable(
        gradients::OfMaxima<2, 2>("AdaptiveMaxPool2DBackwardBackward0"),
        Kernel(Family::kPooling, "aten::adaptive_max_pool2d_backward",
               "The gradient of an adaptive max pool.",
               "(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
               "aten::adaptive_max_pool2d_backward(f32[2,3,3,3], f32[2,3,8,8], i64[2,3,3,3])",
               AdaptiveMaxAllocations, cuda::Unordered<LikeImageShape>, AddGradient,
               AdaptiveMaxOnCuda)),
    Differentiable(
        gradients::OfMaxima<2, 3>("AdaptiveMaxPool3DBackwardBackward0"),
        Kernel(Family::kPooling, "aten::adaptive_max_pool3d_backward",
               "The gradient of an adaptive max pool of volumes.",
               "(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
               "aten::adaptive_max_pool3d_backward(f32[2,3,3,3,3], f32[2,3,8,8,8], i64[2,3,3,3,3])",
               RowsAllocations<"">, RowMajorShape)),
    Differentiable(
        gradients::OfForward<"aten::avg_pool2d">("AvgPool2DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::avg_pool2d_backward", "The gradient of an average pool.",
            "(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, "
            "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
            "aten::avg_pool2d_backward(f32[2,3,4,4], f32[2,3,8,8], [2,2], [2,2], [0,0], False, "
            "True, None)",
            PoolAllocations<"aten::avg_pool2d_backward">, LikeImageShape, AddGradient, PoolOnCuda)),
    Differentiable(
        gradients::OfForward<"aten::avg_pool3d">("AvgPool3DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::avg_pool3d_backward", "The gradient of an average pool.",
            "(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, "
            "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
            "aten::avg_pool3d_backward(f32[2,3,2,4,4], f32[2,3,4,8,8], [2,2,2], [2,2,2], [0,0,0], "
            "False, True, None)",
            RowsAllocations<"aten::avg_pool3d_backward">, cuda::Unordered<RowMajorShape>)),
    Differentiable(
        gradients::OfAdaptivePool<"aten::_adaptive_avg_pool2d", 2>(
            "AdaptiveAvgPool2DBackwardBackward0"),
        CopyingOut(Kernel(Family::kPooling, "aten::_adaptive_avg_pool2d_backward",
                          "The gradient of an adaptive average pool.",
                          "(Tensor grad_output, Tensor self) -> Tensor",
                          "aten::_adaptive_avg_pool2d_backward(f32[2,3,3,3], f32[2,3,8,8])",
                          PoolAllocations<"aten::resize_">, cuda::Unordered<LikeImageShape>,
                          AddGradient, AdaptiveAverageOnCuda))),
    Differentiable(
        gradients::OfAdaptivePool<"aten::_adaptive_avg_pool3d", 3>(
            "AdaptiveAvgPool3DBackwardBackward0"),
        CopyingOut(Kernel(Family::kPooling, "aten::_adaptive_avg_pool3d_backward",
                          "The gradient of an adaptive average pool.",
                          "(Tensor grad_output, Tensor self) -> Tensor",
                          "aten::_adaptive_avg_pool3d_backward(f32[2,3,2,3,3], f32[2,3,4,8,8])",
                          RowsAllocations<"aten::empty">, cuda::Unordered<RowMajorShape>))),
    Differentiable(
        gradients::OfUpsample<"aten::upsample_nearest2d">("UpsampleNearest2DBackwardBackward0"),
        Kernel(Family::kPooling, "aten::upsample_nearest2d_backward",
               "The gradient of upsampling by the nearest pixel.",
               "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? "
               "scales_h=None, float? scales_w=None) -> Tensor",
               "aten::upsample_nearest2d_backward(f32[2,3,8,8], [8,8], [2,3,4,4])",
               UpsampleAllocations, UpsampleShape<4>, AddGradient, UpsampleOnCuda)),
    Differentiable(
        gradients::OfUpsample<"aten::_upsample_nearest_exact2d">(
            "UpsampleNearestExact2DBackwardBackward0"),
        Kernel(Family::kPooling, "aten::_upsample_nearest_exact2d_backward",
               "The gradient of upsampling by the nearest pixel.",
               "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? "
               "scales_h=None, float? scales_w=None) -> Tensor",
               "aten::_upsample_nearest_exact2d_backward(f32[2,3,8,8], [8,8], [2,3,4,4])",
               UpsampleAllocations, UpsampleShape<4>, AddGradient, UpsampleOnCuda)),
    Differentiable(
        gradients::OfUpsample<"aten::upsample_bilinear2d">("UpsampleBilinear2DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::upsample_bilinear2d_backward",
            "The gradient of upsampling between pixels.",
            "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, "
            "float? scales_h=None, float? scales_w=None) -> Tensor",
            "aten::upsample_bilinear2d_backward(f32[2,3,8,8], [8,8], [2,3,4,4], False)",
            UpsampleAllocations, cuda::Unordered<UpsampleShape<4>>, Interpolate<4>,
            BilinearOnCuda)),
    Differentiable(
        gradients::OfUpsample<"aten::upsample_nearest1d">("UpsampleNearest1DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::upsample_nearest1d_backward",
            "The gradient of upsampling by the nearest element.",
            "(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None) "
            "-> Tensor",
            "aten::upsample_nearest1d_backward(f32[2,3,8], [8], [2,3,4])", UpsampleAllocations,
            UpsampleShape<3>)),
    Differentiable(
        gradients::OfUpsample<"aten::_upsample_nearest_exact1d">(
            "UpsampleNearestExact1DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::_upsample_nearest_exact1d_backward",
            "The gradient of upsampling by the nearest element.",
            "(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None) "
            "-> Tensor",
            "aten::_upsample_nearest_exact1d_backward(f32[2,3,8], [8], [2,3,4])",
            UpsampleAllocations, UpsampleShape<3>)),
    Differentiable(
        gradients::OfUpsample<"aten::upsample_nearest3d">("UpsampleNearest3DBackwardBackward0"),
        Kernel(Family::kPooling, "aten::upsample_nearest3d_backward",
               "The gradient of upsampling by the nearest element.",
               "(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? "
               "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
               "aten::upsample_nearest3d_backward(f32[2,3,8,8,8], [8,8,8], [2,3,4,4,4])",
               UpsampleAllocations, RowsUpsampleShape<5>, AddGradient, UpsampleOnCuda)),
    Differentiable(
        gradients::OfUpsample<"aten::_upsample_nearest_exact3d">(
            "UpsampleNearestExact3DBackwardBackward0"),
        Kernel(Family::kPooling, "aten::_upsample_nearest_exact3d_backward",
               "The gradient of upsampling by the nearest element.",
               "(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? "
               "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
               "aten::_upsample_nearest_exact3d_backward(f32[2,3,8,8,8], [8,8,8], [2,3,4,4,4])",
               UpsampleAllocations, RowsUpsampleShape<5>, AddGradient, UpsampleOnCuda)),
    Differentiable(
        gradients::OfUpsample<"aten::upsample_linear1d">("UpsampleLinear1DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::upsample_linear1d_backward",
            "The gradient of upsampling between elements.",
            "(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, bool align_corners, "
            "float? scales=None) -> Tensor",
            "aten::upsample_linear1d_backward(f32[2,3,6], [6], [2,3,4], False)",
            UpsampleAllocations, cuda::Unordered<UpsampleShape<3>>, Interpolate<2>)),
    Differentiable(
        gradients::OfUpsample<"aten::upsample_trilinear3d">("UpsampleTrilinear3DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::upsample_trilinear3d_backward",
            "The gradient of upsampling between elements.",
            "(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, bool align_corners, "
            "float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
            "aten::upsample_trilinear3d_backward(f32[2,3,6,6,6], [6,6,6], [2,3,4,4,4], False)",
            UpsampleAllocations, cuda::Unordered<UpsampleShape<5>>, Interpolate<8>)),
    Differentiable(
        gradients::OfUpsample<"aten::upsample_bicubic2d">("UpsampleBicubic2DBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::upsample_bicubic2d_backward",
            "The gradient of upsampling on curves.",
            "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, "
            "float? scales_h=None, float? scales_w=None) -> Tensor",
            "aten::upsample_bicubic2d_backward(f32[2,3,6,6], [6,6], [2,3,4,4], False)",
            RowsUpsampleAllocations, cuda::Unordered<RowsUpsampleShape<4>>, Interpolate<16>)),
    Differentiable(
        gradients::OfUpsample<"aten::_upsample_bilinear2d_aa">(
            "UpsampleBilinear2DAaBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::_upsample_bilinear2d_aa_backward",
            "The gradient of means under a triangle.",
            "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, "
            "float? scales_h=None, float? scales_w=None) -> Tensor",
            "aten::_upsample_bilinear2d_aa_backward(f32[2,3,3,5], [3,5], [2,3,8,8], False)",
            AntialiasAllocations, cuda::Unordered<UpsampleShape<4>>, Interpolate<4>,
            GradientInRows)),
    Differentiable(
        gradients::OfUpsample<"aten::_upsample_bicubic2d_aa">(
            "UpsampleBicubic2DAaBackwardBackward0"),
        Kernel(
            Family::kPooling, "aten::_upsample_bicubic2d_aa_backward",
            "The gradient of means under a curve.",
            "(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, "
            "float? scales_h=None, float? scales_w=None) -> Tensor",
            "aten::_upsample_bicubic2d_aa_backward(f32[2,3,4,4], [4,4], [2,3,8,8], False)",
            RowsUpsampleAllocations, cuda::Unordered<RowsUpsampleShape<4>>, Interpolate<16>)),
    Differentiable(
        gradients::OfForward<"aten::reflection_pad1d">("ReflectionPad1DBackwardBackward0"),
        Kernel(Family::kDataMovement, "aten::reflection_pad1d_backward",
               "The gradient of mirrored borders.",
               "(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor",
               "aten::reflection_pad1d_backward(f32[2,3,7], f32[2,3,4], [1,2])",
               RowsAllocations<"aten::reflection_pad1d_backward">, cuda::Unordered<RowMajorShape>)),
    Differentiable(
        gradients::OfForward<"aten::reflection_pad2d">("ReflectionPad2DBackwardBackward0"),
        Kernel(Family::kDataMovement, "aten::reflection_pad2d_backward",
               "The gradient of mirrored borders.",
               "(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor",
               "aten::reflection_pad2d_backward(f32[2,3,5,8], f32[2,3,4,5], [1,2,1,0])",
               PoolAllocations<"aten::empty">, PaddedShape, AddGradient, GradientInRows)),
    Differentiable(
        gradients::OfForward<"aten::reflection_pad3d">("ReflectionPad3DBackwardBackward0"),
        Kernel(Family::kDataMovement, "aten::reflection_pad3d_backward",
               "The gradient of mirrored borders.",
               "(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor",
               "aten::reflection_pad3d_backward(f32[2,3,7,6,8], f32[2,3,4,5,5], [1,2,1,0,2,1])",
               PoolAllocations<"aten::reflection_pad3d_backward">, cuda::Unordered<PaddedShape>,
               AddGradient, allocations::OutputsOnly)),
    Differentiable(
        gradients::OfForward<"aten::replication_pad1d">("ReplicationPad1DBackwardBackward0"),
        Kernel(Family::kDataMovement, "aten::replication_pad1d_backward",
               "The gradient of repeated edges.",
               "(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor",
               "aten::replication_pad1d_backward(f32[2,3,7], f32[2,3,4], [1,2])",
               RowsAllocations<"aten::replication_pad1d_backward">, cuda::Unordered<RowMajorShape>,
               AddGradient, allocations::OutputsOnly)),
    Differentiable(
        gradients::OfForward<"aten::replication_pad2d">("ReplicationPad2DBackwardBackward0"),
        Kernel(Family::kDataMovement, "aten::replication_pad2d_backward",
               "The gradient of repeated edges.",
               "(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor",
               "aten::replication_pad2d_backward(f32[2,3,5,8], f32[2,3,4,5], [1,2,1,0])",
               PoolAllocations<"aten::empty">, cuda::Unordered<PaddedShape>, AddGradient,
               allocations::OutputsOnly)),
    Differentiable(
        gradients::OfForward<"aten::replication_pad3d">("ReplicationPad3DBackwardBackward0"),
        Kernel(Family::kDataMovement, "aten::replication_pad3d_backward",
               "The gradient of repeated edges.",
               "(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor",
               "aten::replication_pad3d_backward(f32[2,3,7,6,8], f32[2,3,4,5,5], [1,2,1,0,2,1])",
               PoolAllocations<"aten::empty">, cuda::Unordered<PaddedShape>, AddGradient,
               allocations::OutputsOnly)),
    Kernel(Family::kPooling, "steelyard::column_storage",
           "Columns added up, in room for them or their image, inside `col2im`.",
           "(Tensor self, SymInt[] sizes, int[2] kernel_size, int[2] dilation, int[2] padding, "
           "int[2] stride) -> Tensor",
           "steelyard::column_storage(f32[2,27,64], [2,3,8,8], [3,3], [1,1], [1,1], [1,1])",
           ColumnStorageAllocations, ColumnStorageShape),
    Composite("aten::col2im", "Columns added up to the image whose windows they are.",
              "(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] "
              "padding, int[2] stride) -> Tensor",
              "aten::col2im(f32[2,27,64], [8,8], [3,3], [1,1], [1,1], [1,1])", Family::kPooling,
              Col2Im, precision::kFollow, gradients::kCol2Im),
};

}  // namespace

std::span<const OpDef> ImageBackward() { return kRows; }

}  // namespace steelyard::ops
