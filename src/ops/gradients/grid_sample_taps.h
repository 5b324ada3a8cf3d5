// SPDX-License-Identifier: Apache-2.0
//
// What gradients of samples along a grid are made of: places of samples in pixels, the pixels
// around them, which are their taps, and words for what is said of these again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/expression.h"

namespace steelyard::gradients::grid_sample {

using Tensors = std::vector<Tensor>;

// Variables of a block, which go last first. Handles on them end before it does.
class Scope {
 public:
  explicit Scope(Dispatcher& d) : d_(d) {}
  ~Scope() {
    while (!variables_.empty()) variables_.pop_back();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  Tensor Let(const Expression& value) { return variables_.emplace_back(value.Value(d_)); }

 private:
  Dispatcher& d_;
  Tensors variables_;
};

Expression Unsqueezed(const Expression& t, std::int64_t dim);
// One of what lies along the last dimension.
Expression Selected(const Expression& t, std::int64_t index);
Expression InSizes(const Expression& t, const Dims& sizes);
Expression InType(const Expression& t, DType dtype);
// A function of its own: what it makes on the way goes when it returns.
Expression Returned(const Expression& e);
// Tensors of a braced list, which go with it, and what they were made of after them.
Tensor Stacked(Dispatcher& d, const std::vector<Expression>& parts);

// One coordinate of the grid: x, y or z.
struct Axis {
  int index = 0;
  std::int64_t size = 0;  // of the image
  double scale = 0;       // pixels per unit of the grid
  Tensor slope;           // of the place, with padding; undefined where it is the scale alone
  Tensor place, base, fraction;  // in pixels: base + fraction
  Tensor arriving;               // for the gradient of the grid, in pixels
};
using Axes = std::vector<Axis>;

// Pixels around each place, all along a last dimension: their coordinates for each axis.
using Taps = Tensors;

enum class Padding : std::uint8_t { kZeros, kBorder, kReflection };

// How an image is sampled.
class Sampling {
 public:
  struct Form {
    Padding padding = Padding::kZeros;
    bool aligns = false;  // corners
    bool is_cubic = false;
  };
  Sampling(Dispatcher& d, Tensor input, Form form);

  Axes NewAxes() const;
  // Places before borders count, of corners that are aligned; and of those that may not be.
  static Expression Unscaled(const Tensor& grid, const Axis& axis);
  Expression Shifted(const Expression& pixels) const;
  // With borders: place and slope of an axis.
  void PlaceOn(Scope& scope, const Tensor& grid, Axis& axis);
  // The pixel at or before each place, and how far the place is from it.
  static void FindBases(Scope& scope, Axes& axes);
  static void FindFractions(Scope& scope, Axes& axes);

  // The image at taps, and its gradient by one at taps.
  Tensor Gathered(const Taps& taps, const Axes& axes);
  Tensor Scattered(const Tensor& of, const Tensor& weights, const Taps& taps, const Axes& axes);

 private:
  double Least() const { return form_.aligns ? 0 : -0.5; }  // the middle of a pixel, or its edge
  double Span(const Axis& axis) const {
    return static_cast<double>(form_.aligns ? axis.size - 1 : axis.size);
  }
  Tensor Reflect(Tensor& place, const Axis& axis);
  Expression Bounded(const Tensor& tap, const Axis& axis);
  Tensor Mirrored(const Tensor& tap, const Axis& axis);
  Tensor Flat(const Taps& taps, const Axes& axes);
  void HideOutside(Tensor& values, const Taps& taps, const Axes& axes);
  Dims Channels() const;

  Dispatcher& d_;
  Tensor input_;
  Form form_;
};

// --- Cubic weights -------------------------------------------------------------------------------

// How far a place is from its four taps.
struct Distances {
  Tensor far_left, left, right, far_right;
};
Distances DistancesOf(Scope& scope, const Tensor& fraction);

// Weights of the four, by derivative.
Tensor CubicWeights(Dispatcher& d, const Distances& t);
Tensor CubicSlopes(Dispatcher& d, const Distances& t);
Tensor CubicCurvatures(Dispatcher& d, const Distances& t);

}  // namespace steelyard::gradients::grid_sample
