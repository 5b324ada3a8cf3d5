// SPDX-License-Identifier: Apache-2.0
//
// What is asked of samples: quantiles, covariances, distances, integrals by trapezoids
// (ATen/native/Sorting.cpp, Correlation.cpp, Integration.cpp, Distance.cpp).

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

// --- quantile(self, q, dim, keepdim, *, interpolation) -------------------------------------------

// is_scalar_tensor_true: compared with a tensor that is.
void RequireTrue(Dispatcher& d, const Tensor& condition) {
  d.Call("aten::new_ones", condition, Dims{});
}

void CheckRange(Dispatcher& d, const Tensor& q) {
  Tensor inside;
  {
    Tensor least = d.Call("aten::ge.Scalar", q, std::int64_t{0});
    Tensor most = d.Call("aten::le.Scalar", q, std::int64_t{1});
    d.Call("aten::logical_and_", least, most);
    inside = d.Call("aten::all", least);
    most.reset();
    least.reset();
  }
  RequireTrue(d, inside);
}

// Which rows, and what becomes of the dimensions that they had.
struct Rows {
  Tensor values;  // the last dimension is the row
  Dims sizes;     // of a quantile of each row, the row's dimension kept as 1 if asked for
};

Rows RowsOf(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const bool keeps = op.boolean(3);
  const Tensor own = d.tensor(op, 0);
  Rows out;
  if (!op.given(2)) {
    out.values = d.Call("aten::flatten.using_ints", own);
    if (keeps) out.sizes = Dims::Filled(self.rank(), 1);
    return out;
  }
  const int dim = op.dim(2, self.rank());
  for (int i = 0; i < self.rank(); ++i) {
    if (i != dim) out.sizes.push_back(self.size(i));
    if (i == dim && keeps) out.sizes.push_back(1);
  }
  if (self.rank() == 0) {
    out.values = d.Call("aten::flatten.using_ints", own);
  } else if (keeps) {
    out.values = d.Call("aten::transpose.int", d.Call("aten::unsqueeze", own, -1), dim, -1);
  } else if (dim == self.rank() - 1) {
    out.values = own;
  } else {
    Dims order;
    for (int i = 0; i < self.rank(); ++i) {
      if (i != dim) order.push_back(i);
    }
    order.push_back(dim);
    out.values = d.Call("aten::permute", own, order);
  }
  return out;
}

// The elements whose ranks are asked for. Few of them are picked out, for many the row is sorted.
struct Neighbours {
  Tensor below, above;
};
Neighbours Pick(Dispatcher& d, const Tensor& rows, const Tensor& below, const Tensor& above) {
  const std::int64_t count = below.size(-1);
  const Count ranks = Count(2) * count;
  const Count squares = ranks * ranks;
  Neighbours out;
  if (!squares.overflowed() && squares.value() <= rows.size(-1)) {
    const Tensor dense = d.Call("aten::contiguous", rows);
    Tensor order;
    {
      const Tensor both = d.Call("aten::cat", std::vector<Tensor>{below, above}, -1);
      order = d.Call("aten::empty.memory_format", Dims(both.sizes()), DType::kInt64);
    }
    out.below = d.Call("aten::gather", dense, -1, d.Call("aten::narrow", order, -1, 0, count));
    out.above = d.Call("aten::gather", dense, -1, d.Call("aten::narrow", order, -1, count, count));
    return out;
  }
  const Tensor sorted = d.CallMany("aten::sort", rows)[0];
  out.below = d.Call("aten::gather", sorted, -1, below);
  out.above = d.Call("aten::gather", sorted, -1, above);
  return out;
}

// The ranks of the quantiles in each row, in double precision. A row with what is no number has
// none but the last, which is where sorting puts it.
Tensor RanksOf(Dispatcher& d, const Tensor& rows, const Tensor& q) {
  const std::int64_t last = rows.size(-1) - 1;
  Tensor wide = d.Call("aten::to.dtype", q, DType::kFloat64);
  Tensor ranks = d.Call("aten::mul.Scalar", wide, last);
  Tensor missing = d.Call("aten::isnan", rows);
  Tensor any = d.Call("aten::any.dim", missing, -1, true);
  Dims sizes(rows.sizes());
  sizes[sizes.size() - 1] = q.count();
  Tensor spread = d.Call("aten::expand", ranks, sizes);
  any = d.Call("aten::expand", any, sizes);
  missing.reset();
  wide.reset();
  Tensor out = d.Call("aten::masked_fill.Scalar", spread, any, last);
  spread.reset();
  ranks.reset();
  any.reset();
  return out;
}
// Of the numbers in each row.
Tensor RanksOfNumbers(Dispatcher& d, const Tensor& rows, const Tensor& q) {
  Tensor numbers = d.Call("aten::isnan", rows);
  d.Call("aten::logical_not_", numbers);
  Tensor count = d.Call("aten::sum.dim_IntList", numbers, Dims{-1}, true);
  Tensor last = d.Call("aten::sub.Scalar", count, std::int64_t{1});
  Tensor wide = d.Call("aten::to.dtype", q, DType::kFloat64);
  Tensor ranks = d.Call("aten::mul.Tensor", wide, last);
  wide.reset();
  last.reset();
  count.reset();
  numbers.reset();
  const Tensor none = d.Call("aten::lt.Scalar", ranks, std::int64_t{0});
  d.Call("aten::masked_fill_.Scalar", ranks, none, std::int64_t{0});
  return ranks;
}

Tensor Interpolated(Dispatcher& d, const Rows& rows, const Tensor& q, const Tensor& ranks) {
  Neighbours found;
  {
    const Tensor below = d.Call("aten::to.dtype", ranks, DType::kInt64);
    Tensor weights;
    {
      const Tensor part = d.Call("aten::sub.Tensor", ranks, below);
      weights = d.Call("aten::to.dtype", part, rows.values.dtype());
    }
    d.Call("aten::ceil_", ranks);
    const Tensor above = d.Call("aten::to.dtype", ranks, DType::kInt64);
    found = Pick(d, rows.values, below, above);
    d.Call("aten::lerp_.Tensor", found.below, found.above, weights);
    found.above.reset();
  }
  Dims sizes = rows.sizes;
  sizes.push_back(found.below.size(-1));
  const Tensor out = d.Call("aten::view", found.below, sizes);
  if (q.rank() == 0) return d.Call("aten::squeeze.dim", out, -1);
  Dims order{sizes.size() - 1};
  for (int i = 0; i + 1 < sizes.size(); ++i) order.push_back(i);
  return d.Call("aten::permute", out, order);
}

template <bool kOfNumbers>
Tensor QuantilesAt(Dispatcher& d, const OpView& op, const Tensor& q) {
  const TensorView self = op.self();
  if (self.count() == 0) Refuse("quantiles of no samples");
  if (self.dtype() != DType::kFloat32 && self.dtype() != DType::kFloat64) {
    Refuse("quantiles are of float32 or float64, not " + shape::Text(self));
  }
  if (q.dtype() != self.dtype()) Refuse("samples and q must be of one dtype");
  if (q.rank() > 1) Refuse("q has at most one dimension");
  if (const std::string_view how = op.text(4); !how.empty() && how != "linear") {
    Refuse("quantiles that are not interpolated are not modelled");
  }
  CheckRange(d, q);
  const Rows rows = RowsOf(d, op);
  const Tensor line = d.Call("aten::reshape", q, Dims{-1});
  const Tensor ranks =
      kOfNumbers ? RanksOfNumbers(d, rows.values, line) : RanksOf(d, rows.values, line);
  return Interpolated(d, rows, q, ranks);
}
template <bool kOfNumbers>
std::vector<Tensor> Quantiles(Dispatcher& d, const OpView& op) {
  return {QuantilesAt<kOfNumbers>(d, op, d.tensor(op, 1))};
}
template <bool kOfNumbers>
std::vector<Tensor> QuantileOfNumber(Dispatcher& d, const OpView& op) {
  const Tensor q = d.Call("aten::scalar_tensor", op.arg(1), op.self().dtype());
  return {QuantilesAt<kOfNumbers>(d, op, q)};
}

// --- cov(self, *, correction, fweights, aweights) -----------------------------------------------

std::vector<Tensor> Covariance(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() > 2 || self.dtype() == DType::kBool) Refuse("no samples: " + shape::Text(self));
  if (op.given(2) || op.given(3)) Refuse("weighted covariances are not modelled");
  if (!IsFloating(self.dtype())) Refuse("covariances of other than real numbers are not modelled");
  Tensor samples = d.tensor(op, 0);
  if (self.rank() < 2) samples = d.Call("aten::view", samples, Dims{1, -1});
  const std::int64_t count = samples.size(1);
  const Tensor total = d.Call("aten::scalar_tensor", count, DType::kInt64);
  Tensor mean;
  {
    const Tensor sum = d.Call("aten::sum.dim_IntList", samples, Dims{1});
    mean = d.Call("aten::div.Tensor", sum, total);
  }
  const Tensor norm = d.Call("aten::scalar_tensor", count - op.integer(1, 1), DType::kInt64);
  {
    const Tensor small = d.Call("aten::le.Scalar", norm, std::int64_t{0});
    RequireTrue(d, small);
  }
  samples = d.Call("aten::sub.Tensor", samples, d.Call("aten::unsqueeze", mean, 1));
  Tensor out;
  {
    const Tensor product = d.Call("aten::mm", samples, d.Call("aten::t", samples));
    out = d.Call("aten::true_divide.Tensor", product, norm);
  }
  return {d.Call("aten::squeeze", out)};
}

std::vector<Tensor> Correlation(Dispatcher& d, const OpView& op) {
  if (op.self().rank() != 2) Refuse("correlations of one variable are not modelled");
  Tensor out = d.Call("aten::cov", op.arg(0));
  if (out.rank() != 2) Refuse("correlations of one variable are not modelled");
  const Tensor variances = d.Call("aten::diagonal", out);
  const Tensor deviations = d.Call("aten::sqrt", variances);
  out = d.Call("aten::div.Tensor", out, d.Call("aten::view", deviations, Dims{-1, 1}));
  out = d.Call("aten::div.Tensor", out, d.Call("aten::view", deviations, Dims{1, -1}));
  return {d.Call("aten::clip", out, std::int64_t{-1}, std::int64_t{1})};
}

// --- Trapezoids ---------------------------------------------------------------------------------

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
std::vector<Tensor> CumulativeTrapezoid(Dispatcher& d, const OpView& op) {
  RequireSamples(op.self());
  const int dim = op.dim(2, op.self().rank());
  const Tensor self = d.tensor(op, 0);
  const Tensor sums = d.Call("aten::add.Tensor", Tail(d, self, dim), Head(d, self, dim));
  const double step = op.real(1, 1.0) / 2;
  const Tensor areas = d.Call("aten::mul.Scalar", sums, step);
  return {d.Call("aten::cumsum", areas, dim)};
}

// --- dist(self, other, p) -----------------------------------------------------------------------

std::vector<Tensor> Distance(Dispatcher& d, const OpView& op) {
  const Tensor difference = d.Call("aten::sub.Tensor", op.arg(0), op.arg(1));
  return {d.Call("aten::norm.Scalar", difference, op.arg(2))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Call(Family family, const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(family, words, decompose, grad);
}

constexpr std::array kRows{
    Casting(precision::kFullOnCpu,
            Call(Family::kSelection,
                 {"aten::quantile", "Quantiles of rows, between the two nearest elements.",
                  "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
                  "interpolation=\"linear\") -> Tensor",
                  "aten::quantile(f32[2,8], f32[3], 1)"},
                 Quantiles<false>)),
    Casting(precision::kFullOnCpu,
            Call(Family::kSelection,
                 {"aten::quantile.scalar", "A quantile of rows, between the two nearest elements.",
                  "(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
                  "interpolation=\"linear\") -> Tensor",
                  "aten::quantile.scalar(f32[2,8], 0.5, 1)"},
                 QuantileOfNumber<false>)),
    Casting(precision::kFullOnCpu,
            Call(Family::kSelection,
                 {"aten::nanquantile", "Quantiles of the numbers in rows.",
                  "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
                  "interpolation=\"linear\") -> Tensor",
                  "aten::nanquantile(f32[2,8], f32[3], 1)"},
                 Quantiles<true>)),
    Casting(precision::kFullOnCpu,
            Call(Family::kSelection,
                 {"aten::nanquantile.scalar", "A quantile of the numbers in rows.",
                  "(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
                  "interpolation=\"linear\") -> Tensor",
                  "aten::nanquantile.scalar(f32[2,8], 0.5, 1)"},
                 QuantileOfNumber<true>)),
    Call(Family::kReduction,
         {"aten::cov", "Covariances of variables, one a row.",
          "(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
          "Tensor",
          "aten::cov(f32[3,8])"},
         Covariance),
    Call(Family::kReduction,
         {"aten::corrcoef", "Correlations of variables, one a row.", "(Tensor self) -> Tensor",
          "aten::corrcoef(f32[3,8])"},
         Correlation),
    Call(Family::kReduction,
         {"aten::trapezoid.dx", "Integrals by trapezoids of one width.",
          "(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", "aten::trapezoid.dx(f32[2,8])"},
         Trapezoid),
    Call(Family::kReduction,
         {"aten::trapezoid.x", "Integrals by trapezoids between places.",
          "(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "aten::trapezoid.x(f32[2,8], f32[8])"},
         TrapezoidAt),
    Call(Family::kReduction,
         {"aten::trapz.dx", "Integrals by trapezoids of one width.",
          "(Tensor y, *, float dx=1., int dim=-1) -> Tensor", "aten::trapz.dx(f32[2,8])"},
         Trapezoid),
    Call(Family::kReduction,
         {"aten::trapz.x", "Integrals by trapezoids between places.",
          "(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "aten::trapz.x(f32[2,8], f32[8])"},
         TrapezoidAt),
    Call(Family::kReduction,
         {"aten::cumulative_trapezoid.dx", "Integrals by trapezoids up to each sample.",
          "(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
          "aten::cumulative_trapezoid.dx(f32[2,8])"},
         CumulativeTrapezoid),
    Call(Family::kReduction,
         {"aten::cumulative_trapezoid.x", "Integrals by trapezoids up to each place.",
          "(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
          "aten::cumulative_trapezoid.x(f32[2,8], f32[8])"},
         CumulativeTrapezoidAt),
    Casting(precision::kFullOnCuda, Call(Family::kReduction,
                                         {"aten::dist", "The norm of a difference.",
                                          "(Tensor self, Tensor other, Scalar p=2) -> Tensor",
                                          "aten::dist(f32[3,4], f32[3,4])"},
                                         Distance, kGradientUnknown)),
};

}  // namespace

std::span<const OpDef> Samples() { return kRows; }

}  // namespace steelyard::ops
