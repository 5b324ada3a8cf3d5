// SPDX-License-Identifier: Apache-2.0
//
// torch.gradient: differences of neighbours over the distance between them, of second order inside
// and of the order that is asked for at the edges (gradient_helper and gradient_helper_float in
// ATen/native/ReduceOps.cpp). Operands of C++'s operators are computed from right to left.

#include "ops/numerical_gradient.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/words.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using gradients::Times;

Tensor Slice(Dispatcher& d, const Tensor& t, int dim, std::int64_t start,
             std::optional<std::int64_t> end) {
  return d.Call("aten::slice.Tensor", t, dim, start,
                end ? Dispatcher::Arg(*end) : Dispatcher::Arg(std::nullopt));
}
Tensor Add(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::add.Tensor", a, b);
}
Tensor Subtract(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::sub.Tensor", a, b);
}
Tensor Over(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::div.Tensor", a, b);
}
// --- By numbers ---------------------------------------------------------------------------------

// Weights of three neighbours, from where the first of them starts.
struct Edge {
  std::int64_t start;
  std::optional<std::int64_t> end;
  Argument weight;
};
// w0 a + w1 b - w2 c, over the distance.
Tensor OfSecondOrder(Dispatcher& d, const Tensor& self, int dim, const std::array<Edge, 3>& edges,
                     bool last_is_added, const Argument& spacing) {
  const auto weighted = [&](const Edge& e) {
    return d.Call("aten::mul.Scalar", Slice(d, self, dim, e.start, e.end), e.weight);
  };
  const Tensor third = weighted(edges[2]);
  const Tensor second = weighted(edges[1]);
  const Tensor first = weighted(edges[0]);
  const Tensor two = last_is_added ? Subtract(d, first, second) : Add(d, first, second);
  const Tensor all = last_is_added ? Add(d, two, third) : Subtract(d, two, third);
  return d.Call("aten::div.Scalar", all, spacing);
}

Tensor Joined(Dispatcher& d, Tensor first, Tensor center, Tensor last, int dim) {
  const std::vector<Tensor> parts{std::move(first), std::move(center), std::move(last)};
  return d.Call("aten::cat", parts, dim);
}

Tensor ByNumber(Dispatcher& d, const Tensor& self, const Argument& spacing, int dim,
                std::int64_t order) {
  const auto difference = [&](std::int64_t from, std::optional<std::int64_t> from_end,
                              std::int64_t to, std::optional<std::int64_t> to_end) {
    const Tensor lower = Slice(d, self, dim, from, from_end);
    const Tensor upper = Slice(d, self, dim, to, to_end);
    return d.Call("aten::div.Scalar", Subtract(d, upper, lower), spacing);
  };
  Tensor first, last;
  Tensor center = difference(0, -2, 2, std::nullopt);
  if (order == 1) {
    first = difference(0, 1, 1, 2);
    last = difference(-2, -1, -1, std::nullopt);
  } else {
    const Argument far = Argument::OfFloat(0.5), middle = Argument::OfInt(2);
    const Argument before = Argument::OfFloat(-1.5), after = Argument::OfFloat(1.5);
    first = OfSecondOrder(d, self, dim, {{{0, 1, before}, {1, 2, middle}, {2, 3, far}}}, false,
                          spacing);
    last =
        OfSecondOrder(d, self, dim, {{{-3, -2, far}, {-2, -1, middle}, {-1, std::nullopt, after}}},
                      true, spacing);
  }
  const Tensor half = d.Call("aten::div.Scalar", center, 2);
  return Joined(d, first, half, last, dim);
}

// --- By places ----------------------------------------------------------------------------------

// Of the three neighbours whose distances are `left` and `right`.
struct Weights {
  Tensor first, second, third;
};

// Temporaries die at the end of each statement, after what it sets had died.
Weights InnerWeights(Dispatcher& d, const Tensor& left, const Tensor& right, const Dims& shape) {
  const auto shaped = [&](const Tensor& t) { return d.Call("aten::reshape", t, shape); };
  Weights out;
  {
    const Tensor sum = Add(d, left, right);
    const Tensor below = Times(d, left, sum);
    const Tensor above = d.Call("aten::neg", right);
    out.first = shaped(Over(d, above, below));
  }
  {
    const Tensor below = Times(d, left, right);
    const Tensor above = Subtract(d, right, left);
    out.second = shaped(Over(d, above, below));
  }
  const Tensor sum = Add(d, left, right);
  const Tensor below = Times(d, right, sum);
  out.third = shaped(Over(d, left, below));
  return out;
}

// From where to where a part of a dimension goes.
struct Span {
  std::int64_t start;
  std::optional<std::int64_t> end;
};
Tensor Weighted(Dispatcher& d, const Weights& w, const Tensor& self, int dim,
                const std::array<Span, 3>& spans) {
  const auto times = [&](const Tensor& weight, const Span& of) {
    const Tensor part = Slice(d, self, dim, of.start, of.end);
    return Times(d, weight, part);
  };
  const Tensor third = times(w.third, spans[2]);
  const Tensor second = times(w.second, spans[1]);
  const Tensor first = times(w.first, spans[0]);
  return Add(d, Add(d, first, second), third);
}

// The distances to the left and right of the element next to an edge, taken anew for each use.
struct EdgeSteps {
  Dispatcher& d;
  const Tensor& steps;
  std::int64_t left_at, right_at;
  Tensor left() const { return d.Call("aten::select.int", steps, 0, left_at); }
  Tensor right() const { return d.Call("aten::select.int", steps, 0, right_at); }
  Tensor Sum() const {
    const Tensor r = right(), l = left();
    return Add(d, l, r);
  }
  Tensor Product() const {
    const Tensor r = right(), l = left();
    return Times(d, l, r);
  }
};

// Those of the one-sided differences of second order, from the two distances next to an edge.
void SetWeightsAtStart(Dispatcher& d, const EdgeSteps& steps, Weights& out) {
  {
    const Tensor sum = steps.Sum(), below = Times(d, steps.left(), sum);
    const Tensor far = steps.right();
    const Tensor twice = d.Call("aten::mul.Scalar", steps.left(), 2.0);
    const Tensor steep = Add(d, twice, far);
    const Tensor above = d.Call("aten::neg", steep);
    out.first = Over(d, above, below);
  }
  {
    const Tensor below = steps.Product(), above = steps.Sum();
    out.second = Over(d, above, below);
  }
  const Tensor sum = steps.Sum(), below = Times(d, steps.right(), sum);
  const Tensor above = d.Call("aten::neg", steps.left());
  out.third = Over(d, above, below);
}
void SetWeightsAtEnd(Dispatcher& d, const EdgeSteps& steps, Weights& out) {
  {
    const Tensor sum = steps.Sum(), below = Times(d, steps.left(), sum);
    out.first = Over(d, steps.right(), below);
  }
  {
    const Tensor below = steps.Product(), sum = steps.Sum();
    const Tensor above = d.Call("aten::neg", sum);
    out.second = Over(d, above, below);
  }
  const Tensor sum = steps.Sum(), below = Times(d, steps.right(), sum);
  const Tensor far = steps.left();
  const Tensor twice = d.Call("aten::mul.Scalar", steps.right(), 2);
  const Tensor above = Add(d, twice, far);
  out.third = Over(d, above, below);
}

Tensor ByPlaces(Dispatcher& d, const Tensor& self, const Tensor& places, int dim,
                std::int64_t order) {
  shape::RequireRank("each tensor of places", places.view(), 1);
  Dims shape;
  for (int i = 0; i < self.rank(); ++i) shape.push_back(i == dim ? -1 : 1);
  const auto at = [&](const Tensor& t, std::int64_t i) {
    return d.Call("aten::select.int", t, 0, i);
  };
  const auto part = [&](std::int64_t start, std::optional<std::int64_t> end) {
    return Slice(d, self, dim, start, end);
  };
  Tensor first, last;
  const Tensor steps = d.Call("aten::diff", places, 1, 0);
  const Tensor left = Slice(d, steps, 0, 0, -1), right = Slice(d, steps, 0, 1, std::nullopt);
  Weights w = InnerWeights(d, left, right, shape);
  const Tensor center = Weighted(d, w, self, dim, {{{0, -2}, {1, -1}, {2, std::nullopt}}});
  if (order == 1) {
    {
      const Tensor step = at(steps, 0), lower = part(0, 1), upper = part(1, 2);
      first = Over(d, Subtract(d, upper, lower), step);
    }
    const Tensor step = at(steps, -1), lower = part(-2, -1), upper = part(-1, std::nullopt);
    last = Over(d, Subtract(d, upper, lower), step);
  } else {
    SetWeightsAtStart(d, EdgeSteps{d, steps, 0, 1}, w);
    first = Weighted(d, w, self, dim, {{{0, 1}, {1, 2}, {2, 3}}});
    SetWeightsAtEnd(d, EdgeSteps{d, steps, -2, -1}, w);
    last = Weighted(d, w, self, dim, {{{-3, -2}, {-2, -1}, {-1, std::nullopt}}});
  }
  return Joined(d, first, center, last, dim);
}

// --- Over dimensions ----------------------------------------------------------------------------

enum class Steps : std::uint8_t { kNumber, kNumbers, kPlaces };

void Require(const OpView& op, const std::vector<int>& dims, std::int64_t order) {
  if (order != 1 && order != 2) Refuse(fmt::format("differences of order {} at the edges", order));
  for (const int dim : dims) {
    if (op.self().size(dim) <= order) {
      Refuse(fmt::format("{} elements for differences of order {}", op.self().size(dim), order));
    }
  }
}

std::vector<Tensor> Along(Dispatcher& d, const OpView& op, const std::vector<int>& dims,
                          std::optional<Steps> kind, std::int64_t order) {
  Require(op, dims, order);
  const Tensor self = d.tensor(op, 0);
  std::vector<Tensor> places;
  if (kind == Steps::kPlaces) places = d.tensors(op, 1);
  if (kind == Steps::kPlaces && places.size() != dims.size()) {
    Refuse(fmt::format("places along {} dimensions of {}", places.size(), dims.size()));
  }
  const auto number = [&](std::size_t i) {
    if (!kind || op.arg(1).kind == ArgKind::kNone) return Argument::OfFloat(1);
    if (kind == Steps::kNumber) return op.arg(1);
    const std::span<const Argument> list = op.program().list(op.arg(1).list);
    if (list.size() != dims.size()) {
      Refuse(fmt::format("{} distances for {} dimensions", list.size(), dims.size()));
    }
    return list[i];
  };
  std::vector<Tensor> out;
  out.reserve(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    out.push_back(kind == Steps::kPlaces ? ByPlaces(d, self, places[i], dims[i], order)
                                         : ByNumber(d, self, number(i), dims[i], order));
  }
  return out;
}

// self, spacing, dim, edge_order: one dimension, or all of them
template <Steps kSteps>
std::vector<Tensor> OverDim(Dispatcher& d, const OpView& op) {
  std::vector<int> dims;
  if (op.given(2)) {
    dims.push_back(op.dim(2, op.self().rank()));
  } else {
    for (int i = 0; i < op.self().rank(); ++i) dims.push_back(i);
  }
  return Along(d, op, dims, kSteps, op.integer(3, 1));
}

std::vector<int> DimsAt(const OpView& op, int place) {
  std::vector<int> dims;
  for (const std::int64_t dim : op.ints(place)) {
    dims.push_back(shape::WrapDim(dim, op.self().rank()));
  }
  return dims;
}

// self, spacing, dim, edge_order
template <Steps kSteps>
std::vector<Tensor> OverDims(Dispatcher& d, const OpView& op) {
  return Along(d, op, DimsAt(op, 2), kSteps, op.integer(3, 1));
}

// self, dim, edge_order
std::vector<Tensor> OverDimsByOne(Dispatcher& d, const OpView& op) {
  return Along(d, op, DimsAt(op, 1), std::nullopt, op.integer(2, 1));
}

constexpr OpDef Call(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kReduction, words, decompose);
}

constexpr std::array kRows{
    Call({"aten::gradient.scalarint",
          "Central differences along dimensions, those at the edges one-sided.",
          "(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]",
          "aten::gradient.scalarint(f32[6,8], spacing=2, dim=1)"},
         OverDim<Steps::kNumber>),
    Call({"aten::gradient.scalararray",
          "Central differences along dimensions, those at the edges one-sided.",
          "(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]",
          "aten::gradient.scalararray(f32[6,8], spacing=2, dim=[0,1], edge_order=2)"},
         OverDims<Steps::kNumber>),
    Call({"aten::gradient.array",
          "Central differences along dimensions, those at the edges one-sided.",
          "(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
          "aten::gradient.array(f32[6,8], dim=[0,1])"},
         OverDimsByOne),
    Call({"aten::gradient.scalarrayint",
          "Central differences along dimensions, those at the edges one-sided.",
          "(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
          "aten::gradient.scalarrayint(f32[6,8], spacing=[2.0,0.5])"},
         OverDim<Steps::kNumbers>),
    Call({"aten::gradient.scalarrayarray",
          "Central differences along dimensions, those at the edges one-sided.",
          "(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
          "aten::gradient.scalarrayarray(f32[6,8], spacing=[2.0,0.5], dim=[0,1])"},
         OverDims<Steps::kNumbers>),
    Call({"aten::gradient.tensorarrayint",
          "Central differences along dimensions, those at the edges one-sided.",
          "(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
          "aten::gradient.tensorarrayint(f32[6,8], spacing=[f32[8]], dim=1)"},
         OverDim<Steps::kPlaces>),
    Call(
        {"aten::gradient.tensorarray",
         "Central differences along dimensions, those at the edges one-sided.",
         "(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
         "aten::gradient.tensorarray(f32[6,8], spacing=[f32[6], f32[8]], dim=[0,1], edge_order=2)"},
        OverDims<Steps::kPlaces>),
};

}  // namespace

std::span<const OpDef> NumericalGradient() { return kRows; }

}  // namespace steelyard::ops
