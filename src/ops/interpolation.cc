// SPDX-License-Identifier: Apache-2.0
//
// Handles end where the locals of the Python functions do: temporaries of an expression once it is
// computed, fast locals in their order and then those that closures share, lists from their ends.

#include "ops/interpolation.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/rules/memory_format.h"

namespace steelyard::ops::interpolation {
namespace {

constexpr double kAnyFactor = 1.5;  // what coordinates are scaled by takes no memory

// Half precision is computed in float32 (pw_cast_for_opmath).
DType ComputedIn(DType dtype) { return BitsOf(dtype) < 32 ? DType::kFloat32 : dtype; }

void PopFromEnd(std::vector<Tensor>& list) {
  while (!list.empty()) list.pop_back();
}

// Where each pixel of the result lies in the image, as a number and between which two pixels.
struct Axis {
  Tensor exact, before, after;
};

// `i` as a coordinate of the image.
Tensor SourceIndex(Dispatcher& d, const Tensor& i, bool aligns_corners) {
  if (aligns_corners) return d.Call("aten::mul.Scalar", i, kAnyFactor);
  Tensor scaled;
  {
    const Tensor middle = d.Call("aten::add.Scalar", i, 0.5);
    scaled = d.Call("aten::mul.Scalar", middle, kAnyFactor);
  }
  return d.Call("aten::sub.Scalar", scaled, 0.5);
}

Tensor Places(Dispatcher& d, std::int64_t size, DType dtype) {
  const Tensor counted = d.Call("aten::arange", size, DType::kInt64);
  return d.Call("aten::to.dtype", counted, dtype);
}

Axis AxisOf(Dispatcher& d, DType dtype, std::int64_t in, std::int64_t out, bool aligns_corners,
            int dims_behind) {
  const Tensor i = Places(d, out, dtype);
  Axis axis;
  {
    const Tensor source = SourceIndex(d, i, aligns_corners);
    axis.exact = d.Call("aten::clamp", source, 0.0);
  }
  Dims column{out};
  for (int k = 0; k < dims_behind; ++k) column.push_back(1);
  axis.exact = d.Call("aten::reshape", axis.exact, column);
  axis.before = d.Call("aten::to.dtype", axis.exact, DType::kInt64);
  const Tensor next = d.Call("aten::add.Scalar", axis.before, std::int64_t{1});
  axis.after = d.Call("aten::clamp", next, Argument::None(), in - 1);
  return axis;
}

// The corners of the cell that each pixel lies in, the last dimension's first.
std::vector<Tensor> Corners(Dispatcher& d, const Tensor& image, const std::vector<Axis>& axes) {
  const std::size_t n = axes.size();
  std::vector<Tensor> out;
  for (std::size_t corner = 0; corner < std::size_t{1} << n; ++corner) {
    std::vector<Tensor> index(2);  // of all images and channels
    for (std::size_t k = 0; k < n; ++k) {
      const bool is_after = (corner >> (n - 1 - k) & 1) != 0;
      index.push_back(is_after ? axes[k].after : axes[k].before);
    }
    out.push_back(d.Call("aten::_unsafe_index.Tensor", image, index));
  }
  return out;
}

// How far beyond its floor a coordinate lies.
Tensor Share(Dispatcher& d, const Tensor& exact, const Tensor& floor) {
  const Tensor beyond = d.Call("aten::sub.Tensor", exact, floor);
  return d.Call("aten::clamp", beyond, 0.0, 1.0);
}

// v1 + (v2 - v1) * share, of each pair.
std::vector<Tensor> Mixed(Dispatcher& d, const std::vector<Tensor>& values, const Tensor& share) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    Tensor part;
    {
      const Tensor difference = d.Call("aten::sub.Tensor", values[i + 1], values[i]);
      part = d.Call("aten::mul.Tensor", difference, share);
    }
    out.push_back(d.Call("aten::add.Tensor", values[i], part));
  }
  return out;
}

std::int64_t SuggestedFormat(const Tensor& image) {
  constexpr std::int64_t kChannelsLast3dFormat = 3;
  const bool last = image.rank() >= 4 && IsChannelsLast(image.sizes(), image.strides());
  if (!last) return kContiguousFormat;
  return image.rank() == 5 ? kChannelsLast3dFormat : kChannelsLastFormat;
}

// Linearly mixed images of few channels are given row by row on CUDA.
std::int64_t FormatOf(const Tensor& image) {
  constexpr std::int64_t kFewChannels = 16;
  return image.size(1) < kFewChannels ? kContiguousFormat : SuggestedFormat(image);
}

Tensor LinearInFull(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners) {
  const int n = sizes.size();
  std::vector<Axis> axes;
  axes.reserve(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) {
    axes.push_back(
        AxisOf(d, image.dtype(), image.size(k + 2), sizes[k], aligns_corners, n - 1 - k));
  }
  std::vector<Tensor> values = Corners(d, image, axes);
  Tensor last = values.back(), share;
  for (std::size_t k = axes.size(); k-- > 0;) {
    share = Share(d, axes[k].exact, axes[k].before);
    std::vector<Tensor> mixed = Mixed(d, values, share);
    PopFromEnd(values);
    values = std::move(mixed);
  }
  Tensor out = d.Call("aten::contiguous", values.front(), FormatOf(image));
  for (std::size_t k = axes.size(); k-- > 0;) axes[k].exact.reset();
  PopFromEnd(values);
  last.reset();
  for (std::size_t k = axes.size(); k-- > 0;) axes[k].after.reset();
  for (std::size_t k = axes.size(); k-- > 0;) axes[k].before.reset();
  return out;
}

// --- Cubic ---------------------------------------------------------------------------------------

constexpr double kAnyNumber = 0.75;  // what curves are made of takes no memory

// _upsample_cubic_convolution1 and 2: of near and of far neighbours.
Tensor NearWeight(Dispatcher& d, const Tensor& x) {
  Tensor t = d.Call("aten::mul.Scalar", x, kAnyNumber);
  t = d.Call("aten::sub.Scalar", t, kAnyNumber);
  t = d.Call("aten::mul.Tensor", t, x);
  t = d.Call("aten::mul.Tensor", t, x);
  return d.Call("aten::add.Scalar", t, 1.0);
}
Tensor FarWeight(Dispatcher& d, const Tensor& x) {
  Tensor t = d.Call("aten::mul.Scalar", x, kAnyNumber);
  t = d.Call("aten::sub.Scalar", t, kAnyNumber);
  t = d.Call("aten::mul.Tensor", t, x);
  t = d.Call("aten::add.Scalar", t, kAnyNumber);
  t = d.Call("aten::mul.Tensor", t, x);
  return d.Call("aten::sub.Scalar", t, kAnyNumber);
}

// Of the four neighbours along an axis.
std::vector<Tensor> CubicWeights(Dispatcher& d, const Tensor& t) {
  std::vector<Tensor> out;
  {
    const Tensor beyond = d.Call("aten::add.Scalar", t, 1.0);
    out.push_back(FarWeight(d, beyond));
  }
  out.push_back(NearWeight(d, t));
  {
    const Tensor rest = d.Call("aten::rsub.Scalar", t, 1.0);
    out.push_back(NearWeight(d, rest));
  }
  const Tensor rest = d.Call("aten::rsub.Scalar", t, 2.0);
  out.push_back(FarWeight(d, rest));
  return out;
}

// reduce(torch.add, products): the last operands are held until the next ones are there.
Tensor WeightedSum(Dispatcher& d, const std::vector<Tensor>& values,
                   const std::vector<Tensor>& weights) {
  Tensor sum = d.Call("aten::mul.Tensor", values[0], weights[0]), first, second;
  for (std::size_t k = 1; k < values.size(); ++k) {
    Tensor product = d.Call("aten::mul.Tensor", values[k], weights[k]);
    first = std::move(sum);
    second = std::move(product);
    sum = d.Call("aten::add.Tensor", first, second);
  }
  second.reset();
  first.reset();
  return sum;
}

// The pixels at these rows and columns, none of which lies beyond the image.
Tensor Loaded(Dispatcher& d, const Tensor& image, const Tensor& rows, const Tensor& columns) {
  constexpr std::int64_t kFirst = 0;
  std::vector<Tensor> index(2);
  index.push_back(d.Call("aten::clamp", rows, kFirst, image.size(2) - 1));
  index.push_back(d.Call("aten::clamp", columns, kFirst, image.size(3) - 1));
  Tensor out = d.Call("aten::_unsafe_index.Tensor", image, index);
  for (Tensor& places : index) places.reset();
  return out;
}

// Four neighbours along an axis, from where they lie: the second of them.
std::vector<Tensor> Neighbours(Dispatcher& d, const Tensor& at) {
  return {d.Call("aten::sub.Scalar", at, std::int64_t{1}), at,
          d.Call("aten::add.Scalar", at, std::int64_t{1}),
          d.Call("aten::add.Scalar", at, std::int64_t{2})};
}

Tensor CubicInFull(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners) {
  Tensor i = Places(d, sizes[0], image.dtype()), j = Places(d, sizes[1], image.dtype());
  Tensor x_exact = SourceIndex(d, j, aligns_corners), y_exact = SourceIndex(d, i, aligns_corners);
  y_exact = d.Call("aten::unsqueeze", y_exact, -1);
  Tensor x = d.Call("aten::floor", x_exact), y = d.Call("aten::floor", y_exact);
  Tensor y_share = Share(d, y_exact, y), x_share = Share(d, x_exact, x);
  x = d.Call("aten::to.dtype", x, DType::kInt64);
  y = d.Call("aten::to.dtype", y, DType::kInt64);
  std::vector<Tensor> rows = Neighbours(d, y), columns = Neighbours(d, x);
  std::vector<Tensor> x_weights = CubicWeights(d, x_share), y_weights = CubicWeights(d, y_share);
  std::vector<Tensor> mixed;
  for (const Tensor& row : rows) {
    std::vector<Tensor> pixels;
    pixels.reserve(columns.size());
    for (const Tensor& column : columns) pixels.push_back(Loaded(d, image, row, column));
    mixed.push_back(WeightedSum(d, pixels, x_weights));
    PopFromEnd(pixels);
  }
  Tensor out = WeightedSum(d, mixed, y_weights);
  out = d.Call("aten::contiguous", out, SuggestedFormat(image));
  for (Tensor* t : {&i, &j, &x_exact, &y_exact, &x, &y, &y_share, &x_share}) t->reset();
  for (std::vector<Tensor>* list : {&rows, &y_weights, &mixed, &columns, &x_weights}) {
    PopFromEnd(*list);
  }
  return out;
}

// Half precision is cast before and after.
template <class Compute>
Tensor ComputedInFull(Dispatcher& d, const Tensor& image, const Compute& compute) {
  if (!IsFloating(image.dtype())) Refuse("images of whole numbers are not written out here");
  const DType computed = ComputedIn(image.dtype());
  if (computed == image.dtype()) return compute(image);
  const Tensor out = [&] {
    const Tensor full = d.Call("aten::to.dtype", image, computed);
    return compute(full);
  }();
  return d.Call("aten::to.dtype", out, image.dtype());
}

}  // namespace

bool IsWrittenOut(const Dispatcher& d) {
  return d.target().device == Device::kCuda && d.target().deterministic;
}

Tensor Linear(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners) {
  return ComputedInFull(
      d, image, [&](const Tensor& full) { return LinearInFull(d, full, sizes, aligns_corners); });
}

Tensor Cubic(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners) {
  return ComputedInFull(
      d, image, [&](const Tensor& full) { return CubicInFull(d, full, sizes, aligns_corners); });
}

}  // namespace steelyard::ops::interpolation
