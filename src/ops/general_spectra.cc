// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues of matrices that need not be symmetric, and least squares
// (ATen/native/BatchLinearAlgebra.cpp). Workspaces are of the sizes that MKL 2024 asks for.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/factorization.h"
#include "ops/gradients/not_implemented.h"
#include "ops/lapack.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using namespace lapack;  // NOLINT(google-build-using-namespace)

// A result that is resized, and a buffer.
Tensor Resized(Dispatcher& d, const Dims& sizes, const Dims& strides, DType dtype) {
  const Dispatcher::Inside frame(d, "aten::resize_");
  return Made(d, sizes, strides, dtype);
}
Tensor ResizedByRows(Dispatcher& d, const Dims& sizes, DType dtype) {
  const Dispatcher::Inside frame(d, "aten::resize_");
  return MadeByRows(d, sizes, dtype);
}
Tensor Buffer(Dispatcher& d, const Dims& sizes, DType dtype) {
  RequireHost(d.target());
  return d.Call("aten::empty.memory_format", sizes, dtype);
}
// MKL takes columns one by one up to this size.
constexpr std::int64_t kUnblocked = 10;

// --- Eigenvalues --------------------------------------------------------------------------------

// What ?geev asks for, and MKL adds one to.
std::int64_t EigenWorkspace(std::int64_t n, DType dtype, bool vectors) {
  if (IsComplex(dtype)) return std::max(33 * n, vectors ? 2 * n * n + 3 * n : 0) + 1;
  if (dtype == DType::kFloat64) return (vectors ? 4 : 3) * n + 1;
  return (vectors && n > kUnblocked ? 386 : 34) * n + 1;
}

// Real matrices have complex values, which LAPACK gives as two lists of real ones.
void FindEigenvalues(Dispatcher& d, const Tensor& a, bool wants) {
  const TensorView self = a.view();
  const std::int64_t n = a.size(-1), space = EigenWorkspace(n, a.dtype(), wants);
  const std::string_view routine = wants ? "geev" : "geev_n";
  if (IsComplex(a.dtype())) {
    const Tensor copy = Buffer(d, Dims(self.sizes()), a.dtype());
    const Tensor rest = Buffer(d, Dims{2 * n}, RealOf(a.dtype()));
    const Tensor own = Buffer(d, Dims{space}, a.dtype());
    Run(d, copy, routine);
    return;
  }
  const Tensor values = Buffer(d, With(BatchOf(self), {2 * n}), a.dtype());
  Tensor vectors;
  if (wants) vectors = Buffer(d, Dims(self.sizes()), a.dtype());
  {
    const Tensor copy = Buffer(d, Dims(self.sizes()), a.dtype());
    const Tensor own = Buffer(d, Dims{space}, a.dtype());
    Run(d, copy, routine);
  }
  const Tensor imaginary = d.Call("aten::narrow", values, -1, n, n);
  const Tensor is_real = d.Call("aten::eq.Scalar", imaginary, 0.0);
  d.Call("aten::all", is_real);
}

Tensor NewErrors(Dispatcher& d, const TensorView& a) {
  return d.Call("aten::zeros", BatchOf(a), DType::kInt32);
}

std::vector<Tensor> GeneralEigen(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const Tensor self = d.tensor(op, 0);
  {
    const Tensor finite = d.Call("aten::isfinite", self);
    d.Call("aten::all", finite);
  }
  const DType dtype = ComplexOf(a.dtype());
  const Tensor info = NewErrors(d, a);
  const Tensor vectors = Resized(d, Dims(a.sizes()), ColumnMajor(a.sizes()), dtype);
  const Tensor values = ResizedByRows(d, With(BatchOf(a), {a.size(-1)}), dtype);
  FindEigenvalues(d, self, true);
  CheckErrors(d, info, "torch.linalg.eig");
  return {values, vectors};
}
std::vector<Tensor> EigenvaluesAlone(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireSquare(a);
  const Tensor info = NewErrors(d, a);
  const Tensor values = ResizedByRows(d, With(BatchOf(a), {a.size(-1)}), ComplexOf(a.dtype()));
  FindEigenvalues(d, d.tensor(op, 0), false);
  CheckErrors(d, info, "torch.linalg.eigvals");
  return {values};
}
// The gradient needs the vectors.
std::vector<Tensor> GeneralEigenvalues(Dispatcher& d, const OpView& op) {
  const bool differentiated = d.grad_enabled() && d.tensor(op, 0).requires_grad();
  if (differentiated) return {d.Call("aten::linalg_eig", op.arg(0))};
  return {d.Call("aten::_linalg_eigvals", op.arg(0))};
}

// --- Least squares ------------------------------------------------------------------------------

struct Squares {
  std::int64_t m, n, k, sides;
};
// What ?gelsy asks for, with pivots, and ?gels, without; MKL adds one to either.
std::int64_t PivotedWorkspace(const Squares& s) {
  const std::int64_t block = std::max(s.m, s.n) > kUnblocked ? 32 : 1;
  return std::max(s.k + 2 * s.n + block * (s.n + 1), 2 * s.k + block * s.sides) + 1;
}

bool IsVector(const TensorView& a, const TensorView& b) {
  if (b.rank() == 1) return true;
  if (b.rank() != a.rank() - 1) return false;
  return std::ranges::equal(b.sizes(), a.sizes().first(static_cast<std::size_t>(a.rank() - 1)));
}

void SolveInPlace(Dispatcher& d, const TensorView& a, const Squares& s) {
  const Tensor copy = [&] {
    const Dispatcher::Inside frame(d, "aten::empty_strided");
    return MadeByColumns(d, Dims(a.sizes()), a.dtype());
  }();
  const Tensor pivots = Buffer(d, Dims{s.n}, DType::kInt32);
  const Tensor own = Buffer(d, Dims{PivotedWorkspace(s)}, a.dtype());
  Tensor rest;
  if (IsComplex(a.dtype())) rest = Buffer(d, Dims{2 * s.n}, RealOf(a.dtype()));
  // Which matrix belongs to which right-hand side.
  const Tensor places_of_a = ResizedByRows(d, BatchOf(a), DType::kInt64);
  const Tensor places_of_b = ResizedByRows(d, BatchOf(a), DType::kInt64);
  Run(d, copy, "gelsy", s.sides);
}

// self, b, rcond, *, driver
std::vector<Tensor> LeastSquares(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self(), b = op.tensor(1);
  RequireMatrix(a);
  RequireSameType(a, b);
  if (op.given(3) && op.text(3) != "gelsy") Refuse("other drivers than gelsy are not modelled");
  const bool vector = IsVector(a, b);
  const Tensor sides = vector ? d.Call("aten::unsqueeze", op.arg(1), -1) : d.tensor(op, 1);
  RequireMatrix(sides.view());
  if (!std::ranges::equal(BatchOf(a), BatchOf(sides.view()))) {
    Refuse("systems that are repeated over a batch are not modelled");
  }
  const Squares s{a.size(-2), a.size(-1), Lesser(a), sides.size(-1)};
  shape::RequireEqual("rows of A and of B", s.m, sides.size(-2));
  if (a.count() == 0 || sides.count() == 0) Refuse("least squares of nothing are not modelled");
  const Tensor info = NewErrors(d, a);
  const Dims sizes = With(BatchOf(a), {std::max(s.m, s.n), s.sides});
  Tensor solution = Resized(d, sizes, ColumnMajor(sizes), a.dtype());
  const Tensor rank = ResizedByRows(d, BatchOf(a), DType::kInt64);
  SolveInPlace(d, a, s);
  CheckErrors(d, info, "torch.linalg.lstsq");
  if (s.m > s.n) solution = d.Call("aten::narrow", solution, -2, 0, s.n);
  if (vector) solution = d.Call("aten::squeeze.dim", solution, -1);
  const DType real = RealOf(a.dtype());
  return {solution, Buffer(d, Dims{0}, real), rank, Buffer(d, Dims{0}, real)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_eig", "Eigenvalues and eigenvectors of any matrices.",
                  "(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
                  "aten::linalg_eig(f32[2,3,3])"},
                 GeneralEigen, gradients::kGeneralEigen)),
    Call({"aten::_linalg_eigvals", "Eigenvalues of any matrices.", "(Tensor self) -> Tensor",
          "aten::_linalg_eigvals(f32[3,3])"},
         EigenvaluesAlone, gradients::kNotImplementedOf<0>),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_eigvals", "Eigenvalues of any matrices.", "(Tensor self) -> Tensor",
                  "aten::linalg_eigvals(f32[3,3])"},
                 GeneralEigenvalues)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_lstsq", "What solves linear systems best, and the matrices' ranks.",
                  "(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor "
                  "solution, Tensor residuals, Tensor rank, Tensor singular_values)",
                  "aten::linalg_lstsq(f32[5,3], f32[5,2])"},
                 LeastSquares, gradients::kLeastSquares)),
};

}  // namespace

std::span<const OpDef> GeneralSpectra() { return kRows; }

}  // namespace steelyard::ops
