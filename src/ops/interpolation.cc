// SPDX-License-Identifier: Apache-2.0
//
// Handles end where the locals of the Python functions do: temporaries of an expression once it is
// computed, fast locals in their order and then those that closures share, lists from their ends.

#include "ops/interpolation.h"

#include <algorithm>
#include <cstddef>
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

// Images of few channels are given row by row on CUDA.
std::int64_t FormatOf(const Tensor& image) {
  constexpr std::int64_t kFewChannels = 16, kChannelsLast3dFormat = 3;
  const bool last = image.rank() >= 4 && IsChannelsLast(image.sizes(), image.strides());
  if (!last || image.size(1) < kFewChannels) return kContiguousFormat;
  return image.rank() == 5 ? kChannelsLast3dFormat : kChannelsLastFormat;
}

Tensor LinearInFull(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners) {
  const int n = sizes.size();
  std::vector<Axis> axes;
  for (int k = 0; k < n; ++k) {
    axes.push_back(
        AxisOf(d, image.dtype(), image.size(k + 2), sizes[k], aligns_corners, n - 1 - k));
  }
  std::vector<Tensor> values = Corners(d, image, axes);
  Tensor last = values.back(), share;
  for (std::size_t k = axes.size(); k-- > 0;) {
    {
      const Tensor beyond = d.Call("aten::sub.Tensor", axes[k].exact, axes[k].before);
      share = d.Call("aten::clamp", beyond, 0.0, 1.0);
    }
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

}  // namespace

bool IsWrittenOut(const Dispatcher& d) {
  return d.target().device == Device::kCuda && d.target().deterministic;
}

Tensor Linear(Dispatcher& d, const Tensor& image, const Dims& sizes, bool aligns_corners) {
  if (!IsFloating(image.dtype())) Refuse("images of whole numbers are not written out here");
  const DType computed = ComputedIn(image.dtype());
  if (computed == image.dtype()) return LinearInFull(d, image, sizes, aligns_corners);
  const Tensor out = [&] {
    const Tensor full = d.Call("aten::to.dtype", image, computed);
    return LinearInFull(d, full, sizes, aligns_corners);
  }();
  return d.Call("aten::to.dtype", out, image.dtype());
}

}  // namespace steelyard::ops::interpolation
