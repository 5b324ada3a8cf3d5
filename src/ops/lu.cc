// SPDX-License-Identifier: Apache-2.0
//
// What is made of LU factors, and factors of symmetric matrices that need not be positive
// (ATen/native/BatchLinearAlgebra.cpp). Matrices lie row by row here, as nobody overwrites them.

#include "ops/gradients/lu.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/not_implemented.h"
#include "ops/lapack.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using namespace lapack;  // NOLINT(google-build-using-namespace)

// Rows, columns, and the fewer of them.
struct Extents {
  std::int64_t m, n, k;
};
Extents ExtentsOf(const TensorView& a) { return {a.size(-2), a.size(-1), Lesser(a)}; }

struct Unpacked {
  Tensor permutation, lower, upper;
};

// Triangles are cut out of matrices that lie densely one after the other, or of a copy
// (checkTrilTriuBatchContiguous in ATen/native/TriangularOpsUtils.h).
bool LiesDensely(const TensorView& a) {
  if (a.is_contiguous()) return true;
  Count step = Count(a.size(-1)) * a.size(-2);
  for (int i = a.rank() - 3; i >= 0; --i) {
    if (step != Count(a.stride(i))) return false;
    step = step * a.size(i);
  }
  return true;
}
// Upper and lower triangles, of as many rows or columns as there are of the fewer.
void CutTriangles(Dispatcher& d, const Tensor& upper, const Tensor& lower) {
  const auto cut = [&](std::string_view name, const Tensor& from, int dim) {
    const Tensor part = d.Call("aten::narrow", from, dim, 0, Lesser(from.view()));
    if (!LiesDensely(part.view())) TriangleOfCopy(d, name, part.view());
  };
  cut("aten::triu", upper, -2);
  cut("aten::tril", lower, -1);
}
// The pivots, applied to the places in order.
void MakePermutation(Dispatcher& d, const TensorView& a, const Tensor& pivots) {
  Tensor places;
  {
    const Tensor order = d.Call("aten::arange", a.size(-2), DType::kInt64);
    const Tensor spread = d.Call("aten::expand", order, With(BatchOf(a), {a.size(-2)}));
    places = d.Call("aten::contiguous", spread);
  }
  d.Call("aten::contiguous", pivots);
}

// LU_data, LU_pivots, unpack_data, unpack_pivots
std::vector<Tensor> Unpack(Dispatcher& d, const OpView& op) {
  const TensorView lu = op.self(), pivots = op.tensor(1);
  if (BitsOf(lu.dtype()) < 32) Refuse("factors of half precision are not modelled");
  RequireMatrix(lu);
  if (pivots.dtype() != DType::kInt32) Refuse("pivots are int32, not " + shape::Text(pivots));
  const Dims wanted = With(BatchOf(lu), {Lesser(lu)});
  if (!std::ranges::equal(pivots.sizes(), std::span<const std::int64_t>(wanted))) {
    Refuse("pivots " + shape::Text(pivots) + " of " + shape::Text(lu));
  }
  const bool with_data = op.boolean(2, true), with_pivots = op.boolean(3, true);
  const Extents e = ExtentsOf(lu);
  const auto made = [&](bool wants, std::int64_t rows, std::int64_t columns) {
    return MadeByRows(d, wants ? With(BatchOf(lu), {rows, columns}) : Dims{0}, lu.dtype());
  };
  Unpacked out;
  out.permutation = made(with_pivots, e.m, e.m);
  out.lower = made(with_data, e.m, e.k);
  out.upper = made(with_data, e.k, e.n);
  const Tensor self = d.tensor(op, 0);
  if (with_data) CutTriangles(d, self, self);
  if (with_pivots) MakePermutation(d, lu, d.tensor(op, 1));
  return {out.permutation, out.lower, out.upper};
}

// A, *, pivot: the factors are made in the larger of both results
std::vector<Tensor> Factors(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireMatrix(a);
  if (!op.boolean(1, true)) Refuse("LAPACK factorizes with pivots");
  const Extents e = ExtentsOf(a);
  Unpacked out;
  out.permutation = MadeByRows(d, With(BatchOf(a), {e.m, e.m}), a.dtype());
  out.lower = MadeByRows(d, With(BatchOf(a), {e.m, e.k}), a.dtype());
  out.upper = MadeByRows(d, With(BatchOf(a), {e.k, e.n}), a.dtype());
  Tensor pivots, info;
  {
    const Dispatcher::Inside frame(d, "aten::linalg_lu_factor_ex");
    const Tensor factors = MadeByColumns(d, Dims(a.sizes()), a.dtype());
    pivots = MadeByRows(d, With(BatchOf(a), {e.k}), DType::kInt32);
    info = MadeByRows(d, BatchOf(a), DType::kInt32);
    d.Call("aten::copy_", factors, op.arg(0));
    Run(d, factors, "getrf");
  }
  {
    const Dispatcher::Inside frame(d, "aten::lu_unpack");
    const Tensor factors = e.m > e.n ? out.lower : out.upper;
    CutTriangles(d, factors, factors);
    MakePermutation(d, a, pivots);
  }
  return {out.permutation, out.lower, out.upper};
}

// self, LU_data, LU_pivots
std::vector<Tensor> OldSolve(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::linalg_lu_solve", op.arg(1), op.arg(2), op.arg(0))};
}

// Columns that MKL takes at once.
std::int64_t SymmetricBlock(std::int64_t n, DType dtype, bool hermitian) {
  constexpr std::int64_t kUnblocked = 10, kReal = 24, kComplex = 48, kHermitian = 64;
  if (n <= kUnblocked) return 1;
  if (!IsComplex(dtype)) return kReal;
  return hermitian ? kHermitian : kComplex;
}

// self, *, hermitian, check_errors
std::vector<Tensor> SymmetricFactors(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const std::int64_t n = a.size(-1);
  const Tensor out = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  const Tensor pivots = MadeByRows(d, With(BatchOf(a), {n}), DType::kInt32);
  const Tensor info = MadeByRows(d, BatchOf(a), DType::kInt32);
  if (!LiesDensely(a)) TriangleOfCopy(d, "aten::tril", a);
  {
    const std::int64_t block = SymmetricBlock(n, a.dtype(), op.boolean(1));
    const Tensor space = d.Call("aten::empty.memory_format", Dims{n * block}, a.dtype());
    Run(d, out, "sytrf");
  }
  if (op.boolean(2)) CheckErrors(d, info, "torch.linalg.ldl_factor_ex");
  return {out, pivots, info};
}
std::vector<Tensor> CheckedSymmetricFactors(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> all = d.CallMany("aten::linalg_ldl_factor_ex", op.arg(0), op.arg(1), false);
  CheckErrors(d, all[2], "torch.linalg.ldl_factor");
  all.pop_back();
  return all;
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Call({"aten::linalg_lu", "Triangular factors of matrices, and their permutations.",
          "(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
          "aten::linalg_lu(f32[2,4,3])"},
         Factors, gradients::kLu),
    Call({"aten::lu_unpack", "Triangular factors and permutations, one apart from the other.",
          "(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
          "(Tensor P, Tensor L, Tensor U)",
          "aten::lu_unpack(f32[2,4,3]{12,1,4}, i32[2,3])"},
         Unpack, gradients::kLuUnpack),
    Casting(precision::kFullOnCpu,
            Call({"aten::lu_solve", "Solutions of linear systems whose matrix is factorized.",
                  "(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
                  "aten::lu_solve(f32[3,4], f32[3,3]{1,3}, i32[3])"},
                 OldSolve)),
    Call({"aten::linalg_ldl_factor_ex", "Factors of symmetric matrices, and where there are none.",
          "(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor "
          "pivots, Tensor info)",
          "aten::linalg_ldl_factor_ex(f32[2,3,3])"},
         SymmetricFactors, gradients::kNotImplementedOf<0>.OnlyOf({0})),
    Call({"aten::linalg_ldl_factor", "Factors of symmetric matrices.",
          "(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
          "aten::linalg_ldl_factor(f32[3,3])"},
         CheckedSymmetricFactors),
};

}  // namespace

std::span<const OpDef> Lu() { return kRows; }

}  // namespace steelyard::ops
