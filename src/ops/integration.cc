// SPDX-License-Identifier: Apache-2.0
//
// Integrals of samples by trapezoids: of all of them, and up to each (ATen/native/Integration.cpp).
// Samples are one distance apart, or at given places. Of one distance the sum less half of both
// ends does.

#include <array>
#include <cstdint>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"

namespace steelyard::ops {
namespace {

// All but the first, or all but the last, along a dimension.
Tensor Tail(Dispatcher& d, const Tensor& t, int dim) {
  return d.Call("aten::slice.Tensor", t, dim, std::int64_t{1});
}

Tensor Head(Dispatcher& d, const Tensor& t, int dim) {
  return d.Call("aten::slice.Tensor", t, dim, std::int64_t{0}, std::int64_t{-1});
}

void RequireSamples(const TensorView& y) {
  if (y.rank() == 0) Refuse("a number has no samples");
  if (y.dtype() == DType::kBool) Refuse("bool is no sample");
}

// x beside y: a vector lies along `dim`, and of more dimensions the last are y's.
Tensor PlacesOf(Dispatcher& d, const OpView& op, int dim) {
  const TensorView y = op.self(), x = op.tensor(1);
  if (x.rank() == 0 || x.rank() > y.rank()) Refuse("more places than samples are not modelled");
  if (x.rank() == y.rank()) return d.tensor(op, 1);
  Dims sizes = Dims::Filled(y.rank(), 1);
  const int first = y.rank() - x.rank();
  for (int i = 0; i < x.rank(); ++i) sizes[x.rank() == 1 ? dim : first + i] = x.size(i);
  return d.Call("aten::view", d.tensor(op, 1), sizes);
}

// --- trapezoid ----------------------------------------------------------------------------------

// y, *, dx, dim: the sum less half of both ends
std::vector<Tensor> Trapezoid(Dispatcher& d, const OpView& op) {
  const TensorView y = op.self();
  RequireSamples(y);
  const int dim = op.dim(2, y.rank());
  if (y.size(dim) == 0) Refuse("integrals of no samples are not modelled");
  const Tensor self = d.tensor(op, 0);
  const Tensor first = d.Call("aten::select.int", self, dim, 0);
  const Tensor ends = d.Call("aten::add.Tensor", first, d.Call("aten::select.int", self, dim, -1));
  const Tensor half = d.Call("aten::mul.Scalar", ends, 0.5);
  const Tensor sum = d.Call("aten::sum.dim_IntList", self, Dims{dim});
  const Tensor less = d.Call("aten::sub.Tensor", sum, half);
  return {d.Call("aten::mul.Scalar", less, op.real(1, 1.0))};
}

// y, x, *, dim
std::vector<Tensor> TrapezoidAt(Dispatcher& d, const OpView& op) {
  const TensorView y = op.self();
  RequireSamples(y);
  const int dim = op.dim(2, y.rank());
  if (y.size(dim) == 0) Refuse("integrals of no samples are not modelled");
  const Tensor self = d.tensor(op, 0), places = PlacesOf(d, op, dim);
  const Tensor steps = d.Call("aten::sub.Tensor", Tail(d, places, dim), Head(d, places, dim));
  const Tensor sums = d.Call("aten::add.Tensor", Tail(d, self, dim), Head(d, self, dim));
  const Tensor areas = d.Call("aten::mul.Tensor", sums, steps);
  const Tensor total = d.Call("aten::sum.dim_IntList", areas, Dims{dim});
  return {d.Call("aten::div.Scalar", total, 2.0)};
}

// --- cumulative_trapezoid -----------------------------------------------------------------------

std::vector<Tensor> CumulativeTrapezoid(Dispatcher& d, const OpView& op) {
  RequireSamples(op.self());
  const int dim = op.dim(2, op.self().rank());
  const Tensor self = d.tensor(op, 0);
  const Tensor sums = d.Call("aten::add.Tensor", Tail(d, self, dim), Head(d, self, dim));
  const double step = op.real(1, 1.0) / 2;
  const Tensor areas = d.Call("aten::mul.Scalar", sums, step);
  return {d.Call("aten::cumsum", areas, dim)};
}

// y, x, *, dim
std::vector<Tensor> CumulativeTrapezoidAt(Dispatcher& d, const OpView& op) {
  RequireSamples(op.self());
  const int dim = op.dim(2, op.self().rank());
  const Tensor self = d.tensor(op, 0), places = PlacesOf(d, op, dim);
  const Tensor steps = d.Call("aten::sub.Tensor", Tail(d, places, dim), Head(d, places, dim));
  const Tensor sums = d.Call("aten::add.Tensor", Head(d, self, dim), Tail(d, self, dim));
  const Tensor areas = d.Call("aten::mul.Tensor", sums, steps);
  const Tensor totals = d.Call("aten::cumsum", areas, dim);
  return {d.Call("aten::div.Scalar", totals, 2.0)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Composite(Family::kReduction,
              {"aten::trapezoid.dx", "Integrals by trapezoids of one width.",
               "(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", "aten::trapezoid.dx(f32[2,8])"},
              Trapezoid),
    Composite(
        Family::kReduction,
        {"aten::trapezoid.x", "Integrals by trapezoids between places.",
         "(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "aten::trapezoid.x(f32[2,8], f32[8])"},
        TrapezoidAt),
    Composite(Family::kReduction,
              {"aten::trapz.dx", "Integrals by trapezoids of one width.",
               "(Tensor y, *, float dx=1., int dim=-1) -> Tensor", "aten::trapz.dx(f32[2,8])"},
              Trapezoid),
    Composite(Family::kReduction,
              {"aten::trapz.x", "Integrals by trapezoids between places.",
               "(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "aten::trapz.x(f32[2,8], f32[8])"},
              TrapezoidAt),
    Composite(Family::kReduction,
              {"aten::cumulative_trapezoid.dx", "Integrals by trapezoids up to each sample.",
               "(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
               "aten::cumulative_trapezoid.dx(f32[2,8])"},
              CumulativeTrapezoid),
    Composite(Family::kReduction,
              {"aten::cumulative_trapezoid.x", "Integrals by trapezoids up to each place.",
               "(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
               "aten::cumulative_trapezoid.x(f32[2,8], f32[8])"},
              CumulativeTrapezoidAt),
};

}  // namespace

std::span<const OpDef> Integration() { return kRows; }

}  // namespace steelyard::ops
