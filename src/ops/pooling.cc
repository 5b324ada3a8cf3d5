// SPDX-License-Identifier: Apache-2.0
//
// Pools, upsampling and windows as columns (ATen/native/DilatedMaxPool2d.cpp, AveragePool2d.cpp,
// AdaptiveAveragePooling.cpp, UpSample*.cpp, Im2Col.cpp). Images come with or without a batch.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/copies.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/interpolation.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Shapes -------------------------------------------------------------------------------------

// Images of `spatial` dimensions with channels and perhaps a batch before them.
void RequireImage(const TensorView& t, int spatial) {
  if (t.rank() == spatial + 1 || t.rank() == spatial + 2) return;
  Refuse(fmt::format("a pool over {} dimensions of {}", spatial, shape::Text(t)));
}

std::span<const std::int64_t> LastSizes(const TensorView& t, int spatial) {
  return t.sizes().last(static_cast<std::size_t>(spatial));
}

// The sizes of `image` with other last ones.
Dims WithLast(const TensorView& image, std::span<const std::int64_t> last) {
  Dims sizes(image.sizes().first(image.sizes().size() - last.size()));
  for (std::int64_t size : last) sizes.push_back(size);
  return sizes;
}

// What is left out of max and average pools' arguments means: the kernel's size again.
Dims StrideOf(const OpView& op, const Dims& kernel) {
  const Dims stride = op.ints(2);
  return stride.empty() ? kernel : window::PerDimension("stride", stride, kernel.size());
}

// (self, kernel_size, stride, padding, dilation, ceil_mode).
window::Window MaxWindow(const OpView& op, int spatial) {
  const Dims kernel = window::PerDimension("kernel size", op.ints(1), spatial);
  return {kernel, StrideOf(op, kernel), window::PerDimension("padding", op.ints(3), spatial),
          window::PerDimension("dilation", op.ints(4), spatial),
          op.boolean(5) ? window::Rounding::kUp : window::Rounding::kDown};
}

// (self, kernel_size, stride, padding, ceil_mode, ...).
window::Window AverageWindow(const OpView& op, int spatial) {
  const Dims kernel = window::PerDimension("kernel size", op.ints(1), spatial);
  return {kernel, StrideOf(op, kernel), window::PerDimension("padding", op.ints(3), spatial),
          Dims::Filled(spatial, 1),
          op.boolean(4) ? window::Rounding::kUp : window::Rounding::kDown};
}

Dims PooledSizes(const TensorView& image, const window::Window& window) {
  const int spatial = window.kernel.size();
  RequireImage(image, spatial);
  return WithLast(image, window::OutputSizes(LastSizes(image, spatial), window));
}

// The maxima and, unless only values are asked for, their positions.
enum class Gives : std::uint8_t { kValues, kValuesAndIndices };

template <int kSpatial, Gives kGives>
void MaxPoolShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self();
  const Dims sizes = PooledSizes(image, MaxWindow(op, kSpatial));
  const Dims strides = window::StridesLike(image, sizes);
  out.Add(image.dtype(), sizes, strides);
  if (kGives == Gives::kValuesAndIndices) out.Add(DType::kInt64, sizes, strides);
}

template <int kSpatial>
void AveragePoolShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self();
  const Dims sizes = PooledSizes(image, AverageWindow(op, kSpatial));
  // In three dimensions the result is row-major whatever the image is.
  if (kSpatial == 3) return out.Add(image.dtype(), sizes);
  out.Add(image.dtype(), sizes, window::StridesLike(image, sizes));
}

// The wanted sizes; None keeps the image's.
Dims AdaptiveSizes(const OpView& op, int spatial) {
  const TensorView image = op.self();
  RequireImage(image, spatial);
  const Dims sizes = window::PerDimension("output size", op.ints(1), spatial);
  shape::RequireSizes(sizes);
  return sizes;
}

template <int kSpatial>
void AdaptiveShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self();
  const Dims sizes = WithLast(image, AdaptiveSizes(op, kSpatial));
  if (kSpatial == 3) return out.Add(image.dtype(), sizes);
  out.Add(image.dtype(), sizes, window::StridesLike(image, sizes));
}

void AdaptiveMaxShape(const OpView& op, Outputs& out) {
  AdaptiveShape<2>(op, out);
  const Dims sizes = WithLast(op.self(), AdaptiveSizes(op, 2));
  out.Add(DType::kInt64, sizes, window::StridesLike(op.self(), sizes));
}

void AdaptiveMaxVolumeShape(const OpView& op, Outputs& out) {
  const Dims sizes = WithLast(op.self(), AdaptiveSizes(op, 3));
  out.Add(op.self().dtype(), sizes);
  out.Add(DType::kInt64, sizes);
}

// --- Allocations and work -----------------------------------------------------------------------

// An image in no dense order is copied once the outputs are there.
void CopyStrided(const TensorView& image, Allocations& memory) {
  if (IsContiguousChannelsLast(image.sizes(), image.strides())) return;
  allocations::Free(allocations::Contiguous(image, memory), memory);
}

void ContiguousPoolAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}

void PoolAllocations(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  CopyStrided(op.self(), memory);
}

// The same on CUDA, in the order that the image suggests; averages of volumes and all adaptive
// averages are made of contiguous ones.
void PoolOnCuda(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView image = op.self();
  const bool last = IsChannelsLast(image.sizes(), image.strides());
  if (!LiesDense(image, last)) memory.Free(memory.Allocate(image.bytes(), "aten::empty"));
}
constexpr DeviceAllocations kPool{PoolAllocations, PoolOnCuda};

// Results in another order than row by row are written there first.
void AdaptiveMaxOnCuda(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  if (op.output().count() == 0) return;
  std::vector<std::optional<Allocations::Scratch>> copies;
  for (const TensorView& t : {op.output(0), op.output(1), op.self()}) {
    copies.push_back(cuda::Contiguous(t, memory));
  }
  for (std::size_t i = copies.size(); i-- > 0;) allocations::Free(copies[i], memory);
}

void AdaptiveOnCuda(const OpView& op, Allocations& memory) {
  const TensorView image = op.self();
  const bool last = IsChannelsLast(image.sizes(), image.strides());
  if (last) return PoolOnCuda(op, memory);
  cuda::CopiesThenOutputs<0>(op, memory);
}

// The operator that calls frees the copy.
void MaxPool1dAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  if (const auto copy = allocations::Contiguous(op.self(), memory)) {
    memory.Free(*copy, Allocations::kCaller);
  }
}

void ResizedPoolAllocations(const OpView& op, Allocations& memory) {
  allocations::Via<"aten::resize_">(op, memory);
  CopyStrided(op.self(), memory);
}

// A maximum of every window.
template <int kSpatial>
Work MaxPoolWork(const OpView& op) {
  return {.alu = work::Elements(op.output()) * window::Elements(MaxWindow(op, kSpatial))};
}

// A sum of every window and a division.
template <int kSpatial>
Work AveragePoolWork(const OpView& op) {
  return {.alu = work::Elements(op.output()) * (window::Elements(AverageWindow(op, kSpatial)) + 1)};
}

// Every element of the image is in one window or, where they overlap, in two.
Work AdaptiveWork(const OpView& op) {
  return {.alu = work::Elements(op.self()) + work::Elements(op.output())};
}

// --- Composites ---------------------------------------------------------------------------------

std::vector<Tensor> MaxPool2d(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::max_pool2d_with_indices", op.arg(0), op.arg(1), op.arg(2), op.arg(3),
                 op.arg(4), op.arg(5))};
}

std::vector<Tensor> MaxPool3d(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::max_pool3d_with_indices", op.arg(0), op.arg(1), op.arg(2), op.arg(3),
                 op.arg(4), op.arg(5))};
}

// A list for one dimension as one for two: the row that is added is passed over one by one.
Dims WithRow(const OpView& op, int i, std::int64_t row) {
  const Dims list = op.ints(i);
  return list.empty() ? list : Dims{row, list[0]};
}

// On the CPU positions are found only for a gradient.
std::vector<Tensor> MaxPool1d(Dispatcher& d, const OpView& op) {
  const bool on_cpu = d.target().device == Device::kCpu;
  if (on_cpu && (!d.grad_enabled() || !op.self().value().requires_grad)) {
    return {d.Call("steelyard::max_pool1d_values", op.arg(0), op.arg(1), op.arg(2), op.arg(3),
                   op.arg(4), op.arg(5))};
  }
  const Tensor rows = d.Call("aten::unsqueeze", op.arg(0), -2);
  const Tensor pooled = d.Call("aten::max_pool2d_with_indices", rows, WithRow(op, 1, 1),
                               WithRow(op, 2, 1), WithRow(op, 3, 0), WithRow(op, 4, 1), op.arg(5));
  return {d.Call("aten::squeeze.dim", pooled, -2)};
}

std::vector<Tensor> MaxPool1dWithIndices(Dispatcher& d, const OpView& op) {
  RequireImage(op.self(), 1);
  const Tensor rows = d.Call("aten::unsqueeze", op.arg(0), -2);
  const std::vector<Tensor> pooled =
      d.CallMany("aten::max_pool2d_with_indices", rows, WithRow(op, 1, 1), WithRow(op, 2, 1),
                 WithRow(op, 3, 0), WithRow(op, 4, 1), op.arg(5));
  return {d.Call("aten::squeeze.dim", pooled[0], -2), d.Call("aten::squeeze.dim", pooled[1], -2)};
}
std::vector<Tensor> AdaptiveMax1d(Dispatcher& d, const OpView& op) {
  RequireImage(op.self(), 1);
  const Tensor rows = d.Call("aten::unsqueeze", op.arg(0), -2);
  const std::vector<Tensor> pooled =
      d.CallMany("aten::adaptive_max_pool2d", rows, WithRow(op, 1, 1));
  return {d.Call("aten::squeeze.dim", pooled[0], -2), d.Call("aten::squeeze.dim", pooled[1], -2)};
}

std::vector<Tensor> AveragePool1d(Dispatcher& d, const OpView& op) {
  RequireImage(op.self(), 1);
  const Tensor rows = d.Call("aten::unsqueeze", op.arg(0), -2);
  const Tensor pooled = d.Call("aten::avg_pool2d", rows, WithRow(op, 1, 1), WithRow(op, 2, 1),
                               WithRow(op, 3, 0), op.arg(4), op.arg(5));
  return {d.Call("aten::squeeze.dim", pooled, -2)};
}

std::vector<Tensor> AdaptiveAverage1d(Dispatcher& d, const OpView& op) {
  RequireImage(op.self(), 1);
  const Tensor rows = d.Call("aten::unsqueeze", op.arg(0), -2);
  return {d.Call("aten::squeeze.dim", d.Call("aten::adaptive_avg_pool2d", rows, WithRow(op, 1, 1)),
                 -2)};
}

// An average over the whole image is a mean; other sizes have a kernel.
template <int kSpatial, Label kKernel>
std::vector<Tensor> AdaptiveAverage(Dispatcher& d, const OpView& op) {
  const TensorView image = op.self();
  const Dims wanted = AdaptiveSizes(op, kSpatial);
  const bool whole =
      std::ranges::all_of(std::span<const std::int64_t>(wanted), [](auto n) { return n == 1; });
  if (!whole) return {d.Call(kOpNamed<kKernel>, op.arg(0), op.arg(1))};
  Dims last;
  for (int dim = -1; dim >= -kSpatial; --dim) last.push_back(dim);
  const Tensor mean = d.Call("aten::mean.dim", op.arg(0), last, true);
  if (!IsChannelsLast(image.sizes(), image.strides())) return {mean};
  Dims sizes{image.size(0), image.size(1)}, strides{image.size(1), 1};
  for (int dim = 0; dim < kSpatial; ++dim) {
    sizes.push_back(1);
    strides.push_back(image.size(1));
  }
  return {d.Call("aten::as_strided_", mean, sizes, strides)};
}

// --- Upsampling: upsample_*2d(self, output_size, ...) -------------------------------------------

void UpsampleShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self();
  shape::RequireRank("the image", image, 4);
  const Dims wanted = window::PerDimension("output size", op.ints(1), 2);
  shape::RequireSizes(wanted);
  const Dims sizes = WithLast(image, wanted);
  out.Add(image.dtype(), sizes, window::StridesLike(image, sizes));
}

// Small results are computed in channels-last order, large ones as they lie unless that is their
// order or, interpolated, they have three colours (_use_vectorized_kernel_cond_2d and
// upsample_bilinear2d_kernel_impl in UpSampleKernel.cpp).
constexpr std::int64_t kSmallSides = 128;  // height and width together
constexpr std::int64_t kColours = 3;

bool IsLastOrdered(const TensorView& t) { return IsContiguousChannelsLast(t.sizes(), t.strides()); }

// Images that are not in that order are copied into it, and the result out of it.
void ReorderAllocations(const OpView& op, Allocations& memory) {
  constexpr std::string_view kFactory = "aten::empty";
  std::optional<Allocations::Scratch> image, result;
  if (!IsLastOrdered(op.self())) image = memory.Allocate(op.self().bytes(), kFactory);
  if (!IsLastOrdered(op.output())) result = memory.Allocate(op.output().bytes(), kFactory);
  allocations::Free(result, memory);
  allocations::Free(image, memory);
}

// For every row and column of the result the places and weights of its neighbours.
template <int kNeighbours>
void UpsampleAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView image = op.self(), result = op.output();
  const bool small = result.size(2) <= kSmallSides - result.size(3);
  const bool ordered = IsLastOrdered(image) && image.size(1) > kColours;
  const bool colours = kNeighbours > 1 && image.size(1) == kColours;
  if (small || ordered || colours) return ReorderAllocations(op, memory);
  const DType weights = IsFloating(image.dtype()) ? image.dtype() : DType::kFloat32;
  std::vector<Allocations::Scratch> tables;
  for (int i = 0; i < 2 * kNeighbours; ++i) {
    const std::int64_t size = result.size(i < kNeighbours ? 2 : 3);
    for (const DType dtype : {DType::kInt64, weights}) {
      tables.push_back(memory.Allocate(allocations::Bytes(size, dtype), "aten::empty"));
    }
  }
  for (const Allocations::Scratch table : tables) memory.Free(table);
}

// upsample_*2d.vec: the output's sizes (argument 1) or factors (argument kFactors).
template <Label kKernel, int kFactors>
std::vector<Tensor> UpsampleByFactors(Dispatcher& d, const OpView& op) {
  const TensorView image = op.self();
  shape::RequireRank("the image", image, 4);
  Dims sizes = op.ints(1);
  if (!op.given(1)) {
    if (!op.given(kFactors) || op.arg(kFactors).kind != ArgKind::kList)
      Refuse("upsampling needs sizes or factors");
    int dim = 2;
    for (const Argument& factor : op.program().list(op.arg(kFactors).list)) {
      const double value =
          factor.kind == ArgKind::kFloat ? factor.real : static_cast<double>(factor.dim.number());
      const double size = std::floor(static_cast<double>(image.size(std::min(dim++, 3))) * value);
      if (!(size >= 0 && size < 1e15)) Refuse(fmt::format("an upsampling factor of {}", value));
      sizes.push_back(static_cast<std::int64_t>(size));
    }
  }
  if (kFactors == 3 && interpolation::IsWrittenOut(d))
    return {interpolation::Linear(d, d.tensor(op, 0), sizes, op.boolean(2))};
  if (kFactors == 3) return {d.Call(kOpNamed<kKernel>, op.arg(0), sizes, op.arg(2))};
  return {d.Call(kOpNamed<kKernel>, op.arg(0), sizes)};
}

// --- im2col(self, kernel_size, dilation, padding, stride) ---------------------------------------

window::Window ColumnWindow(const OpView& op) {
  return {window::PerDimension("kernel size", op.ints(1), 2),
          window::PerDimension("stride", op.ints(4), 2),
          window::PerDimension("padding", op.ints(3), 2),
          window::PerDimension("dilation", op.ints(2), 2)};
}

void Im2ColShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self();
  RequireImage(image, 2);
  const window::Window window = ColumnWindow(op);
  const Dims windows = window::OutputSizes(LastSizes(image, 2), window);
  const Count rows = window::Elements(window) * image.size(-3), columns = work::Elements(windows);
  Dims sizes(image.sizes().first(image.sizes().size() - 3));
  sizes.push_back(rows.value());
  sizes.push_back(columns.value());
  shape::RequireSizes(sizes);
  out.Add(image.dtype(), sizes);
}

// An empty tensor like the image is made first and then resized to the columns: where these are
// other than as many, its first storage dies in `resize_`.
void ColumnsOrImage(const OpView& op, Allocations& memory,
                    std::optional<Allocations::Scratch> (*contiguous)(const TensorView&,
                                                                      Allocations&)) {
  const TensorView image = op.self();
  const bool fits = op.output().count() == image.count();
  std::optional<Allocations::Scratch> like;
  if (fits) {
    memory.Output(0, "aten::empty");
  } else {
    like = memory.Allocate(image.bytes(), "aten::empty");
  }
  const std::optional<Allocations::Scratch> copy = contiguous(image, memory);
  if (!fits) {
    memory.Output(0, "aten::resize_");
    memory.Free(*like, "aten::resize_");
  }
  allocations::Free(copy, memory);
}

void Im2ColAllocations(const OpView& op, Allocations& memory) {
  ColumnsOrImage(op, memory, [](const TensorView& image, Allocations& out) {
    return allocations::Contiguous(image, out);
  });
}

void Im2ColOnCuda(const OpView& op, Allocations& memory) {
  ColumnsOrImage(op, memory, [](const TensorView& image, Allocations& out) {
    return cuda::Contiguous(image, out);
  });
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef PoolKernel(OpName name, std::string_view summary, Signature signature,
                           std::string_view example, Gradient grad, Fusion fusion, ShapeFn shape,
                           DeviceAllocations allocations, WorkFn work) {
  return Kernel(Family::kPooling, {name, summary, signature, example},
                {shape, fusion, allocations, work, grad, precision::kFollow});
}

constexpr OpDef PoolOf(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, DecomposeFn decompose,
                       Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kPooling, decompose,
                   precision::kFollow, grad);
}

// A weight for each of `neighbours` pixels and their sum.
template <int kNeighbours>
constexpr WorkFn kInterpolation = work::PerOutput<work::PerElement{.alu = 2 * kNeighbours - 1}>;

constexpr std::array kRows{
    PoolKernel("aten::max_pool2d_with_indices", "Largest value of each window, and where it is.",
               "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
               "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
               "aten::max_pool2d_with_indices(f32[2,3,9,9], [3,3], [2,2], [1,1])",
               gradients::kMaxPool2d, Fusion::kOutFusable,
               MaxPoolShape<2, Gives::kValuesAndIndices>, kPool, MaxPoolWork<2>),
    PoolKernel("aten::max_pool3d_with_indices", "Largest value of each window, and where it is.",
               "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] "
               "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
               "aten::max_pool3d_with_indices(f32[2,3,4,6,6], [2])", gradients::kMaxPool3d,
               Fusion::kOutFusable, MaxPoolShape<3, Gives::kValuesAndIndices>,
               {ResizedPoolAllocations, PoolOnCuda}, MaxPoolWork<3>),
    PoolKernel("steelyard::max_pool1d_values", "Largest value of each window, inside `max_pool1d`.",
               "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] "
               "dilation=[1], bool ceil_mode=False) -> Tensor",
               "steelyard::max_pool1d_values(f32[2,3,9], [3], [2], [1], [1], True)",
               kGradientUnknown, Fusion::kOutFusable, MaxPoolShape<1, Gives::kValues>,
               MaxPool1dAllocations, MaxPoolWork<1>),
    PoolOf("aten::max_pool1d", "Largest value of each window.",
           "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] "
           "dilation=[1], bool ceil_mode=False) -> Tensor",
           "aten::max_pool1d(f32[2,3,9], [3])", MaxPool1d),
    PoolOf("aten::max_pool2d", "Largest value of each window.",
           "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
           "dilation=1, bool ceil_mode=False) -> Tensor",
           "aten::max_pool2d(f32[2,3,9,9], [2,2], ceil_mode=True)", MaxPool2d),
    Casting(precision::kFullOnCpu,
            PoolOf("aten::max_pool3d", "Largest value of each window.",
                   "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] "
                   "dilation=1, bool ceil_mode=False) -> Tensor",
                   "aten::max_pool3d(f32[2,3,4,6,6], [2,2,2])", MaxPool3d)),
    PoolKernel(
        "aten::avg_pool2d", "Mean of each window.",
        "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool "
        "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
        "aten::avg_pool2d(f32[2,3,8,8]{192,1,24,3}, [2,2])", gradients::kAveragePool2d,
        Fusion::kOutFusable, AveragePoolShape<2>, kPool, AveragePoolWork<2>),
    Casting(
        precision::kFullOnCpu,
        PoolKernel(
            "aten::avg_pool3d", "Mean of each window.",
            "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool "
            "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
            "aten::avg_pool3d(f32[2,3,4,6,6], [2,2,2])", gradients::kAveragePool3d,
            Fusion::kOutFusable, AveragePoolShape<3>,
            {ContiguousPoolAllocations, cuda::OutputsThenCopies<0>}, AveragePoolWork<3>)),
    CopyingOut(
        PoolOf("aten::avg_pool1d", "Mean of each window.",
               "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool "
               "ceil_mode=False, bool count_include_pad=True) -> Tensor",
               "aten::avg_pool1d(f32[2,3,9], [3])", AveragePool1d)),
    CopyingOut(PoolKernel("aten::_adaptive_avg_pool2d",
                          "Means of as many windows as the output has pixels.",
                          "(Tensor self, SymInt[2] output_size) -> Tensor",
                          "aten::_adaptive_avg_pool2d(f32[2,3,8,8], [3,3])",
                          gradients::kAdaptiveAverage2d, Fusion::kOutFusable, AdaptiveShape<2>,
                          {ResizedPoolAllocations, AdaptiveOnCuda}, AdaptiveWork)),
    CopyingOut(PoolKernel(
        "aten::_adaptive_avg_pool3d", "Means of as many windows as the output has pixels.",
        "(Tensor self, SymInt[3] output_size) -> Tensor",
        "aten::_adaptive_avg_pool3d(f32[2,3,4,8,8], [2,3,3])", gradients::kAdaptiveAverage3d,
        Fusion::kOutFusable, AdaptiveShape<3>,
        {allocations::Via<"aten::resize_">, cuda::CopiesThenOutputs<0>}, AdaptiveWork)),
    PoolKernel(
        "aten::adaptive_max_pool2d", "Largest values of as many windows as the output has pixels.",
        "(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
        "aten::adaptive_max_pool2d(f32[2,3,8,8], [3,3])", gradients::kAdaptiveMax2d,
        Fusion::kOutFusable, AdaptiveMaxShape, {PoolAllocations, AdaptiveMaxOnCuda}, AdaptiveWork),
    Casting(precision::kFullOnCpu,
            PoolKernel("aten::adaptive_max_pool3d",
                       "Largest values of as many windows as the output has voxels.",
                       "(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
                       "aten::adaptive_max_pool3d(f32[2,3,8,8,8], [3,3,3])",
                       gradients::kAdaptiveMax3d, Fusion::kOutFusable, AdaptiveMaxVolumeShape,
                       {allocations::OutputsOnly, AdaptiveMaxOnCuda}, AdaptiveWork)),
    PoolOf("aten::adaptive_max_pool1d",
           "Largest values of as many windows as the output has elements.",
           "(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
           "aten::adaptive_max_pool1d(f32[2,3,8], [4])", AdaptiveMax1d),
    PoolOf("aten::max_pool1d_with_indices", "Largest values of windows, and where they stand.",
           "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] "
           "dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
           "aten::max_pool1d_with_indices(f32[2,3,8], [2])", MaxPool1dWithIndices),
    CopyingOut(PoolOf("aten::adaptive_avg_pool1d",
                      "Means of as many windows as the output has elements.",
                      "(Tensor self, int[1] output_size) -> Tensor",
                      "aten::adaptive_avg_pool1d(f32[2,3,8], [4])", AdaptiveAverage1d)),
    PoolOf("aten::adaptive_avg_pool2d", "Means of as many windows as the output has pixels.",
           "(Tensor self, SymInt[2] output_size) -> Tensor",
           "aten::adaptive_avg_pool2d(f32[2,3,8,8]{192,1,24,3}, [1,1])",
           AdaptiveAverage<2, "aten::_adaptive_avg_pool2d">),
    Casting(precision::kFullOnCpu, PoolOf("aten::adaptive_avg_pool3d",
                                          "Means of as many windows as the output has pixels.",
                                          "(Tensor self, SymInt[3] output_size) -> Tensor",
                                          "aten::adaptive_avg_pool3d(f32[2,3,4,8,8], [1,1,1])",
                                          AdaptiveAverage<3, "aten::_adaptive_avg_pool3d">)),
    Casting(precision::kFullOnCuda,
            PoolKernel(
                "aten::upsample_nearest2d", "The nearest pixel of a smaller or larger image.",
                "(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) "
                "-> Tensor",
                "aten::upsample_nearest2d(f32[2,3,4,4], [8,8])", gradients::kUpsampleNearest2d,
                Fusion::kInjective, UpsampleShape, {UpsampleAllocations<1>, cuda::Images<4>},
                work::Move)),
    Casting(
        precision::kFullOnCuda,
        PoolKernel(
            "aten::_upsample_nearest_exact2d", "The nearest pixel of a smaller or larger image.",
            "(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) "
            "-> Tensor",
            "aten::_upsample_nearest_exact2d(f32[2,3,4,4], [8,8])",
            gradients::kUpsampleNearestExact2d, Fusion::kInjective, UpsampleShape,
            {UpsampleAllocations<1>, cuda::Images<4>}, work::Move)),
    Casting(
        precision::kFullOnCuda,
        PoolKernel(
            "aten::upsample_bilinear2d", "Pixels between those of a smaller or larger image.",
            "(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, "
            "float? scales_w=None) -> Tensor",
            "aten::upsample_bilinear2d(f32[2,3,4,4], [6,6], False)", gradients::kUpsampleBilinear2d,
            Fusion::kInjective, UpsampleShape, UpsampleAllocations<2>, kInterpolation<4>)),
    CopyingOut(PoolOf("aten::upsample_nearest2d.vec", "The nearest pixel, by sizes or factors.",
                      "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
                      "aten::upsample_nearest2d.vec(f32[2,3,4,4], None, [2.0,2.0])",
                      UpsampleByFactors<"aten::upsample_nearest2d", 2>)),
    PoolOf("aten::_upsample_nearest_exact2d.vec", "The nearest pixel, by sizes or factors.",
           "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
           "aten::_upsample_nearest_exact2d.vec(f32[2,3,4,4], None, [2.0,2.0])",
           UpsampleByFactors<"aten::_upsample_nearest_exact2d", 2>),
    CopyingOut(PoolOf(
        "aten::upsample_bilinear2d.vec", "Pixels between those of the image, by sizes or factors.",
        "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
        "Tensor",
        "aten::upsample_bilinear2d.vec(f32[2,3,4,4], [3,3], False, None)",
        UpsampleByFactors<"aten::upsample_bilinear2d", 3>)),
    PoolKernel("aten::im2col", "Every window of an image as a column.",
               "(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) "
               "-> Tensor",
               "aten::im2col(f32[2,3,8,8], [3,3], [1,1], [1,1], [1,1])", gradients::kIm2Col,
               Fusion::kInjective, Im2ColShape, {Im2ColAllocations, Im2ColOnCuda}, work::Move),
};

}  // namespace

std::span<const OpDef> Pooling() { return kRows; }

}  // namespace steelyard::ops
