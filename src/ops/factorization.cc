// SPDX-License-Identifier: Apache-2.0
//
// What LAPACK does with matrices: triangular factors, orthogonal ones, eigenvalues and singular
// values, and the inverses, solutions and determinants that are made of them
// (ATen/native/BatchLinearAlgebra.cpp, LinearAlgebra.cpp). LAPACK reads columns: results lie column
// by column, and so do the copies of operands that it overwrites. Workspaces that PyTorch allocates
// are of the sizes that MKL 2024 asks for; what LAPACK takes from malloc is not PyTorch's memory.

#include "ops/gradients/factorization.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/label.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Parts --------------------------------------------------------------------------------------

// A tensor that an operator makes itself, or by resizing an empty one: size, stride, dtype.
void MadeShape(const OpView& op, Outputs& out) {
  const Dims sizes = op.ints(0), strides = op.ints(1);
  shape::RequireSizes(sizes);
  shape::RequireEqual("the number of sizes and of strides", sizes.size(), strides.size());
  out.Add(op.dtype(2).value_or(kDefaultFloat), sizes, strides);
}

void OwnShape(const OpView& op, Outputs& out) { out.AddLike(op.self()); }

// Operations of LAPACK's routines on an m x n matrix and r right-hand sides, as its users' guide
// counts them (LAPACK Working Note 41), and as Golub and Van Loan count those that iterate, which
// take as many steps as the numbers need.
struct Matrix {
  Count m, n, r;
  Count k() const { return m.value() < n.value() ? m : n; }
};
Count Third(Count count) { return count.overflowed() ? count : Count(count.value() / 3); }
Count Less(Count a, Count b) {
  if (a.overflowed() || b.overflowed()) return Count(-1);
  return Count(std::max<std::int64_t>(a.value() - b.value(), 0));
}
// 2mnk - (m + n)k^2 + 2k^3 / 3
Count EliminationOperations(const Matrix& a) {
  const Count k = a.k();
  const Count all = Count(2) * a.m * a.n * k + Third(Count(2) * k * k * k);
  return Less(all, (a.m + a.n) * k * k);
}
Count CholeskyOperations(const Matrix& a) { return Third(a.n * a.n * a.n); }
Count InverseOperations(const Matrix& a) { return Third(Count(2) * a.n * a.n * a.n); }
Count TriangularOperations(const Matrix& a) { return a.n * a.n * a.r; }
Count BothTrianglesOperations(const Matrix& a) { return Count(2) * a.n * a.n * a.r; }
Count OrthogonalOperations(const Matrix& a) { return Count(2) * EliminationOperations(a); }
Count EigenvectorOperations(const Matrix& a) { return Count(9) * a.n * a.n * a.n; }
Count EigenvalueOperations(const Matrix& a) { return Third(Count(4) * a.n * a.n * a.n); }
Count SingularVectorOperations(const Matrix& a) {
  const Count k = a.k(), longer = a.m.value() < a.n.value() ? a.n : a.m;
  return Count(6) * longer * k * k + Count(20) * k * k * k;
}
Count SingularValueOperations(const Matrix& a) {
  const Count k = a.k(), longer = a.m.value() < a.n.value() ? a.n : a.m;
  return Less(Count(4) * longer * k * k, Third(Count(4) * k * k * k));
}

struct Routine {
  std::string_view name;
  Count (*operations)(const Matrix&);
};
constexpr std::array kRoutines{
    Routine{"getrf", EliminationOperations},    Routine{"getrs", BothTrianglesOperations},
    Routine{"potrf", CholeskyOperations},       Routine{"potri", InverseOperations},
    Routine{"potrs", BothTrianglesOperations},  Routine{"trtrs", TriangularOperations},
    Routine{"geqrf", OrthogonalOperations},     Routine{"orgqr", OrthogonalOperations},
    Routine{"syevd", EigenvectorOperations},    Routine{"syevd_n", EigenvalueOperations},
    Routine{"gesdd", SingularVectorOperations}, Routine{"gesdd_n", SingularValueOperations},
};

// self, routine, rhs: the matrices that it overwrites, and columns that it solves for
Work RoutineWork(const OpView& op) {
  const TensorView self = op.self();
  const auto* routine = std::ranges::find(kRoutines, op.text(1), &Routine::name);
  if (routine == kRoutines.end()) Refuse("LAPACK has no routine " + std::string(op.text(1)));
  const Count batch = work::Elements(self.sizes().first(static_cast<std::size_t>(self.rank() - 2)));
  return {.alu = batch * routine->operations({self.size(-2), self.size(-1), op.integer(2)})};
}

// out, a, b: the product written over `out`; a factor of another dtype is cast.
void ProductIntoAllocations(const OpView& op, Allocations& memory) {
  const DType common = ResultType({op.tensor(1), op.tensor(2)});
  for (int i : {1, 2}) {
    const TensorView factor = op.tensor(i);
    if (factor.dtype() == common) continue;
    memory.Free(memory.Allocate(allocations::Bytes(factor.count(), common), "aten::empty_strided"),
                "aten::mul");
  }
}

// --- Words --------------------------------------------------------------------------------------

Dims ColumnMajor(std::span<const std::int64_t> sizes) {
  Dims turned(sizes);
  const int last = turned.size() - 1;
  std::swap(turned[last], turned[last - 1]);
  Dims strides = ContiguousStrides(turned);
  std::swap(strides[last], strides[last - 1]);
  return strides;
}

// MAGMA and cuSOLVER, which stand for LAPACK on CUDA, have workspaces of their own.
void RequireHost(const Target& target) {
  if (target.device != Device::kCpu) Refuse("factors of matrices are not modelled on CUDA");
}

Tensor Made(Dispatcher& d, const Dims& sizes, const Dims& strides, DType dtype) {
  RequireHost(d.target());
  return d.Call("steelyard::result", sizes, strides, dtype);
}
Tensor MadeByRows(Dispatcher& d, const Dims& sizes, DType dtype) {
  return Made(d, sizes, ContiguousStrides(sizes), dtype);
}
Tensor MadeByColumns(Dispatcher& d, const Dims& sizes, DType dtype) {
  return Made(d, sizes, ColumnMajor(sizes), dtype);
}

void Run(Dispatcher& d, const Tensor& matrix, std::string_view routine, std::int64_t columns = 0) {
  d.Call("steelyard::lapack", matrix, d.Text(routine), columns);
}

void RequireMatrix(const TensorView& a) {
  if (a.rank() < 2) Refuse("a matrix is needed, not " + shape::Text(a));
  if ((!IsFloating(a.dtype()) && !IsComplex(a.dtype())) || BitsOf(a.dtype()) < 32 ||
      a.dtype() == DType::kComplex32) {
    Refuse("LAPACK does not compute in the dtype of " + shape::Text(a));
  }
}
void RequireSquare(const TensorView& a) {
  RequireMatrix(a);
  if (a.size(-1) != a.size(-2)) Refuse(shape::Text(a) + " is not square");
}
void RequireSameType(const TensorView& a, const TensorView& b) {
  if (a.dtype() != b.dtype()) Refuse("both operands must be of one dtype");
}

Dims BatchOf(const TensorView& a) {
  return Dims(a.sizes().first(static_cast<std::size_t>(a.rank() - 2)));
}
Dims With(Dims batch, std::initializer_list<std::int64_t> last) {
  for (const std::int64_t size : last) batch.push_back(size);
  return batch;
}
std::int64_t Lesser(const TensorView& a) { return std::min(a.size(-1), a.size(-2)); }

bool LiesByColumns(const Tensor& a) {
  Dims sizes(a.sizes()), strides(a.strides());
  const int last = sizes.size() - 1;
  std::swap(sizes[last], sizes[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  return IsContiguous(sizes, strides);
}
Tensor CopyByColumns(Dispatcher& d, const Tensor& a) {
  return d.Call("aten::mT", d.Call("aten::clone", d.Call("aten::mT", a), kContiguousFormat));
}

void CheckErrors(Dispatcher& d, const Tensor& info, std::string_view name) {
  d.Call("aten::_linalg_check_errors", info, d.Text(name), info.rank() == 0);
}

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
    Factorize(d, TakesTransposed(self) ? d.Call("aten::mT", self) : self, lu);
  }
  if (op.boolean(3)) CheckErrors(d, info, "torch.linalg.solve_ex");
  {
    const Dispatcher::Inside frame(d, "aten::linalg_lu_solve");
    const Tensor seen = vector ? MadeByColumns(d, sizes, b.dtype()) : out;
    d.Call("aten::copy_", seen, columns);
    SolveFactorized(d, lu, pivots, seen, {left});
    if (vector) d.Call("aten::copy_", out, d.Call("aten::squeeze.dim", seen, -1));
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
  return {d.Call("aten::where.ScalarSelf", negative, 0.0, both[1])};
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
void TriangleOfCopy(Dispatcher& d, std::string_view cut, const TensorView& a) {
  const Dispatcher::Inside frame(d, cut);
  d.Call("aten::empty.memory_format", Dims(a.sizes()), a.dtype());
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

// self, input2, upper: both broadcast
std::vector<Tensor> CholeskySolveParts(Dispatcher& d, const OpView& op) {
  RequireHost(d.target());
  const Tensor out = CopyByColumns(d, d.tensor(op, 0));
  const Tensor factor = CopyByColumns(d, d.tensor(op, 1));
  const Tensor info = d.Call("aten::zeros", BatchOf(op.self()), DType::kInt32);
  d.Call("steelyard::lapack", factor, d.Text("potrs"), out.size(-1));
  CheckErrors(d, info, "cholesky_solve_cpu");
  return {out};
}
std::vector<Tensor> CholeskySolve(Dispatcher& d, const OpView& op) {
  const TensorView b = op.self(), a = op.tensor(1);
  RequireMatrix(b);
  RequireSquare(a);
  RequireSameType(a, b);
  shape::RequireEqual("rows of the factor and of the right-hand sides", a.size(-1), b.size(-2));
  const Dims sizes = SolutionSizes(a, b);
  Dims factor = sizes;
  factor[factor.size() - 1] = factor[factor.size() - 2] = a.size(-1);
  const Tensor sides = d.Call("aten::expand", op.arg(0), sizes);
  const Tensor spread = d.Call("aten::expand", op.arg(1), factor);
  return {d.Call("aten::_cholesky_solve_helper", sides, spread, op.arg(2))};
}

// --- Triangular systems -------------------------------------------------------------------------

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
  out.Add(a.dtype(), sizes, ColumnMajor(sizes));
}
// A matrix that lies neither by rows nor by columns, or is repeated over the batch, is copied.
void TriangularAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  const TensorView a = op.self(), out = op.output();
  if (out.count() == 0) return;
  Dims sizes(out.sizes());
  sizes[sizes.size() - 1] = sizes[sizes.size() - 2] = a.size(-1);
  Dims turned(a.sizes()), strides(a.strides());
  std::swap(turned[a.rank() - 1], turned[a.rank() - 2]);
  std::swap(strides[a.rank() - 1], strides[a.rank() - 2]);
  const bool whole = work::Elements(sizes) == work::Elements(a);
  if (whole && (a.is_contiguous() || IsContiguous(turned, strides))) return;
  memory.Free(memory.Allocate(allocations::Bytes(work::Elements(sizes), a.dtype()), "aten::empty"));
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

// --- QR -----------------------------------------------------------------------------------------

// Columns that MKL takes at once.
std::int64_t ReflectionBlock(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kFewColumns = 50, kFewTallColumns = 17, kTall = 64;
  return n > kFewColumns || (m >= kTall && n > kFewTallColumns) ? 17 : 1;
}
std::int64_t ProductBlock(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kFewRows = 31, kManyColumns = 65;
  if (m <= kFewRows) return 1;
  return n < kManyColumns ? 16 : 32;
}
void Workspace(Dispatcher& d, std::int64_t elements, DType dtype) {
  d.Call("aten::empty.memory_format", Dims{elements}, dtype);
}

// A, mode
std::vector<Tensor> OrthogonalFactors(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireMatrix(a);
  const std::string_view mode = op.text(1).empty() ? "reduced" : op.text(1);
  if (mode != "reduced" && mode != "complete" && mode != "r") {
    Refuse(fmt::format("QR has no mode \"{}\"", mode));
  }
  const bool complete = mode == "complete", only_r = mode == "r";
  const std::int64_t m = a.size(-2), n = a.size(-1), k = Lesser(a), rows = complete ? m : k;
  const Tensor self = d.tensor(op, 0);
  Tensor q, r;
  if (!only_r) q = MadeByColumns(d, With(BatchOf(a), {m, rows}), a.dtype());
  r = MadeByColumns(d, With(BatchOf(a), {rows, n}), a.dtype());
  const bool in_r = m <= n;
  const Tensor tau = d.Call("aten::new_empty", self, With(BatchOf(a), {k}));
  Tensor reflections = in_r ? r : q;
  if (!reflections.defined() || reflections.size(-1) < n) reflections = CopyByColumns(d, self);
  d.Call("aten::copy_", d.Call("aten::slice.Tensor", reflections, -1, 0, n), self);
  Workspace(d, (n + 1) * ReflectionBlock(m, n), a.dtype());
  Run(d, reflections, "geqrf");
  if (in_r) {
    if (!only_r) {
      d.Call("aten::copy_", d.Call("aten::slice.Tensor", q, -1, 0, k),
             d.Call("aten::slice.Tensor", r, -1, 0, k));
    }
  } else {
    d.Call("aten::copy_", r, d.Call("aten::slice.Tensor", reflections, -2, 0, rows));
  }
  if (!in_r && n < m && r.rank() > 2) TriangleOfCopy(d, "aten::triu", r.view());
  if (in_r && m == 1 && n > 1) TriangleOfCopy(d, "aten::triu_", r.view());
  if (only_r) {
    q = d.Call("aten::empty.memory_format", Dims{0}, a.dtype());
  } else {
    Workspace(d, rows * ProductBlock(m, rows) + 1, a.dtype());
    Run(d, q, "orgqr");
  }
  return {q, r};
}

// --- Eigenvalues --------------------------------------------------------------------------------

struct Workspaces {
  std::int64_t own = 0, whole = 1, real = 0;
};
// Columns that MKL takes at once where no vectors are wanted, and the least it needs.
std::int64_t ValueBlock(std::int64_t n, DType dtype) {
  constexpr std::int64_t kUnblocked = 10;
  const bool wide = BitsOf(RealOf(dtype)) == 64;
  if (IsComplex(dtype)) return n <= kUnblocked ? 2 : wide ? 21 : 25;
  return n <= kUnblocked ? 3 : wide ? 26 : 22;
}
// What ?syevd and ?heevd ask for, and MKL adds one to.
Workspaces EigenWorkspaces(std::int64_t n, bool vectors, DType dtype) {
  constexpr std::int64_t kUnblocked = 10, kBlock = 33;
  const bool is_complex = IsComplex(dtype);
  if (n <= 1) return {.own = 2, .whole = 1, .real = is_complex ? 2 : 0};
  if (!vectors) {
    return {.own = n * ValueBlock(n, dtype) + 1, .whole = 1, .real = is_complex ? n + 1 : 0};
  }
  Workspaces out{.own = 2 + 6 * n + 2 * n * n, .whole = 3 + 5 * n};
  if (is_complex) {
    out.own = n * (n + (n > kUnblocked ? kBlock : 2)) + 1;
    out.real = 2 + 5 * n + 2 * n * n;
  }
  return out;
}

// A, UPLO, compute_v
std::vector<Tensor> EigenParts(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const bool wants = op.boolean(2, true);
  const Tensor self = d.tensor(op, 0);
  Tensor vectors;
  if (wants) vectors = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  const DType real = RealOf(a.dtype());
  const Tensor values = MadeByRows(d, With(BatchOf(a), {a.size(-1)}), real);
  if (wants) {
    d.Call("aten::copy_", vectors, self);
  } else {
    vectors = CopyByColumns(d, self);
  }
  Tensor info = d.Call("aten::zeros", BatchOf(a), DType::kInt32);
  if (a.count() > 0) {
    const Workspaces spaces = EigenWorkspaces(a.size(-1), wants, a.dtype());
    const Tensor own = d.Call("aten::empty.memory_format", Dims{spaces.own}, a.dtype());
    const Tensor whole = d.Call("aten::empty.memory_format", Dims{spaces.whole}, DType::kInt32);
    Tensor rest;
    if (spaces.real > 0) rest = d.Call("aten::empty.memory_format", Dims{spaces.real}, real);
    Run(d, vectors, wants ? "syevd" : "syevd_n");
  }
  CheckErrors(d, info, "torch.linalg.eigh");
  info.reset();
  if (!wants) vectors = d.Call("aten::empty.memory_format", Dims{0}, a.dtype());
  return {values, vectors};
}
std::vector<Tensor> Eigen(Dispatcher& d, const OpView& op) {
  return d.CallMany("aten::_linalg_eigh", op.arg(0), op.arg(1), true);
}
// The gradient needs the vectors.
bool Differentiated(Dispatcher& d, const OpView& op) {
  return d.grad_enabled() && d.tensor(op, 0).requires_grad();
}
std::vector<Tensor> EigenValues(Dispatcher& d, const OpView& op) {
  return {d.CallMany("aten::_linalg_eigh", op.arg(0), op.arg(1), Differentiated(d, op))[0]};
}

// --- Singular values ----------------------------------------------------------------------------

// A, full_matrices, compute_uv, *, driver
std::vector<Tensor> SingularParts(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireMatrix(a);
  if (op.given(3)) Refuse("drivers are CUDA's");
  const bool full = op.boolean(1), wants = op.boolean(2, true);
  const std::int64_t m = a.size(-2), n = a.size(-1), k = Lesser(a);
  Tensor u, vh;
  if (wants) {
    u = MadeByColumns(d, With(BatchOf(a), {m, full ? m : k}), a.dtype());
    vh = MadeByColumns(d, With(BatchOf(a), {full ? n : k, n}), a.dtype());
  }
  const Tensor values = MadeByRows(d, With(BatchOf(a), {k}), RealOf(a.dtype()));
  const Tensor info = d.Call("aten::zeros", BatchOf(a), DType::kInt32);
  {
    const Tensor copy = CopyByColumns(d, d.tensor(op, 0));
    Run(d, copy, wants ? "gesdd" : "gesdd_n");
  }
  CheckErrors(d, info, "linalg.svd");
  if (!wants) {
    u = d.Call("aten::empty.memory_format", Dims{0}, a.dtype());
    vh = d.Call("aten::empty.memory_format", Dims{0}, a.dtype());
  }
  return {u, values, vh};
}
std::vector<Tensor> SingularVectors(Dispatcher& d, const OpView& op) {
  return d.CallMany("aten::_linalg_svd", op.arg(0), op.arg(1), true, op.arg(2));
}
std::vector<Tensor> SingularValues(Dispatcher& d, const OpView& op) {
  return {d.CallMany("aten::_linalg_svd", op.arg(0), false, Differentiated(d, op), op.arg(1))[1]};
}
// self, some, compute_uv
std::vector<Tensor> OldSingularVectors(Dispatcher& d, const OpView& op) {
  if (!op.boolean(2, true))
    Refuse("singular values without vectors are not modelled here", "Use linalg_svdvals.");
  std::vector<Tensor> all = d.CallMany("aten::linalg_svd", op.arg(0), !op.boolean(1, true));
  return {all[0], all[1], d.Call("aten::mH", all[2])};
}

// --- Powers and products ------------------------------------------------------------------------

// Squares and products of them, by the binary digits of the power.
std::vector<Tensor> MatrixPower(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  if (a.rank() < 2 || a.size(-1) != a.size(-2)) Refuse(shape::Text(a) + " is not square");
  std::int64_t n = op.integer(1);
  const Tensor self = d.tensor(op, 0);
  if (n == 0) Refuse("the power 0 is not modelled", "It is the unit matrix.");
  constexpr std::int64_t kMostPower = std::int64_t{1} << 40;
  if (n > kMostPower || n < -kMostPower) Refuse(fmt::format("a power of {}", n));
  const Tensor base = n < 0 ? d.Call("aten::linalg_inv", self) : self;
  n = n < 0 ? -n : n;
  if (n == 1) return {n == op.integer(1) ? d.Call("aten::clone", base, kContiguousFormat) : base};
  if (n == 2) return {d.Call("aten::matmul", base, base)};
  if (n == 3) {
    const Tensor square = d.Call("aten::matmul", base, base);
    return {d.Call("aten::matmul", square, base)};
  }
  Tensor square, out;
  while (n > 0) {
    const bool digit = n % 2 != 0;
    n /= 2;
    square = square.defined() ? d.Call("aten::matmul", square, square) : base;
    if (digit) out = out.defined() ? d.Call("aten::matmul", out, square) : square;
  }
  return {out};
}

// self, other, *, dim: of vectors of three
void CrossShape(const OpView& op, Outputs& out) {
  const TensorView a = op.self(), b = op.tensor(1);
  if (a.rank() != b.rank()) Refuse("both operands have as many dimensions");
  const int dim = op.dim(2, a.rank());
  if (a.rank() == 0 || a.size(dim) != 3 || b.size(dim) != 3) {
    Refuse(fmt::format("cross products of {} and {}", shape::Text(a), shape::Text(b)));
  }
  if (a.dtype() != b.dtype()) Refuse("both operands must be of one dtype");
  out.Add(a.dtype(), shape::Broadcast({a, b}));
}
std::vector<Tensor> OldCross(Dispatcher& d, const OpView& op) {
  if (op.given(2)) return {d.Call("aten::linalg_cross", op.arg(0), op.arg(1), op.arg(2))};
  const auto sizes = op.self().sizes();
  const auto found = std::ranges::find(sizes, std::int64_t{3});
  if (found == sizes.end()) Refuse("no dimension has the size 3");
  return {d.Call("aten::linalg_cross", op.arg(0), op.arg(1), found - sizes.begin())};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kContraction, words, decompose, grad);
}
constexpr OpDef Part(const Words& words, ShapeFn shape, AllocationsFn allocations,
                     WorkFn work = work::None, Alias alias = Alias::kNone) {
  return OpaqueKernel(Family::kContraction, words, shape, allocations, work, kGradientUnknown,
                      precision::kFollow, alias);
}
std::vector<Tensor> AnyOf(Dispatcher& d, const OpView& op) {
  d.Call("aten::any", d.tensor(op, 0));
  return {};
}

constexpr std::array kRows{
    Part({"steelyard::result", "A tensor that an operator makes itself.",
          "(SymInt[] size, SymInt[] stride, ScalarType dtype) -> Tensor",
          "steelyard::result([2,3], [1,2], f32)"},
         MadeShape, allocations::Via<"^">),
    Part({"steelyard::lapack", "A routine of LAPACK, over matrices that it overwrites.",
          "(Tensor(a!) self, str routine, int columns=0) -> Tensor(a!)",
          "steelyard::lapack(f32[3,3], 'getrf')"},
         OwnShape, allocations::None, RoutineWork, Alias::kInPlace),
    Part({"steelyard::product_into", "A product, over a third tensor.",
          "(Tensor(a!) out, Tensor self, Tensor other) -> Tensor(a!)",
          "steelyard::product_into(f32[2], i64[2], f32[2])"},
         OwnShape, ProductIntoAllocations, work::PerOutput<work::PerElement{.alu = 1}>,
         Alias::kInPlace),
    Part(
        {"steelyard::sum_into", "Sums over the last dimension, over another tensor.",
         "(Tensor(a!) out, Tensor self) -> Tensor(a!)", "steelyard::sum_into(f32[2], f32[2,3])"},
        OwnShape, allocations::None,
        [](const OpView& op) { return Work{.alu = work::Elements(op.tensor(1))}; },
        Alias::kInPlace),
    Call({"aten::_linalg_check_errors", "Asks whether LAPACK found an error.",
          "(Tensor info, str api_name, *, bool is_matrix) -> ()",
          "aten::_linalg_check_errors(i32[2], 'linalg.inv', is_matrix=False)"},
         AnyOf, kNoGradient),
    Call({"aten::linalg_lu_factor_ex", "Triangular factors of matrices, and which rows moved.",
          "(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, "
          "Tensor info)",
          "aten::linalg_lu_factor_ex(f32[2,4,3])"},
         LuFactorEx, kGradientUnknown),
    Call({"aten::linalg_lu_factor", "Triangular factors of matrices, and which rows moved.",
          "(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
          "aten::linalg_lu_factor(f32[3,3])"},
         LuFactor),
    Call({"aten::linalg_lu_solve", "Solutions of linear systems whose matrix is factorized.",
          "(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
          "aten::linalg_lu_solve(f32[3,3]{1,3}, i32[3], f32[3,4])"},
         LuSolve, kGradientUnknown),
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
    Call({"aten::_cholesky_solve_helper", "Solutions of linear systems by a triangular root.",
          "(Tensor self, Tensor A, bool upper) -> Tensor",
          "aten::_cholesky_solve_helper(f32[3,4], f32[3,3], False)"},
         CholeskySolveParts, kGradientUnknown),
    Casting(precision::kFullOnCpu,
            Call({"aten::cholesky_solve", "Solutions of linear systems by a triangular root.",
                  "(Tensor self, Tensor input2, bool upper=False) -> Tensor",
                  "aten::cholesky_solve(f32[3,4], f32[3,3])"},
                 CholeskySolve, kGradientUnknown)),
    OpaqueKernel(Family::kContraction,
                 {"aten::linalg_solve_triangular", "Solutions of triangular linear systems.",
                  "(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
                  "unitriangular=False) -> Tensor",
                  "aten::linalg_solve_triangular(f32[3,3], f32[3,4], upper=True)"},
                 TriangularShape, TriangularAllocations, TriangularWork, gradients::kTriangular),
    Casting(
        precision::kFullOnCpu,
        Call({"aten::triangular_solve", "Solutions of triangular linear systems, with a copy of A.",
              "(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
              "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
              "aten::triangular_solve(f32[3,4], f32[3,3])"},
             TriangularSolve, kGradientUnknown)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_qr", "Orthogonal and triangular factors of matrices.",
                  "(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
                  "aten::linalg_qr(f32[5,3])"},
                 OrthogonalFactors, gradients::kOrthogonal)),
    Call({"aten::_linalg_eigh", "Eigenvalues and eigenvectors of symmetric matrices.",
          "(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor "
          "eigenvectors)",
          "aten::_linalg_eigh(f32[2,3,3])"},
         EigenParts, gradients::kEigen),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_eigh", "Eigenvalues and eigenvectors of symmetric matrices.",
                  "(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
                  "aten::linalg_eigh(f32[3,3])"},
                 Eigen)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_eigvalsh", "Eigenvalues of symmetric matrices.",
                  "(Tensor self, str UPLO=\"L\") -> Tensor", "aten::linalg_eigvalsh(f32[3,3])"},
                 EigenValues)),
    Call({"aten::_linalg_svd", "Singular values and vectors.",
          "(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> "
          "(Tensor U, Tensor S, Tensor Vh)",
          "aten::_linalg_svd(f32[2,5,3])"},
         SingularParts, gradients::kSingular),
    Casting(precision::kFullOnCpu, Call({"aten::linalg_svd", "Singular values and vectors.",
                                         "(Tensor A, bool full_matrices=True, *, str? driver=None) "
                                         "-> (Tensor U, Tensor S, Tensor "
                                         "Vh)",
                                         "aten::linalg_svd(f32[5,3], False)"},
                                        SingularVectors)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_svdvals", "Singular values.",
                  "(Tensor A, *, str? driver=None) -> Tensor", "aten::linalg_svdvals(f32[3,5])"},
                 SingularValues)),
    Casting(precision::kFullOnCpu, Call({"aten::svd", "Singular values and vectors.",
                                         "(Tensor self, bool some=True, bool compute_uv=True) -> "
                                         "(Tensor U, Tensor S, Tensor V)",
                                         "aten::svd(f32[3,5])"},
                                        OldSingularVectors)),
    Call({"aten::linalg_matrix_power", "Powers of matrices.", "(Tensor self, int n) -> Tensor",
          "aten::linalg_matrix_power(f32[3,3], 5)"},
         MatrixPower),
    Call({"aten::matrix_power", "Powers of matrices.", "(Tensor self, int n) -> Tensor",
          "aten::matrix_power(f32[3,3], 3)"},
         MatrixPower),
    Kernel(Family::kElementwise,
           {"aten::linalg_cross", "Cross products of vectors of three.",
            "(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
            "aten::linalg_cross(f32[2,3], f32[2,3])"},
           {.shape = CrossShape,
            .fusion = Fusion::kOpaque,
            .allocations = allocations::OutputsOnly,
            .work = work::PerOutput<work::PerElement{.alu = 3}>,
            .grad = gradients::kCross,
            .precision = precision::kFollow}),
    Casting(precision::kPromoteOnCuda,
            Composite(Family::kElementwise,
                      {"aten::cross", "Cross products of vectors of three.",
                       "(Tensor self, Tensor other, int? dim=None) -> Tensor",
                       "aten::cross(f32[2,3], f32[2,3])"},
                      OldCross)),
};

}  // namespace

std::span<const OpDef> Factorization() { return kRows; }

}  // namespace steelyard::ops
