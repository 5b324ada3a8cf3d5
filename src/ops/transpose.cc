// SPDX-License-Identifier: Apache-2.0
//
// Views with dimensions in another order: transposed, permuted, moved, and the tensor itself turned
// in place (ATen/native/TensorShape.cpp). Sizes and strides change places together; nothing is
// allocated and nothing computed.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/view.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/shape.h"
#include "ops/rules/view.h"

namespace steelyard::ops {
namespace {

using shape::AddView;
using shape::Geometry;
using shape::GeometryOf;

void TransposeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  Geometry g = GeometryOf(self);
  const int a = op.dim(1, self.rank()), b = op.dim(2, self.rank());
  if (self.rank() > 0) {
    std::swap(g.sizes[a], g.sizes[b]);
    std::swap(g.strides[a], g.strides[b]);
  }
  AddView(self, g, out);
}

void TShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() > 2)
    Refuse(fmt::format("t() takes at most 2 dimensions, not {}", self.rank()), "Use transpose.");
  Geometry g = GeometryOf(self);
  if (self.rank() == 2) {
    std::swap(g.sizes[0], g.sizes[1]);
    std::swap(g.strides[0], g.strides[1]);
  }
  AddView(self, g, out);
}

// The order of dimensions that `moved` gives: a permutation of [0, rank).
void AddPermuted(const TensorView& self, std::span<const std::int64_t> order, Outputs& out) {
  Geometry g;
  shape::DimSet seen = 0;
  for (std::int64_t d : order) {
    const std::int64_t wrapped = d < 0 ? d + self.rank() : d;
    if (wrapped < 0 || wrapped >= self.rank() || shape::Has(seen, static_cast<int>(wrapped))) {
      Refuse(fmt::format("[{}] does not order {} dimensions", fmt::join(order, ", "), self.rank()));
    }
    seen |= shape::DimSet{1} << wrapped;
    g.sizes.push_back(self.size(static_cast<int>(wrapped)));
    g.strides.push_back(self.stride(static_cast<int>(wrapped)));
  }
  if (g.sizes.size() != self.rank()) {
    Refuse(fmt::format("[{}] does not order {} dimensions", fmt::join(order, ", "), self.rank()));
  }
  AddView(self, g, out);
}

void PermuteShape(const OpView& op, Outputs& out) { AddPermuted(op.self(), op.ints(1), out); }

void ReverseShape(const OpView& op, Outputs& out) {
  Dims order;
  for (int d = op.self().rank() - 1; d >= 0; --d) order.push_back(d);
  AddPermuted(op.self(), order, out);
}

// A number is the tensor itself.
std::vector<Tensor> MatrixTransposed(Dispatcher& d, const OpView& op) {
  const int rank = op.self().rank();
  if (rank == 0) return {d.tensor(op, 0)};
  if (rank == 1) Refuse("a tensor of 1 dimension has no matrices");
  return {d.Call("aten::transpose.int", d.tensor(op, 0), -2, -1)};
}

// Source dimensions to destinations, the others in order in what remains.
std::vector<Tensor> Movedim(Dispatcher& d, const OpView& op) {
  const int rank = op.self().rank();
  const Dims from = op.ints(1), to = op.ints(2);
  shape::RequireEqual("the number of sources and of destinations", from.size(), to.size());
  Dims order = Dims::Filled(rank, -1);
  shape::DimSet taken = 0;
  const auto wrapped = [rank](std::int64_t v) {
    const int named = std::max(rank, 1);  // a number is taken as a vector of one
    const std::int64_t w = v < 0 ? v + named : v;
    if (w < 0 || w >= named)
      Refuse(fmt::format("dimension {} is out of range for {} dimensions", v, rank));
    return static_cast<int>(w);
  };
  if (rank == 0) {
    for (const Dims& dims : {from, to}) std::ranges::for_each(std::span(dims), wrapped);
    return {d.Call("aten::alias", d.tensor(op, 0))};
  }
  for (int i = 0; i < from.size(); ++i) {
    order[wrapped(to[i])] = wrapped(from[i]);
    taken |= shape::DimSet{1} << wrapped(from[i]);
  }
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    if (order[i] >= 0) continue;
    while (shape::Has(taken, next)) ++next;
    order[i] = next++;
  }
  return {d.Call("aten::permute", d.tensor(op, 0), order)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr Gradient kTInPlace{"TBackward1", {GradientOf(0, {}, gradients::TSelf)}};

constexpr std::array kRows{
    Knowing(contents::Transposed, ViewKernel({"aten::transpose.int", "Two dimensions exchanged.",
                                              "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                                              "aten::transpose.int(f32[2,3,4], 1, -1)"},
                                             TransposeShape, gradients::kTranspose)),
    Knowing(contents::Transposed, ViewKernel({"aten::swapaxes", "Two dimensions exchanged.",
                                              "(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
                                              "aten::swapaxes(f32[2,3,4], 0, 2)"},
                                             TransposeShape, gradients::kTranspose)),
    Knowing(contents::Transposed, ViewKernel({"aten::swapdims", "Two dimensions exchanged.",
                                              "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                                              "aten::swapdims(f32[2,3,4], 0, 2)"},
                                             TransposeShape, gradients::kTranspose)),
    Knowing(contents::TransposedLast,
            ViewKernel({"aten::t", "A matrix transposed; vectors and numbers stay as they are.",
                        "(Tensor(a) self) -> Tensor(a)", "aten::t(f32[2,3])"},
                       TShape, gradients::kT)),
    TakingBits(MathBits::kBoth,
               ViewInPlace({"aten::transpose_", "Two dimensions exchanged, in place.",
                            "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
                            "aten::transpose_(f32[2,8], 0, 1)"},
                           TransposeShape, gradients::kTransposeInPlace)),
    TakingBits(MathBits::kBoth,
               ViewInPlace({"aten::swapaxes_", "Two dimensions exchanged, in place.",
                            "(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
                            "aten::swapaxes_(f32[2,8], 0, 1)"},
                           TransposeShape, gradients::kTransposeInPlace)),
    TakingBits(MathBits::kBoth,
               ViewInPlace({"aten::swapdims_", "Two dimensions exchanged, in place.",
                            "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
                            "aten::swapdims_(f32[2,8], 0, 1)"},
                           TransposeShape, gradients::kTransposeInPlace)),
    TakingBits(MathBits::kBoth,
               ViewInPlace({"aten::t_", "A matrix transposed, in place.",
                            "(Tensor(a!) self) -> Tensor(a!)", "aten::t_(f32[2,8])"},
                           TShape, kTInPlace)),
    ViewKernel({"aten::numpy_T", "All dimensions in reverse.", "(Tensor(a) self) -> Tensor(a)",
                "aten::numpy_T(f32[2,3])"},
               ReverseShape, gradients::kNumpyT),
    ViewComposite({"aten::mT", "The last two dimensions exchanged.",
                   "(Tensor(a) self) -> Tensor(a)", "aten::mT(f32[2,3,4])"},
                  MatrixTransposed),
    Knowing(contents::Permuted, ViewKernel({"aten::permute", "Dimensions in another order.",
                                            "(Tensor(a) self, int[] dims) -> Tensor(a)",
                                            "aten::permute(f32[2,3,4], [2,0,-2])"},
                                           PermuteShape, gradients::kPermute)),
    ViewComposite({"aten::movedim.int", "A dimension moved to another place.",
                   "(Tensor(a) self, int source, int destination) -> Tensor(a)",
                   "aten::movedim.int(f32[2,3,4], 0, -1)"},
                  Movedim),
    ViewComposite({"aten::movedim.intlist", "Dimensions moved to other places.",
                   "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                   "aten::movedim.intlist(f32[2,3,4], [0,1], [2,0])"},
                  Movedim),
    ViewComposite({"aten::moveaxis.int", "A dimension moved to another place.",
                   "(Tensor(a) self, int source, int destination) -> Tensor(a)",
                   "aten::moveaxis.int(f32[2,3,4], 0, -1)"},
                  decompose::SameAs<"aten::movedim.int">),
    ViewComposite({"aten::moveaxis.intlist", "Dimensions moved to other places.",
                   "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                   "aten::moveaxis.intlist(f32[2,3,4], [0,1], [2,0])"},
                  decompose::SameAs<"aten::movedim.intlist">),
};

}  // namespace

std::span<const OpDef> Transpose() { return kRows; }

}  // namespace steelyard::ops
