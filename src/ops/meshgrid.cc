// SPDX-License-Identifier: Apache-2.0
//
// Axes spread over a grid, and the tuples that grids make: products and combinations of elements
// (ATen/native/TensorShape.cpp, Itertools.cpp). Grids are views of the axes; the tuples are copies
// of them.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

std::vector<Tensor> Grid(Dispatcher& d, std::vector<Tensor> axes, bool by_columns) {
  if (axes.empty()) Refuse("there is no axis");
  if (static_cast<int>(axes.size()) > Dims::kMaxRank) Refuse("too many dimensions");
  const bool swaps = by_columns && axes.size() > 1;
  if (swaps) std::swap(axes[0], axes[1]);
  Dims sizes;
  for (const Tensor& axis : axes) {
    if (axis.rank() > 1) Refuse("an axis has one dimension, not " + shape::Text(axis.view()));
    if (axis.dtype() != axes[0].dtype()) Refuse("axes must be of one dtype");
    sizes.push_back(axis.count());
  }
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Dims spread = Dims::Filled(sizes.size(), 1);
    spread[static_cast<int>(i)] = axes[i].count();
    out.push_back(d.Call("aten::expand", d.Call("aten::view", axes[i], spread), sizes));
  }
  if (swaps) std::swap(out[0], out[1]);
  return out;
}

std::vector<Tensor> Meshgrid(Dispatcher& d, const OpView& op) {
  return Grid(d, d.tensors(op, 0), false);
}

std::vector<Tensor> MeshgridIndexed(Dispatcher& d, const OpView& op) {
  if (op.text(1) != "ij" && op.text(1) != "xy") Refuse("grids are indexed 'ij' or 'xy'");
  return Grid(d, d.tensors(op, 0), op.text(1) == "xy");
}

// --- Products and combinations ------------------------------------------------------------------

std::vector<Tensor> CartesianProduct(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> axes = d.tensors(op, 0);
  if (axes.size() == 1) return {axes[0]};
  std::vector<Tensor> flat;
  {
    std::vector<Tensor> grid = d.CallMany("aten::meshgrid", axes);
    for (Tensor& t : grid) t = d.Call("aten::flatten.using_ints", t);
    flat = std::move(grid);
  }
  return {d.Call("aten::stack", flat, 1)};
}

// self, r, with_replacement: elements at places that rise
std::vector<Tensor> Combinations(Dispatcher& d, const OpView& op) {
  shape::RequireRank("the vector", op.self(), 1);
  const std::int64_t n = op.self().size(0), r = op.integer(1, 2);
  if (r < 0 || r > Dims::kMaxRank) Refuse(fmt::format("combinations of {}", r));
  if (r == 0) return {d.Call("aten::empty.memory_format", Dims{0}, op.self().dtype())};
  const bool repeats = op.boolean(2);
  Count count = 1;
  for (std::int64_t i = 0; i < r; ++i) {
    const std::int64_t choices = repeats ? n + i : n - i;
    const Count product = count * std::max<std::int64_t>(choices, 0);
    if (product.overflowed()) Contradict("more than 2^63 combinations");
    count = Count(product.value() / (i + 1));
  }
  Tensor chosen;
  {
    Tensor mask;
    {
      const Tensor range = d.Call("aten::arange", n, DType::kInt64);
      const std::vector<Tensor> places(static_cast<std::size_t>(r), range);
      const std::vector<Tensor> grids = d.CallMany("aten::meshgrid.indexing", places, d.Text("ij"));
      mask = d.Call("aten::full", Dims(grids[0].sizes()), true, DType::kBool);
      const OpName rises = repeats ? OpName("aten::le.Tensor") : OpName("aten::lt.Tensor");
      for (std::size_t i = 0; i + 1 < grids.size(); ++i) {
        d.Call("aten::mul_.Tensor", mask, d.Call(rises, grids[i], grids[i + 1]));
      }
    }
    // As aten::nonzero_static, of which it is known how many are chosen.
    const Dims sizes{count.value(), r};
    chosen = d.Call("aten::empty.memory_format", sizes, DType::kInt64);
    const Dispatcher::Inside frame(d, "aten::nonzero_static");
    const Dims strides{1, count.value()};
    d.Call("aten::copy_", chosen, d.Call("steelyard::result", sizes, strides, DType::kInt64));
  }
  return {d.Call("aten::contiguous",
                 d.Call("aten::index.Tensor", op.arg(0), std::vector<Tensor>{chosen}))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Composite(Family::kView,
              {"aten::meshgrid", "Axes spread over a grid.", "(Tensor[] tensors) -> Tensor[]",
               "aten::meshgrid([f32[3], f32[4]])"},
              Meshgrid),
    Composite(Family::kView,
              {"aten::meshgrid.indexing", "Axes spread over a grid, rows or columns first.",
               "(Tensor[] tensors, *, str indexing) -> Tensor[]",
               "aten::meshgrid.indexing([f32[3], f32[4]], indexing='xy')"},
              MeshgridIndexed),
    Composite(Family::kView,
              {"aten::cartesian_prod", "All pairs of two vectors' elements.",
               "(Tensor[] tensors) -> Tensor", "aten::cartesian_prod([f32[3], f32[4]])"},
              CartesianProduct),
    Composite(Family::kView,
              {"aten::combinations", "All choices of some elements of a vector.",
               "(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
               "aten::combinations(f32[4])"},
              Combinations),
};

}  // namespace

std::span<const OpDef> Meshgrid() { return kRows; }

}  // namespace steelyard::ops
