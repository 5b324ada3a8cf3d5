// SPDX-License-Identifier: Apache-2.0
//
// Quantiles of rows, between the two nearest elements (ATen/native/Sorting.cpp). Few ranks are
// picked out of a row; for many the row is sorted. Ranks are computed in double precision, and a
// row with what is no number has but its last.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

// Elsewhere than on the CPU nobody waits for it.
void CheckRange(Dispatcher& d, const Tensor& q) {
  if (d.target().device != Device::kCpu) return;
  Tensor inside;
  {
    Tensor least = d.Call("aten::ge.Scalar", q, std::int64_t{0});
    Tensor most = d.Call("aten::le.Scalar", q, std::int64_t{1});
    d.Call("aten::logical_and_", least, most);
    inside = d.Call("aten::all", least);
    most.reset();
    least.reset();
  }
  decompose::RequireTrue(d, inside);
}

// The rows lie in the last dimension; those before it are the result's own. Their views have nodes
// of autograd.
Tensor RowsOf(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const bool keeps = op.boolean(3);
  Tensor rows = d.tensor(op, 0);
  Dims sizes;
  if (!op.given(2)) {
    rows = d.Call("aten::flatten.using_ints", rows);
    if (keeps) sizes = Dims::Filled(self.rank(), 1);
  } else {
    const int dim = op.dim(2, self.rank());
    for (int i = 0; i < self.rank(); ++i) {
      if (i != dim) sizes.push_back(self.size(i));
      if (i == dim && keeps) sizes.push_back(1);
    }
    if (dim != self.rank() - 1) {
      rows = d.Call("aten::transpose.int", d.Call("aten::unsqueeze", rows, -1), dim, -1);
    }
  }
  sizes.push_back(rows.size(-1));
  return d.Call("aten::reshape", rows, sizes);
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
  const bool few = !squares.overflowed() && squares.value() <= rows.size(-1);
  if (few && d.target().device == Device::kCpu) {
    const Tensor dense = d.Call("aten::contiguous", rows);
    Tensor order;
    {
      const Tensor both = d.Call("aten::cat", std::vector<Tensor>{below, above}, -1);
      order = d.Call("aten::empty.memory_format", Dims(both.sizes()), DType::kInt64);
      d.CallWith("steelyard::stand_in", {});
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

Tensor Interpolated(Dispatcher& d, const Tensor& rows, const Tensor& q, const Tensor& ranks) {
  Neighbours found;
  {
    const Tensor below = d.Call("aten::to.dtype", ranks, DType::kInt64);
    Tensor weights;
    {
      const Tensor part = d.Call("aten::sub.Tensor", ranks, below);
      weights = d.Call("aten::to.dtype", part, rows.dtype());
    }
    d.Call("aten::ceil_", ranks);
    const Tensor above = d.Call("aten::to.dtype", ranks, DType::kInt64);
    found = Pick(d, rows, below, above);
    d.Call("aten::lerp_.Tensor", found.below, found.above, weights);
    found.above.reset();
  }
  if (q.rank() == 0) return d.Call("aten::squeeze_.dim", found.below, -1);
  const Tensor out = d.Call("aten::unsqueeze_", found.below, 0);
  return d.Call("aten::squeeze_.dim", d.Call("aten::transpose_", out, 0, -1), -1);
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
  const Tensor rows = RowsOf(d, op);
  const Tensor line = d.Call("aten::reshape", q, Dims{-1});
  const Tensor ranks = kOfNumbers ? RanksOfNumbers(d, rows, line) : RanksOf(d, rows, line);
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

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Casting(precision::kFullOnCpu,
            Composite(Family::kSelection,
                      {"aten::quantile", "Quantiles of rows, between the two nearest elements.",
                       "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
                       "interpolation=\"linear\") -> Tensor",
                       "aten::quantile(f32[2,8], f32[3], 1)"},
                      Quantiles<false>)),
    Casting(
        precision::kFullOnCpu,
        Composite(Family::kSelection,
                  {"aten::quantile.scalar", "A quantile of rows, between the two nearest elements.",
                   "(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
                   "interpolation=\"linear\") -> Tensor",
                   "aten::quantile.scalar(f32[2,8], 0.5, 1)"},
                  QuantileOfNumber<false>)),
    Casting(precision::kFullOnCpu,
            Composite(Family::kSelection,
                      {"aten::nanquantile", "Quantiles of the numbers in rows.",
                       "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
                       "interpolation=\"linear\") -> Tensor",
                       "aten::nanquantile(f32[2,8], f32[3], 1)"},
                      Quantiles<true>)),
    Casting(precision::kFullOnCpu,
            Composite(Family::kSelection,
                      {"aten::nanquantile.scalar", "A quantile of the numbers in rows.",
                       "(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
                       "interpolation=\"linear\") -> Tensor",
                       "aten::nanquantile.scalar(f32[2,8], 0.5, 1)"},
                      QuantileOfNumber<true>)),
};

}  // namespace

std::span<const OpDef> Quantile() { return kRows; }

}  // namespace steelyard::ops
