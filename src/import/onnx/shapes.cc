// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/shapes.h"

#include <algorithm>
#include <string>

namespace steelyard::onnx::shapes {
namespace {

Dim BroadcastOne(Sizes& sizes, Dim a, Dim b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (a.is_number() && b.is_number()) {
    Call::GiveUp("sizes " + std::to_string(a.number()) + " and " + std::to_string(b.number()) +
                 " do not broadcast");
  }
  if (a.is_number()) return a;
  if (b.is_number()) return b;
  return sizes.Maximum(a, b);
}

}  // namespace

Shape Broadcast(Sizes& sizes, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    out[offset + i] = BroadcastOne(sizes, longer[offset + i], shorter[i]);
  }
  return out;
}

Shape Reduce(const Shape& shape, const std::vector<int>& axes, Reduced how) {
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::ranges::find(axes, static_cast<int>(i)) != axes.end();
    if (!reduced) out.push_back(shape[i]);
    if (reduced && how == Reduced::kKept) out.emplace_back(1);
  }
  return out;
}

Shape With(Shape shape, int axis, Dim size) {
  shape.at(static_cast<std::size_t>(axis)) = size;
  return shape;
}

Shape Product(Sizes& sizes, Shape a, Shape b) {
  if (a.empty() || b.empty()) Call::GiveUp("a product with a number");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.emplace_back(1);
  const Dim rows = a[a.size() - 2], columns = b.back();
  a.erase(a.end() - 2, a.end());
  b.erase(b.end() - 2, b.end());
  Shape out = Broadcast(sizes, a, b);
  if (!row) out.push_back(rows);
  if (!column) out.push_back(columns);
  return out;
}

Dim Count(Sizes& sizes, const Shape& shape) { return sizes.Product(shape); }

Dim Count(Sizes& sizes, const Shape& shape, int begin, int end) {
  Dim count(1);
  for (int i = begin; i < end; ++i)
    count = sizes.Product(count, shape[static_cast<std::size_t>(i)]);
  return count;
}

Dim Slid(Sizes& sizes, Dim size, const Window& window) {
  const Dim room = sizes.Sum(size, Dim(window.before + window.after - window.extent()));
  const Dim stride(window.stride);
  if (!window.ceil) return sizes.Sum(sizes.Quotient(room, stride), Dim(1));
  const Dim places = sizes.Sum(sizes.CeilQuotient(room, stride), Dim(1));
  // The last window has to begin within the data or the padding before it.
  const Dim begin = sizes.Product(sizes.Difference(places, Dim(1)), stride);
  const Dim limit = sizes.Sum(size, Dim(window.before));
  const Dim outside = sizes.Apply(ExprOp::kLe, limit, begin);
  return sizes.Difference(places, outside);
}

}  // namespace steelyard::onnx::shapes
