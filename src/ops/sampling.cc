// SPDX-License-Identifier: Apache-2.0
//
// Images sampled at other places: interpolation in one and three dimensions, bicubic and with
// antialiasing, and sampling along a grid (ATen/native/cpu/UpSampleKernel.cpp, GridSampler.cpp,
// AffineGridGenerator.cpp). Interpolation keeps, for each dimension, the places of the neighbours
// and their weights.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ops/cuda/copies.h"
#include "ops/cuda/determinism.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/grid_sample_backward.h"
#include "ops/gradients/image.h"
#include "ops/interpolation.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Interpolation: upsample_*(self, output_size, ...) -------------------------------------------

template <int kSpatial>
void UpsampleShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self();
  shape::RequireRank("the image", image, kSpatial + 2);
  const Dims wanted = window::PerDimension("output size", op.ints(1), kSpatial);
  Dims sizes{image.size(0), image.size(1)};
  for (int i = 0; i < kSpatial; ++i) {
    if (wanted[i] <= 0 || image.size(i + 2) <= 0) {
      Refuse(fmt::format("{} cannot be interpolated", shape::Text(image)));
    }
    sizes.push_back(wanted[i]);
  }
  if (image.size(1) == 0) Refuse("an image without channels");
  out.Add(image.dtype(), sizes, window::StridesLike(image, sizes));
}

template <int kSpatial>
void FloatUpsampleShape(const OpView& op, Outputs& out) {
  const DType dtype = op.self().dtype();
  if (!IsFloating(dtype) && dtype != DType::kUInt8) {
    Refuse("images are floating-point or uint8, not " + shape::Text(op.self()));
  }
  UpsampleShape<kSpatial>(op, out);
}

DType WeightType(DType image) { return IsFloating(image) ? image : DType::kFloat32; }

// For each dimension and each of `kNeighbours` a table of places and one of weights.
template <int kSpatial, int kNeighbours>
void TableAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  std::vector<Allocations::Scratch> tables;
  for (int dim = 2; dim < kSpatial + 2; ++dim) {
    for (int i = 0; i < kNeighbours; ++i) {
      for (const DType dtype : {DType::kInt64, WeightType(op.self().dtype())}) {
        tables.push_back(
            memory.Allocate(allocations::Bytes(op.output().size(dim), dtype), "aten::empty"));
      }
    }
  }
  for (const Allocations::Scratch table : tables) memory.Free(table);
}

// Images of channels that lie last are interpolated without tables.
template <int kSpatial, int kNeighbours>
void OrderedAllocations(const OpView& op, Allocations& memory) {
  const TensorView image = op.self();
  const bool last = IsContiguousChannelsLast(image.sizes(), image.strides()) &&
                    !image.is_contiguous() && image.size(1) > 3;
  if (last) return memory.Output(0);
  TableAllocations<kSpatial, kNeighbours>(op, memory);
}

template <int kNeighbours>
constexpr WorkFn kInterpolation = work::PerOutput<work::PerElement{.alu = 2 * kNeighbours - 1}>;

// --- With antialiasing: windows as wide as the image shrinks -------------------------------------

// Elements of the window of one result (compute_index_ranges_weights).
std::int64_t WindowOf(std::int64_t from, std::int64_t to, bool align, double factor, int width) {
  float scale = 0;
  if (align) {
    scale = to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0;
  } else {
    scale = factor > 0 ? static_cast<float>(1.0 / factor)
                       : static_cast<float>(from) / static_cast<float>(to);
  }
  const float half = static_cast<float>(width) * 0.5F;
  const float support = scale >= 1 ? half * scale : half;
  return static_cast<std::int64_t>(std::ceil(support)) * 2 + 1;
}

// Begins, lengths, strides, weights and positions of the windows of one dimension.
void WindowTables(std::int64_t results, std::int64_t window, DType weights, Allocations& memory) {
  const std::int64_t places = allocations::Bytes(results, DType::kInt64);
  std::vector<Allocations::Scratch> tables;
  for (const std::int64_t bytes :
       {places, places, places, allocations::Bytes(Count(results) * window, weights), places}) {
    tables.push_back(memory.Allocate(bytes, "aten::empty"));
  }
  for (const Allocations::Scratch table : tables) memory.Free(table);
}

// The width first, into a buffer if the height changes too.
template <int kWidth>
void AntialiasAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView image = op.self(), result = op.output();
  const DType weights = WeightType(image.dtype());
  const bool wide = image.size(3) != result.size(3), high = image.size(2) != result.size(2);
  std::optional<Allocations::Scratch> buffer;
  if (wide && high) {
    const Count elements = Count(image.size(0)) * image.size(1) * image.size(2) * result.size(3);
    buffer = memory.Allocate(allocations::Bytes(elements, image.dtype()), "aten::empty");
  }
  const auto pass = [&](int dim, int factor) {
    const std::int64_t window =
        WindowOf(image.size(dim), result.size(dim), op.boolean(2), op.real(factor), kWidth);
    WindowTables(result.size(dim), window, weights, memory);
  };
  if (wide) pass(3, 4);
  if (high) pass(2, 3);
  allocations::Free(buffer, memory);
}

void AntialiasShape(const OpView& op, Outputs& out) {
  if (op.self().dtype() == DType::kUInt8) Refuse("antialiased uint8 images are not modelled");
  FloatUpsampleShape<2>(op, out);
}

// --- By sizes or factors: upsample_*.vec ---------------------------------------------------------

struct Scaled {
  Dims sizes;
  std::vector<Argument> factors;  // None where sizes were given
};

Scaled ScaledSizes(const OpView& op, int factors_at, int spatial) {
  const TensorView image = op.self();
  shape::RequireRank("the image", image, spatial + 2);
  Scaled out;
  if (op.given(1)) {
    if (op.given(factors_at)) Refuse("upsampling takes sizes or factors, not both");
    out.sizes = op.ints(1);
    out.factors.assign(static_cast<std::size_t>(spatial), Argument::None());
    return out;
  }
  if (!op.given(factors_at) || op.arg(factors_at).kind != ArgKind::kList) {
    Refuse("upsampling needs sizes or factors");
  }
  for (const Argument& factor : op.program().list(op.arg(factors_at).list)) {
    const double value =
        factor.kind == ArgKind::kFloat ? factor.real : static_cast<double>(factor.dim.number());
    const int dim = std::min(static_cast<int>(out.factors.size()) + 2, spatial + 1);
    const double size = std::floor(static_cast<double>(image.size(dim)) * value);
    if (!(size >= 0 && size < 1e15)) Refuse(fmt::format("an upsampling factor of {}", value));
    out.sizes.push_back(static_cast<std::int64_t>(size));
    out.factors.push_back(Argument::OfFloat(value));
  }
  if (out.sizes.size() != spatial) Refuse("a factor for each dimension is needed");
  return out;
}

template <Label kKernel, int kSpatial, bool kAligns>
std::vector<Tensor> ByFactors(Dispatcher& d, const OpView& op) {
  const Scaled scaled = ScaledSizes(op, kAligns ? 3 : 2, kSpatial);
  const std::vector<Argument>& f = scaled.factors;
  const Tensor image = d.tensor(op, 0);
  constexpr OpName kName = kOpNamed<kKernel>;
  if constexpr (kAligns && kSpatial == 2) {
    if (interpolation::IsWrittenOut(d))
      return {interpolation::Cubic(d, image, scaled.sizes, op.boolean(2))};
  }
  if constexpr (kAligns && kSpatial == 3) {
    if (interpolation::IsWrittenOut(d))
      return {interpolation::Linear(d, image, scaled.sizes, op.boolean(2))};
  }
  if constexpr (kAligns) {
    if constexpr (kSpatial == 1) return {d.Call(kName, image, scaled.sizes, op.arg(2), f[0])};
    if constexpr (kSpatial == 2) {
      return {d.Call(kName, image, scaled.sizes, op.arg(2), f[0], f[1])};
    }
    if constexpr (kSpatial == 3) {
      return {d.Call(kName, image, scaled.sizes, op.arg(2), f[0], f[1], f[2])};
    }
  } else {
    if constexpr (kSpatial == 1) return {d.Call(kName, image, scaled.sizes, f[0])};
    if constexpr (kSpatial == 3) return {d.Call(kName, image, scaled.sizes, f[0], f[1], f[2])};
  }
}

// --- Along a grid: grid_sampler(input, grid, interpolation, padding, align_corners) -------------

template <int kSpatial>
void GridShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self(), grid = op.tensor(1);
  shape::RequireRank("the image", image, kSpatial + 2);
  shape::RequireRank("the grid", grid, kSpatial + 2);
  if (!IsFloating(image.dtype()) || image.dtype() != grid.dtype()) {
    Refuse("image and grid are floating-point and of one dtype");
  }
  shape::RequireEqual("batch sizes", image.size(0), grid.size(0));
  shape::RequireEqual("coordinates of a place", grid.size(-1), kSpatial);
  Dims sizes{image.size(0), image.size(1)};
  for (int i = 0; i < kSpatial; ++i) {
    if (image.size(i + 2) <= 0) Refuse("an image without pixels");
    sizes.push_back(grid.size(i + 1));
  }
  out.Add(image.dtype(), sizes);
}

// Cubic weights reach twice as far along each axis as linear ones.
template <int kLinear>
std::int64_t Neighbours(std::int64_t interpolation) {
  constexpr std::int64_t kCubic = 2;
  return interpolation == kCubic ? kLinear * kLinear : kLinear;
}

// Places once per pixel, then weights and sums per channel.
template <int kLinear>
Work GridWork(const OpView& op) {
  return {.alu = work::Elements(op.output()) * (2 * Neighbours<kLinear>(op.integer(2)) - 1) +
                 work::Elements(op.tensor(1)) * 4};
}

// grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask
template <int kSpatial>
void GridBackwardShape(const OpView& op, Outputs& out) {
  const TensorView grad = op.self(), image = op.tensor(1), grid = op.tensor(2);
  shape::RequireRank("the gradient", grad, kSpatial + 2);
  shape::RequireRank("the image", image, kSpatial + 2);
  shape::RequireRank("the grid", grid, kSpatial + 2);
  const bool fits = grad.size(0) == image.size(0) && grad.size(1) == image.size(1) &&
                    grid.size(0) == image.size(0) && grid.size(-1) == kSpatial &&
                    std::ranges::equal(grad.sizes().subspan(2), grid.sizes().subspan(1, kSpatial));
  if (!fits || grad.dtype() != image.dtype() || grid.dtype() != image.dtype()) {
    Refuse("gradient, image and grid do not fit each other");
  }
  const std::vector<std::int64_t> wanted = op.integers(6);
  wanted.at(0) != 0 ? out.Add(image.dtype(), image.sizes()) : out.AddNone();
  out.Add(grid.dtype(), grid.sizes());
}
void GridBackwardAllocations(const OpView& op, Allocations& memory) {
  constexpr int kMask = 6;
  if (op.integers(kMask).at(0) != 0) memory.Output(0, "aten::empty");
  memory.Output(1, "aten::empty");
  // The kernel for images reads the gradient in rows.
  if (op.self().rank() == 4) allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}
template <int kLinear>
Work GridBackwardWork(const OpView& op) {
  return {.alu = work::Elements(op.self()) * (4 * Neighbours<kLinear>(op.integer(3))) +
                 work::Elements(op.tensor(2)) * 4};
}

std::vector<Tensor> GridSampler(Dispatcher& d, const OpView& op) {
  const TensorView image = op.self();
  if (image.rank() != 4 && image.rank() != 5) Refuse("an image or a volume is needed");
  const OpName kernel =
      image.rank() == 4 ? OpName("aten::grid_sampler_2d") : OpName("aten::grid_sampler_3d");
  return {d.Call(kernel, d.tensor(op, 0), d.tensor(op, 1), op.arg(2), op.arg(3), op.arg(4))};
}

// --- affine_grid_generator(theta, size, align_corners) -------------------------------------------

// From -1 to 1, or from middle to middle of the outer pixels.
Tensor Axis(Dispatcher& d, const OpView& op, std::int64_t steps) {
  constexpr int kAlignCorners = 2;
  if (steps <= 1) return d.Call("aten::zeros", Dims(), op.self().dtype());
  Tensor range = d.Call("aten::linspace", -1, 1, steps, op.self().dtype());
  if (op.boolean(kAlignCorners)) return range;
  range = d.Call("aten::div.Scalar", d.Call("aten::mul.Scalar", range, steps - 1), steps);
  return range;
}

void WriteAxis(Dispatcher& d, const OpView& op, const Tensor& base, int coordinate,
               std::int64_t steps) {
  const Tensor place = d.Call("aten::select.int", base, -1, coordinate);
  Tensor axis = Axis(d, op, steps);
  for (int i = 0; i < coordinate; ++i) axis = d.Call("aten::unsqueeze_", axis, -1);
  d.Call("aten::copy_", place, axis);
}

// Sizes of an image or a volume: batch, channels, then its own.
Dims ImageSizes(const OpView& op) {
  Dims sizes = op.ints(1);
  if (sizes.size() != 4 && sizes.size() != 5) Refuse("a grid is of an image or a volume");
  if (!IsFloating(op.self().dtype())) Refuse("affine maps are floating-point");
  shape::RequireSizes(sizes);
  return sizes;
}
// Of the image's places: batch, its own sizes, coordinates.
Dims GridSizes(const Dims& sizes, std::int64_t coordinates) {
  Dims out{sizes[0]};
  for (int i = 2; i < sizes.size(); ++i) out.push_back(sizes[i]);
  out.push_back(coordinates);
  return out;
}

// Homogeneous coordinates of every pixel, in rows.
Tensor BasePlaces(Dispatcher& d, const OpView& op, const Dims& sizes) {
  const int spatial = sizes.size() - 2;
  const Dims places = GridSizes(sizes, spatial + 1);
  const Tensor base = d.Call("aten::empty.memory_format", places, op.self().dtype());
  for (int i = 0; i < spatial; ++i) WriteAxis(d, op, base, i, sizes[sizes.size() - 1 - i]);
  d.Call("aten::fill_.Scalar", d.Call("aten::select.int", base, -1, spatial), 1);
  return base;
}
Dims InRows(const Dims& sizes, std::int64_t coordinates) {
  const Dims places = GridSizes(sizes, coordinates);
  Count pixels = 1;
  for (int i = 1; i + 1 < places.size(); ++i) pixels = pixels * places[i];
  return Dims{sizes[0], pixels.value(), coordinates};
}

std::vector<Tensor> AffineGrid(Dispatcher& d, const OpView& op) {
  const Dims sizes = ImageSizes(op);
  const int spatial = sizes.size() - 2;
  shape::RequireRank("the maps", op.self(), 3);
  const Dims maps{sizes[0], spatial, spatial + 1};
  if (!std::ranges::equal(op.self().sizes(), std::span<const std::int64_t>(maps))) {
    Refuse(fmt::format("maps of {}, not {}", shape::Text(maps), shape::Text(op.self())));
  }
  const Tensor flat = d.Call("aten::view", BasePlaces(d, op, sizes), InRows(sizes, spatial + 1));
  const Tensor out =
      d.Call("aten::bmm", flat, d.Call("aten::transpose.int", d.tensor(op, 0), 1, 2));
  return {d.Call("aten::view", out, GridSizes(sizes, spatial))};
}

std::vector<Tensor> AffineGridBackward(Dispatcher& d, const OpView& op) {
  const Dims sizes = ImageSizes(op);
  const int spatial = sizes.size() - 2;
  const Dims grid = GridSizes(sizes, spatial);
  if (!std::ranges::equal(op.self().sizes(), std::span<const std::int64_t>(grid))) {
    Refuse(fmt::format("a gradient of {}, not {}", shape::Text(grid), shape::Text(op.self())));
  }
  const Tensor base = BasePlaces(d, op, sizes);
  const Tensor columns =
      d.Call("aten::transpose.int", d.Call("aten::view", base, InRows(sizes, spatial + 1)), 1, 2);
  const Tensor maps = d.Call("aten::bmm", columns,
                             d.Call("aten::reshape", d.tensor(op, 0), InRows(sizes, spatial)));
  return {d.Call("aten::transpose.int", maps, 1, 2)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Sample(const Words& words, ShapeFn shape, DeviceAllocations allocations,
                       WorkFn work, Gradient grad = kGradientUnknown) {
  return Kernel(Family::kPooling, words,
                {.shape = shape,
                 .fusion = Fusion::kInjective,
                 .allocations = allocations,
                 .work = work,
                 .grad = grad,
                 .precision = precision::kFollow});
}
constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kPooling, words, decompose, grad);
}

constexpr std::array kRows{
    Casting(
        precision::kFullOnCuda,
        Sample({"aten::upsample_nearest1d", "The nearest element of a shorter or longer signal.",
                "(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
                "aten::upsample_nearest1d(f32[2,3,4], [8])"},
               UpsampleShape<1>, {TableAllocations<1, 1>, cuda::OutputsThenCopies<0>}, work::Move,
               gradients::kUpsampleNearest1d)),
    Casting(precision::kFullOnCuda,
            Sample({"aten::_upsample_nearest_exact1d",
                    "The nearest element of a shorter or longer signal.",
                    "(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
                    "aten::_upsample_nearest_exact1d(f32[2,3,4], [8])"},
                   UpsampleShape<1>, {TableAllocations<1, 1>, cuda::OutputsThenCopies<0>},
                   work::Move, gradients::kUpsampleNearestExact1d)),
    Casting(
        precision::kFullOnCuda,
        Sample({"aten::upsample_nearest3d", "The nearest element of a smaller or larger volume.",
                "(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, "
                "float? scales_w=None) -> Tensor",
                "aten::upsample_nearest3d(f32[2,3,4,4,4], [8,8,8])"},
               UpsampleShape<3>, {OrderedAllocations<3, 1>, cuda::Images<0>}, work::Move,
               gradients::kUpsampleNearest3d)),
    Casting(
        precision::kFullOnCuda,
        Sample({"aten::_upsample_nearest_exact3d",
                "The nearest element of a smaller or larger volume.",
                "(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, "
                "float? scales_w=None) -> Tensor",
                "aten::_upsample_nearest_exact3d(f32[2,3,4,4,4], [8,8,8])"},
               UpsampleShape<3>, {OrderedAllocations<3, 1>, cuda::Images<0>}, work::Move,
               gradients::kUpsampleNearestExact3d)),
    Casting(precision::kFullOnCuda,
            Sample({"aten::upsample_linear1d", "Elements between those of a signal.",
                    "(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) "
                    "-> Tensor",
                    "aten::upsample_linear1d(f32[2,3,4], [6], False)"},
                   FloatUpsampleShape<1>, TableAllocations<1, 2>, kInterpolation<2>,
                   gradients::kUpsampleLinear1d)),
    Casting(precision::kFullOnCuda,
            Sample({"aten::upsample_trilinear3d", "Elements between those of a volume.",
                    "(Tensor self, SymInt[3] output_size, bool align_corners, float? "
                    "scales_d=None, float? "
                    "scales_h=None, float? scales_w=None) -> Tensor",
                    "aten::upsample_trilinear3d(f32[2,3,4,4,4], [6,6,6], False)"},
                   FloatUpsampleShape<3>, OrderedAllocations<3, 2>, kInterpolation<8>,
                   gradients::kUpsampleTrilinear3d)),
    Casting(precision::kFullOnCuda,
            Sample({"aten::upsample_bicubic2d", "Pixels on curves through sixteen neighbours.",
                    "(Tensor self, SymInt[2] output_size, bool align_corners, float? "
                    "scales_h=None, float? "
                    "scales_w=None) -> Tensor",
                    "aten::upsample_bicubic2d(f32[2,3,4,4], [6,6], False)"},
                   FloatUpsampleShape<2>, TableAllocations<2, 4>, kInterpolation<16>,
                   gradients::kUpsampleBicubic2d)),
    Casting(precision::kFullOnCuda,
            Sample({"aten::_upsample_bilinear2d_aa", "Means of all pixels under a triangle.",
                    "(Tensor self, SymInt[2] output_size, bool align_corners, float? "
                    "scales_h=None, float? "
                    "scales_w=None) -> Tensor",
                    "aten::_upsample_bilinear2d_aa(f32[2,3,8,8], [3,5], False)"},
                   AntialiasShape, {AntialiasAllocations<2>, cuda::Rows}, kInterpolation<4>,
                   gradients::kUpsampleBilinear2dAa)),
    Casting(precision::kFullOnCuda,
            Sample({"aten::_upsample_bicubic2d_aa", "Means of all pixels under a curve.",
                    "(Tensor self, SymInt[2] output_size, bool align_corners, float? "
                    "scales_h=None, float? "
                    "scales_w=None) -> Tensor",
                    "aten::_upsample_bicubic2d_aa(f32[2,3,8,8], [4,4], False)"},
                   AntialiasShape, {AntialiasAllocations<4>, cuda::Rows}, kInterpolation<16>,
                   gradients::kUpsampleBicubic2dAa)),
    Call({"aten::upsample_nearest1d.vec", "The nearest element, by sizes or factors.",
          "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
          "aten::upsample_nearest1d.vec(f32[2,3,4], None, [2.0])"},
         ByFactors<"aten::upsample_nearest1d", 1, false>),
    Call({"aten::_upsample_nearest_exact1d.vec", "The nearest element, by sizes or factors.",
          "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
          "aten::_upsample_nearest_exact1d.vec(f32[2,3,4], [8], None)"},
         ByFactors<"aten::_upsample_nearest_exact1d", 1, false>),
    Call({"aten::upsample_nearest3d.vec", "The nearest element, by sizes or factors.",
          "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
          "aten::upsample_nearest3d.vec(f32[2,3,4,4,4], None, [2.0,2.0,2.0])"},
         ByFactors<"aten::upsample_nearest3d", 3, false>),
    Call({"aten::_upsample_nearest_exact3d.vec", "The nearest element, by sizes or factors.",
          "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
          "aten::_upsample_nearest_exact3d.vec(f32[2,3,4,4,4], [8,8,8], None)"},
         ByFactors<"aten::_upsample_nearest_exact3d", 3, false>),
    Call({"aten::upsample_linear1d.vec", "Elements between those of a signal.",
          "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
          "Tensor",
          "aten::upsample_linear1d.vec(f32[2,3,4], None, False, [2.5])"},
         ByFactors<"aten::upsample_linear1d", 1, true>),
    Call({"aten::upsample_trilinear3d.vec", "Elements between those of a volume.",
          "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
          "Tensor",
          "aten::upsample_trilinear3d.vec(f32[2,3,4,4,4], [6,6,6], True, None)"},
         ByFactors<"aten::upsample_trilinear3d", 3, true>),
    Call({"aten::upsample_bicubic2d.vec", "Pixels on curves through sixteen neighbours.",
          "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
          "Tensor",
          "aten::upsample_bicubic2d.vec(f32[2,3,4,4], [6,6], False, None)"},
         ByFactors<"aten::upsample_bicubic2d", 2, true>),
    Call({"aten::_upsample_bilinear2d_aa.vec", "Means of all pixels under a triangle.",
          "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
          "Tensor",
          "aten::_upsample_bilinear2d_aa.vec(f32[2,3,8,8], [3,5], False, None)"},
         ByFactors<"aten::_upsample_bilinear2d_aa", 2, true>),
    Call({"aten::_upsample_bicubic2d_aa.vec", "Means of all pixels under a curve.",
          "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
          "Tensor",
          "aten::_upsample_bicubic2d_aa.vec(f32[2,3,8,8], [4,4], False, None)"},
         ByFactors<"aten::_upsample_bicubic2d_aa", 2, true>),
    CopyingOut(Casting(
        precision::kFullOnCpu,
        Sample({"aten::grid_sampler_2d", "An image at the places of a grid.",
                "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
                "align_corners) -> Tensor",
                "aten::grid_sampler_2d(f32[2,3,4,4], f32[2,5,6,2], 0, 0, False)"},
               GridShape<2>, allocations::Via<"aten::empty">, GridWork<4>,
               gradients::kGridSampler2d))),
    CopyingOut(Casting(
        precision::kFullOnCpu,
        Sample({"aten::grid_sampler_3d", "A volume at the places of a grid.",
                "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
                "align_corners) -> Tensor",
                "aten::grid_sampler_3d(f32[2,3,4,4,4], f32[2,5,6,7,3], 0, 0, False)"},
               GridShape<3>, allocations::Via<"aten::empty">, GridWork<8>,
               gradients::kGridSampler3d))),
    CopyingOut(Sample(
        {"aten::grid_sampler_2d_backward", "The gradients of an image and of places in it.",
         "(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
         "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
         "aten::grid_sampler_2d_backward(f32[2,3,5,6], f32[2,3,4,4], f32[2,5,6,2], 0, 0, False, "
         "[True, True])"},
        cuda::Unordered<GridBackwardShape<2>>, GridBackwardAllocations, GridBackwardWork<4>,
        gradients::kGridSampler2dBackward)),
    CopyingOut(Sample(
        {"aten::grid_sampler_3d_backward", "The gradients of a volume and of places in it.",
         "(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
         "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
         "aten::grid_sampler_3d_backward(f32[2,3,5,6,7], f32[2,3,4,4,4], f32[2,5,6,7,3], 0, 0, "
         "False, [True, True])"},
        cuda::Unordered<GridBackwardShape<3>>, GridBackwardAllocations, GridBackwardWork<8>,
        gradients::kGridSampler3dBackward)),
    Casting(precision::kFullOrPromote,
            Call({"aten::grid_sampler", "An image or volume at the places of a grid.",
                  "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
                  "align_corners) -> Tensor",
                  "aten::grid_sampler(f32[2,3,4,4], f32[2,5,6,2], 0, 0, False)"},
                 GridSampler)),
    CopyingOut(Call({"aten::affine_grid_generator", "The places that affine maps send pixels to.",
                     "(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
                     "aten::affine_grid_generator(f32[2,2,3], [2,3,4,5], False)"},
                    AffineGrid, gradients::kAffineGrid)),
    Call({"aten::affine_grid_generator_backward", "The gradient of affine maps of places.",
          "(Tensor grad, SymInt[] size, bool align_corners) -> Tensor",
          "aten::affine_grid_generator_backward(f32[2,4,5,2], [2,3,4,5], False)"},
         AffineGridBackward),
};

}  // namespace

std::span<const OpDef> Sampling() { return kRows; }

}  // namespace steelyard::ops
