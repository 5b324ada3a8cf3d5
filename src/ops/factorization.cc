// SPDX-License-Identifier: Apache-2.0
//
// Triangular factors of matrices, and the inverses, solutions and determinants that are made of
// them (ATen/native/BatchLinearAlgebra.cpp, LinearAlgebra.cpp). LAPACK reads columns: results lie
// column by column, and so do the copies of operands that it overwrites.

#include "ops/gradients/factorization.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/lu.h"
#include "ops/lapack.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using namespace lapack;  // NOLINT(google-build-using-namespace)

// --- LU -----------------------------------------------------------------------------------------

// A matrix of rows is factorized as its transpose, which is no copy in another order.
bool TakesTransposed(const Tensor& a) { return a.is_contiguous() && !IsComplex(a.dtype()); }

void Factorize(Dispatcher& d, const Tensor& a, const Tensor& factors) {
  d.Call("aten::copy_", factors, a);
  Run(d, factors, "getrf");
}

// A, *, pivot, check_errors
std::vector<Tensor> LuFactorEx(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireMatrix(a);
  if (!op.boolean(1, true)) Refuse("LAPACK factorizes with pivots");
  const Tensor factors = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  const Tensor pivots = MadeByRows(d, With(BatchOf(a), {Lesser(a)}), DType::kInt32);
  const Tensor info = MadeByRows(d, BatchOf(a), DType::kInt32);
  Factorize(d, d.tensor(op, 0), factors);
  if (op.boolean(2)) CheckErrors(d, info, "torch.linalg.lu_factor_ex");
  return {factors, pivots, info};
}

std::vector<Tensor> LuFactor(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> all = d.CallMany("aten::linalg_lu_factor_ex", op.arg(0), op.arg(1), false);
  CheckErrors(d, all[2], "torch.linalg.lu_factor");
  all.pop_back();
  return all;
}

void RequireAll(Dispatcher& d, OpName test, const Tensor& pivots, std::int64_t limit) {
  const Tensor passes = d.Call(test, pivots, limit);
  d.Call("aten::all", passes);
}

struct Side {
  bool left = true;
};

// Over `out`, in which the right-hand sides are.
void SolveFactorized(Dispatcher& d, const Tensor& factors, const Tensor& pivots, const Tensor& out,
                     Side side) {
  if (!std::ranges::equal(BatchOf(factors.view()), BatchOf(out.view()))) {
    Refuse("systems that are repeated over a batch are not modelled");
  }
  if (out.count() == 0) return;
  const Tensor ordered = pivots.is_contiguous() ? pivots : d.Call("aten::contiguous", pivots);
  const Tensor lu = LiesByColumns(factors) ? factors : CopyByColumns(d, factors);
  RequireAll(d, "aten::gt.Scalar", pivots, 0);
  RequireAll(d, "aten::le.Scalar", pivots, factors.size(-2));
  const Tensor columns = side.left ? out : d.Call("aten::mT", out);
  d.Call("steelyard::lapack", factors, d.Text("getrs"), columns.size(-1));
}

// Sizes of the solutions: batches are broadcast.
Dims SolutionSizes(const TensorView& a, const TensorView& b) {
  const std::optional<Dims> batch = BroadcastShapes(BatchOf(a), BatchOf(b));
  if (!batch) Refuse(fmt::format("{} and {} are not as many", shape::Text(a), shape::Text(b)));
  return With(*batch, {b.size(-2), b.size(-1)});
}

// LU, pivots, B, *, left, adjoint
std::vector<Tensor> LuSolve(Dispatcher& d, const OpView& op) {
  const TensorView lu = op.self(), pivots = op.tensor(1), b = op.tensor(2);
  RequireSquare(lu);
  RequireMatrix(b);
  RequireSameType(lu, b);
  if (pivots.dtype() != DType::kInt32) Refuse("pivots are int32, not " + shape::Text(pivots));
  const bool left = op.boolean(3, true);
  shape::RequireEqual("rows of the factors and of B", lu.size(-1), b.size(left ? -2 : -1));
  const Dims wanted = With(BatchOf(lu), {lu.size(-1)});
  if (!std::ranges::equal(pivots.sizes(), std::span<const std::int64_t>(wanted))) {
    Refuse(fmt::format("pivots {} of {}", shape::Text(pivots), shape::Text(lu)));
  }
  const Dims sizes = SolutionSizes(lu, b);
  const Tensor out = left ? MadeByColumns(d, sizes, b.dtype()) : MadeByRows(d, sizes, b.dtype());
  d.Call("aten::copy_", out, d.tensor(op, 2));
  SolveFactorized(d, d.tensor(op, 0), d.tensor(op, 1), out, {left});
  return {out};
}

// B is a vector, or a batch of them.
bool IsVector(const TensorView& a, const TensorView& b) {
  if (b.rank() == 1) return true;
  if (b.rank() != a.rank() - 1) return false;
  return std::ranges::equal(b.sizes(), a.sizes().first(static_cast<std::size_t>(a.rank() - 1)));
}

// A, B, *, left, check_errors
std::vector<Tensor> SolveParts(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self(), b = op.tensor(1);
  RequireSquare(a);
  RequireSameType(a, b);
  const bool left = op.boolean(2, true), vector = IsVector(a, b);
  if (vector && !left) Refuse("a vector stands on the right");
  const Tensor self = d.tensor(op, 0), sides = d.tensor(op, 1);
  const Tensor columns = vector ? d.Call("aten::unsqueeze", sides, -1) : sides;
  RequireMatrix(columns.view());
  shape::RequireEqual("rows of A and of B", a.size(-1), columns.size(left ? -2 : -1));
  const Dims sizes = SolutionSizes(a, columns.view());
  Dims own = sizes;
  if (vector) own.erase(own.size() - 1);
  const bool by_columns = left && own.size() > 1;
  const Dims strides = by_columns ? ColumnMajor(own) : ContiguousStrides(own);
  const Tensor out = Made(d, own, strides, b.dtype());
  const Tensor lu = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  const Tensor pivots = MadeByRows(d, With(BatchOf(a), {a.size(-1)}), DType::kInt32);
  const Tensor info = MadeByRows(d, BatchOf(a), DType::kInt32);
  {
    const Dispatcher::Inside frame(d, "aten::linalg_lu_factor_ex");
    Factorize(d, self, lu);
  }
  if (op.boolean(3)) CheckErrors(d, info, "torch.linalg.solve_ex");
  {
    const Dispatcher::Inside frame(d, "aten::linalg_lu_solve");
    const bool apart = vector && (a.size(-1) > 1 || a.rank() > 2);
    const Tensor seen = apart    ? MadeByColumns(d, sizes, b.dtype())
                        : vector ? d.Call("aten::unsqueeze", out, -1)
                                 : out;
    d.Call("aten::copy_", seen, columns);
    SolveFactorized(d, lu, pivots, seen, {left});
    if (apart) d.Call("aten::copy_", out, d.Call("aten::squeeze.dim", seen, -1));
  }
  return {out, lu, pivots, info};
}

std::vector<Tensor> SolveEx(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> all =
      d.CallMany("aten::_linalg_solve_ex", op.arg(0), op.arg(1), op.arg(2), op.arg(3));
  all[1].reset();
  all[2].reset();
  return {all[0], all[3]};
}

std::vector<Tensor> Solve(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> both =
      d.CallMany("aten::linalg_solve_ex", op.arg(0), op.arg(1), op.arg(2), false);
  CheckErrors(d, both[1], "torch.linalg.solve");
  return {both[0]};
}

// A, *, check_errors: the unit matrix, over which the solution is written
std::vector<Tensor> InverseEx(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const Tensor self = d.tensor(op, 0);
  const Tensor out = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  const Tensor info = MadeByRows(d, BatchOf(a), DType::kInt32);
  d.Call("aten::zero_", out);
  d.Call("aten::fill_.Scalar", d.Call("aten::diagonal", out, 0, -2, -1), std::int64_t{1});
  {
    const Dispatcher::Inside outer(d, "aten::linalg_solve_ex");
    Tensor lu, pivots;
    {
      const Dispatcher::Inside inner(d, "aten::_linalg_solve_ex");
      lu = MadeByColumns(d, Dims(a.sizes()), a.dtype());
      pivots = MadeByRows(d, With(BatchOf(a), {a.size(-1)}), DType::kInt32);
      Factorize(d, TakesTransposed(self) ? d.Call("aten::mT", self) : self, lu);
      const Dispatcher::Inside innermost(d, "aten::linalg_lu_solve");
      SolveFactorized(d, lu, pivots, out, {true});
    }
    pivots.reset();
  }
  if (op.boolean(1)) CheckErrors(d, info, "torch.linalg.inv_ex");
  return {out, info};
}

std::vector<Tensor> Inverse(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> both = d.CallMany("aten::linalg_inv_ex", op.arg(0), false);
  CheckErrors(d, both[1], "linalg.inv");
  return {both[0]};
}

// --- Determinants -------------------------------------------------------------------------------

// 1 or -1, as the rows were exchanged an even or odd number of times (lu_det_P).
Tensor SignOfPivots(Dispatcher& d, const Tensor& pivots) {
  Tensor places = d.Call("aten::arange.start", std::int64_t{1}, pivots.size(-1) + 1, DType::kInt32);
  Tensor moved = d.Call("aten::ne.Tensor", places, pivots);
  const Tensor count = d.Call("aten::sum.dim_IntList", moved, Dims{-1}, false, DType::kInt64);
  d.Call("aten::fmod_.Scalar", count, std::int64_t{2});
  d.Call("aten::mul_.Scalar", count, std::int64_t{-2});
  d.Call("aten::add_.Scalar", count, std::int64_t{1});
  moved.reset();
  places.reset();
  return count;
}

struct Factors {
  Tensor lu, pivots;
};
Factors MakeFactors(Dispatcher& d, const TensorView& a) {
  Factors out;
  out.lu = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  out.pivots = MadeByRows(d, With(BatchOf(a), {a.size(-1)}), DType::kInt32);
  return out;
}
Tensor FactorizeInto(Dispatcher& d, const Tensor& a, const Factors& factors) {
  const Dispatcher::Inside frame(d, "aten::linalg_lu_factor_ex");
  const Tensor info = MadeByRows(d, BatchOf(a.view()), DType::kInt32);
  Factorize(d, TakesTransposed(a) ? d.Call("aten::mT", a) : a, factors.lu);
  return info;
}

std::vector<Tensor> DeterminantParts(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const Tensor out = MadeByRows(d, BatchOf(a), a.dtype());
  const Factors factors = MakeFactors(d, a);
  const Tensor info = FactorizeInto(d, d.tensor(op, 0), factors);
  const Tensor diagonal = d.Call("aten::diagonal", factors.lu, 0, -2, -1);
  const Tensor product = d.Call("aten::prod.dim_int", diagonal, -1);
  const Tensor sign = SignOfPivots(d, factors.pivots);
  d.Call("steelyard::product_into", out, sign, product);
  return {out, factors.lu, factors.pivots};
}

std::vector<Tensor> Determinant(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> all = d.CallMany("aten::_linalg_det", op.arg(0));
  all[1].reset();
  all[2].reset();
  return {all[0]};
}

std::vector<Tensor> LogDeterminantParts(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const Tensor out_sign = MadeByRows(d, BatchOf(a), a.dtype());
  const Tensor out = MadeByRows(d, BatchOf(a), RealOf(a.dtype()));
  const Factors factors = MakeFactors(d, a);
  const Tensor info = FactorizeInto(d, d.tensor(op, 0), factors);
  const Tensor diagonal = d.Call("aten::diagonal", factors.lu, 0, -2, -1);
  Tensor permutation = SignOfPivots(d, factors.pivots);
  {
    Tensor signs = d.Call("aten::sgn", diagonal);
    Tensor product = d.Call("aten::prod.dim_int", signs, -1);
    d.Call("steelyard::product_into", out_sign, product, permutation);
    product.reset();
    signs.reset();
    permutation.reset();
  }
  const Tensor magnitude = d.Call("aten::abs", diagonal);
  d.Call("aten::log_", magnitude);
  d.Call("steelyard::sum_into", out, magnitude);
  return {out_sign, out, factors.lu, factors.pivots};
}

std::vector<Tensor> LogDeterminant(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> all = d.CallMany("aten::_linalg_slogdet", op.arg(0));
  all[2].reset();
  all[3].reset();
  return {all[0], all[1]};
}

std::vector<Tensor> OldLogDeterminant(Dispatcher& d, const OpView& op) {
  return d.CallMany("aten::linalg_slogdet", op.arg(0));
}

// No number where the determinant is negative.
std::vector<Tensor> RealLogDeterminant(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> both = d.CallMany("aten::linalg_slogdet", op.arg(0));
  if (IsComplex(op.self().dtype())) {
    return {d.Call("aten::add.Tensor", d.Call("aten::log", both[0]), both[1])};
  }
  const Tensor negative = d.Call("aten::eq.Scalar", both[0], -1.0);
  return {d.Call("aten::where.ScalarSelf", negative, std::numeric_limits<double>::quiet_NaN(),
                 both[1])};
}

// Triangles are cut out of matrices that lie densely one after the other, or of a copy
// (checkTrilTriuBatchContiguous in ATen/native/TriangularOpsUtils.h).
bool IsDenseBatch(const TensorView& a) {
  Count step = Count(a.size(-1)) * a.size(-2);
  for (int i = a.rank() - 3; i >= 0; --i) {
    if (step != Count(a.stride(i))) return false;
    step = step * a.size(i);
  }
  return true;
}
// --- Cholesky -----------------------------------------------------------------------------------

// self, *, upper, check_errors
std::vector<Tensor> CholeskyEx(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const Tensor out = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  const Tensor info = MadeByRows(d, BatchOf(a), DType::kInt32);
  Run(d, out, "potrf");
  if (!IsDenseBatch(a)) TriangleOfCopy(d, op.boolean(1) ? "aten::triu" : "aten::tril", a);
  if (op.boolean(2)) CheckErrors(d, info, "torch.linalg.cholesky_ex");
  return {out, info};
}
std::vector<Tensor> Cholesky(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> both =
      d.CallMany("aten::linalg_cholesky_ex", op.arg(0), op.arg(1), false);
  CheckErrors(d, both[1], "linalg.cholesky");
  return {both[0]};
}

// Of both operators: the right-hand sides, and a root of as many rows.
void RequireRootFor(const TensorView& sides, const TensorView& root) {
  RequireMatrix(sides);
  RequireSquare(root);
  RequireSameType(root, sides);
  shape::RequireEqual("rows of the factor and of the right-hand sides", root.size(-1),
                      sides.size(-2));
}

// A matrix for each system, where these are the sizes of the solutions.
Dims FactorSizes(const TensorView& a, const Dims& solutions) {
  Dims sizes = solutions;
  sizes[sizes.size() - 1] = sizes[sizes.size() - 2] = a.size(-1);
  return sizes;
}

// self, A, upper: both of the same batches, which the kernel trusts its caller for
std::vector<Tensor> CholeskySolveParts(Dispatcher& d, const OpView& op) {
  RequireHost(d.target());
  RequireRootFor(op.self(), op.tensor(1));
  const Tensor out = CopyByColumns(d, d.tensor(op, 0));
  const Tensor factor = CopyByColumns(d, d.tensor(op, 1));
  const Tensor info = d.Call("aten::zeros", BatchOf(op.self()), DType::kInt32);
  d.Call("steelyard::lapack", factor, d.Text("potrs"), out.size(-1));
  CheckErrors(d, info, "cholesky_solve_cpu");
  return {out};
}
// self, input2, upper: both broadcast
std::vector<Tensor> CholeskySolve(Dispatcher& d, const OpView& op) {
  const TensorView b = op.self(), a = op.tensor(1);
  RequireRootFor(b, a);
  const Dims sizes = SolutionSizes(a, b);
  const Dims factor = FactorSizes(a, sizes);
  const Tensor sides = d.Call("aten::expand", op.arg(0), sizes);
  const Tensor spread = d.Call("aten::expand", op.arg(1), factor);
  return {d.Call("aten::_cholesky_solve_helper", sides, spread, op.arg(2))};
}

// --- Triangular systems -------------------------------------------------------------------------

bool LiesByColumns(const TensorView& a) {
  Dims turned(a.sizes()), strides(a.strides());
  std::swap(turned[a.rank() - 1], turned[a.rank() - 2]);
  std::swap(strides[a.rank() - 1], strides[a.rank() - 2]);
  return IsContiguous(turned, strides);
}
// Whether A is what every system of the batch has, and not one that is repeated.
bool IsWhole(const TensorView& a, const Dims& sizes) {
  return work::Elements(FactorSizes(a, sizes)) == work::Elements(a);
}
// A conjugate that lies by columns is read as the adjoint of what is stored, from the other side.
bool ReadsAdjoint(const TensorView& a, const Dims& sizes) {
  return a.value().conjugated && IsWhole(a, sizes) && LiesByColumns(a);
}

// self, B, *, upper, left, unitriangular
void TriangularShape(const OpView& op, Outputs& out) {
  RequireHost(op.target());
  const TensorView a = op.self(), b = op.tensor(1);
  RequireSquare(a);
  RequireMatrix(b);
  RequireSameType(a, b);
  const bool left = op.boolean(3, true);
  shape::RequireEqual("rows of A and of B", a.size(-1), b.size(left ? -2 : -1));
  const Dims sizes = SolutionSizes(a, b);
  if (ReadsAdjoint(a, sizes)) {
    out.Add(a.dtype(), sizes);
  } else {
    out.Add(a.dtype(), sizes, ColumnMajor(sizes));
  }
}
// A matrix that lies neither by rows nor by columns, or is repeated over the batch, is copied.
void TriangularAllocations(const OpView& op, Allocations& memory) {
  const TensorView a = op.self(), out = op.output();
  const Dims sizes(out.sizes());
  const bool adjoint = ReadsAdjoint(a, sizes);
  memory.Output(0, adjoint ? std::string_view() : "aten::resize_");
  if (adjoint || out.count() == 0) return;
  if (IsWhole(a, sizes) && (a.is_contiguous() || LiesByColumns(a))) return;
  const Count elements = work::Elements(FactorSizes(a, sizes));
  memory.Free(memory.Allocate(allocations::Bytes(elements, a.dtype()), "aten::empty"));
}
Work TriangularWork(const OpView& op) {
  return {.alu = work::Elements(op.output()) * op.self().size(-1)};
}

// self, A, upper, transpose, unitriangular: with a copy of A
std::vector<Tensor> TriangularSolve(Dispatcher& d, const OpView& op) {
  const TensorView b = op.self(), a = op.tensor(1);
  RequireSquare(a);
  RequireMatrix(b);
  RequireSameType(a, b);
  shape::RequireEqual("rows of A and of B", a.size(-1), b.size(-2));
  const Dims sizes = SolutionSizes(a, b);
  Dims square = sizes;
  square[square.size() - 1] = a.size(-1);
  const Tensor out = MadeByColumns(d, sizes, b.dtype());
  const Tensor copy = MadeByColumns(d, square, a.dtype());
  Run(d, copy, "trtrs", b.size(-1));
  return {out, copy};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Call({"aten::linalg_lu_factor_ex", "Triangular factors of matrices, and which rows moved.",
          "(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, "
          "Tensor info)",
          "aten::linalg_lu_factor_ex(f32[2,4,3])"},
         LuFactorEx, gradients::kLuFactor),
    Call({"aten::linalg_lu_factor", "Triangular factors of matrices, and which rows moved.",
          "(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
          "aten::linalg_lu_factor(f32[3,3])"},
         LuFactor),
    Call({"aten::linalg_lu_solve", "Solutions of linear systems whose matrix is factorized.",
          "(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
          "aten::linalg_lu_solve(f32[3,3]{1,3}, i32[3], f32[3,4])"},
         LuSolve, gradients::kLuSolve),
    Call({"aten::_linalg_solve_ex", "Solutions of linear systems, with the factors.",
          "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
          "Tensor LU, Tensor pivots, Tensor info)",
          "aten::_linalg_solve_ex(f32[2,3,3], f32[2,3,4])"},
         SolveParts, gradients::kSolve),
    Call({"aten::linalg_solve_ex", "Solutions of linear systems, and where there is none.",
          "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
          "Tensor info)",
          "aten::linalg_solve_ex(f32[2,3,3], f32[2,3])"},
         SolveEx),
    Casting(precision::kFullOnCpu, Call({"aten::linalg_solve", "Solutions of linear systems.",
                                         "(Tensor A, Tensor B, *, bool left=True) -> Tensor",
                                         "aten::linalg_solve(f32[3,3], f32[3,4])"},
                                        Solve)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_inv_ex", "Inverse matrices, and where there is none.",
                  "(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
                  "aten::linalg_inv_ex(f32[2,3,3])"},
                 InverseEx, gradients::kInverse)),
    Casting(precision::kFullOnCpu, Call({"aten::linalg_inv", "Inverse matrices.",
                                         "(Tensor A) -> Tensor", "aten::linalg_inv(f32[3,3])"},
                                        Inverse)),
    Casting(precision::kFullOnCpu, Call({"aten::inverse", "Inverse matrices.",
                                         "(Tensor self) -> Tensor", "aten::inverse(f32[2,3,3])"},
                                        decompose::SameAs<"aten::linalg_inv">)),
    Call({"aten::_linalg_det", "Determinants, with the factors.",
          "(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
          "aten::_linalg_det(f32[2,3,3])"},
         DeterminantParts, gradients::kDeterminant),
    Call(
        {"aten::linalg_det", "Determinants.", "(Tensor A) -> Tensor", "aten::linalg_det(f32[3,3])"},
        Determinant),
    Call({"aten::det", "Determinants.", "(Tensor self) -> Tensor", "aten::det(f32[3,3])"},
         decompose::SameAs<"aten::linalg_det">),
    Call({"aten::_linalg_slogdet", "Signs and logarithms of determinants, with the factors.",
          "(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
          "aten::_linalg_slogdet(f32[2,3,3])"},
         LogDeterminantParts, gradients::kLogDeterminant),
    Call({"aten::linalg_slogdet", "Signs and logarithms of determinants.",
          "(Tensor A) -> (Tensor sign, Tensor logabsdet)", "aten::linalg_slogdet(f32[3,3])"},
         LogDeterminant),
    Call({"aten::slogdet", "Signs and logarithms of determinants.",
          "(Tensor self) -> (Tensor sign, Tensor logabsdet)", "aten::slogdet(f32[3,3])"},
         OldLogDeterminant),
    Call({"aten::logdet", "Logarithms of determinants.", "(Tensor self) -> Tensor",
          "aten::logdet(f32[3,3])"},
         RealLogDeterminant),
    Casting(precision::kFullOnCpu, Call({"aten::linalg_cholesky_ex",
                                         "Triangular roots of matrices, and where there is none.",
                                         "(Tensor self, *, bool upper=False, bool "
                                         "check_errors=False) -> (Tensor L, Tensor info)",
                                         "aten::linalg_cholesky_ex(f32[2,3,3])"},
                                        CholeskyEx, gradients::kCholesky)),
    Casting(precision::kFullOnCpu, Call({"aten::linalg_cholesky", "Triangular roots of matrices.",
                                         "(Tensor self, *, bool upper=False) -> Tensor",
                                         "aten::linalg_cholesky(f32[3,3])"},
                                        Cholesky)),
    CopyingOut(
        Call({"aten::_cholesky_solve_helper", "Solutions of linear systems by a triangular root.",
              "(Tensor self, Tensor A, bool upper) -> Tensor",
              "aten::_cholesky_solve_helper(f32[3,4], f32[3,3], False)"},
             CholeskySolveParts, kGradientUnknown)),
    CopyingOut(
        Casting(precision::kFullOnCpu,
                Call({"aten::cholesky_solve", "Solutions of linear systems by a triangular root.",
                      "(Tensor self, Tensor input2, bool upper=False) -> Tensor",
                      "aten::cholesky_solve(f32[3,4], f32[3,3])"},
                     CholeskySolve, gradients::kCholeskySolve))),
    TakingBits(MathBits::kBoth,
               OpaqueKernel(
                   Family::kContraction,
                   {"aten::linalg_solve_triangular", "Solutions of triangular linear systems.",
                    "(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
                    "unitriangular=False) -> Tensor",
                    "aten::linalg_solve_triangular(f32[3,3], f32[3,4], upper=True)"},
                   TriangularShape, TriangularAllocations, TriangularWork, gradients::kTriangular)),
    Casting(
        precision::kFullOnCpu,
        Call({"aten::triangular_solve", "Solutions of triangular linear systems, with a copy of A.",
              "(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
              "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
              "aten::triangular_solve(f32[3,4], f32[3,3])"},
             TriangularSolve, gradients::kTriangularSolve)),
};

}  // namespace

std::span<const OpDef> Factorization() { return kRows; }

}  // namespace steelyard::ops
