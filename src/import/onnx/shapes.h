// SPDX-License-Identifier: Apache-2.0
//
// Shapes of results, as ONNX's operators have them, in words that several rows share. All throw
// `Untranslatable` where operands contradict each other.
#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/call.h"

namespace steelyard::onnx::shapes {

Shape Broadcast(Sizes& sizes, const Shape& a, const Shape& b);
// Of a product of matrices, as numpy.matmul broadcasts it.
Shape Product(Sizes& sizes, Shape a, Shape b);
// Without the dimensions in `axes`, or with 1 in their place.
enum class Reduced { kKept, kDropped };
Shape Reduce(const Shape& shape, const std::vector<int>& axes, Reduced how);
Shape With(Shape shape, int axis, Dim size);
Dim Count(Sizes& sizes, const Shape& shape);
// Of the dimensions [begin, end).
Dim Count(Sizes& sizes, const Shape& shape, int begin, int end);

// A window that slides over a dimension.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  // padding
  bool ceil = false;
  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
};
Dim Slid(Sizes& sizes, Dim size, const Window& window);

}  // namespace steelyard::onnx::shapes
