// SPDX-License-Identifier: Apache-2.0
//
// Orthogonal factors of matrices, eigenvalues and singular values, powers of matrices, and products
// of vectors of three (ATen/native/BatchLinearAlgebra.cpp, LinearAlgebra.cpp, Cross.cpp).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/factorization.h"
#include "ops/gradients/householder.h"
#include "ops/lapack.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using namespace lapack;  // NOLINT(google-build-using-namespace)

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
  } else if (complete) {
    d.Call("aten::copy_", r, d.Call("aten::slice.Tensor", reflections, -1, 0, n));
    if (n == 1) TriangleOfCopy(d, "aten::triu_", r.view());
  } else {
    d.Call("aten::copy_", r, d.Call("aten::slice.Tensor", reflections, -2, 0, rows));
  }
  if (!in_r && !complete && r.rank() > 2) TriangleOfCopy(d, "aten::triu", r.view());
  if (in_r && m == 1 && n > 1) TriangleOfCopy(d, "aten::triu_", r.view());
  if (only_r) {
    q = d.Call("aten::empty.memory_format", Dims{0}, a.dtype());
  } else {
    Workspace(d, rows * ProductBlock(m, rows) + 1, a.dtype());
    Run(d, q, "orgqr");
  }
  return {q, r};
}

// input, tau
std::vector<Tensor> HouseholderProduct(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self(), tau = op.tensor(1);
  RequireMatrix(a);
  RequireSameType(a, tau);
  const std::int64_t m = a.size(-2), n = a.size(-1);
  if (m < n) Refuse("more columns than rows in " + shape::Text(a));
  if (tau.rank() != a.rank() - 1 ||
      !std::ranges::equal(BatchOf(a),
                          tau.sizes().first(static_cast<std::size_t>(tau.rank() - 1)))) {
    Refuse(fmt::format("reflections {} of {}", shape::Text(tau), shape::Text(a)));
  }
  if (tau.size(-1) > n) Refuse("more reflections than columns");
  Tensor out;
  {
    const Dispatcher::Inside frame(d, "aten::resize_");
    out = MadeByColumns(d, Dims(a.sizes()), a.dtype());
  }
  d.Call("aten::copy_", out, d.tensor(op, 0));
  const Tensor reflections = d.Call("aten::contiguous", op.arg(1));
  Workspace(d, n * ProductBlock(m, n) + 1, a.dtype());
  Run(d, out, "orgqr");
  return {out};
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

constexpr std::array kRows{
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_qr", "Orthogonal and triangular factors of matrices.",
                  "(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
                  "aten::linalg_qr(f32[5,3])"},
                 OrthogonalFactors, gradients::kOrthogonal)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_householder_product", "Products of reflections.",
                  "(Tensor input, Tensor tau) -> Tensor",
                  "aten::linalg_householder_product(f32[5,3], f32[3])"},
                 HouseholderProduct, gradients::kHouseholder)),
    Casting(precision::kFullOnCpu,
            Call({"aten::orgqr", "Products of reflections.",
                  "(Tensor self, Tensor input2) -> Tensor", "aten::orgqr(f32[5,3], f32[3])"},
                 decompose::SameAs<"aten::linalg_householder_product">)),
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

std::span<const OpDef> Spectra() { return kRows; }

}  // namespace steelyard::ops
