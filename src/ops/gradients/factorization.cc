// SPDX-License-Identifier: Apache-2.0
//
// Formulas of FunctionsManual.cpp with C++'s temporaries in C++'s order; of real matrices. Those of
// singular and of eigenvectors take it that the values differ.

#include "ops/gradients/factorization.h"

#include <cstdint>
#include <utility>

#include "ops/gradients/words.h"

namespace steelyard::gradients {
namespace {

Tensor Turned(Dispatcher& d, const Tensor& t) { return d.Call("aten::mH", t); }
Tensor Product(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::matmul", a, b);
}
Tensor Diagonal(Dispatcher& d, const Tensor& t) { return d.Call("aten::diagonal", t, 0, -2, -1); }
Tensor Row(Dispatcher& d, const Tensor& t) { return d.Call("aten::unsqueeze", t, -2); }
Tensor Column(Dispatcher& d, const Tensor& t) { return d.Call("aten::unsqueeze", t, -1); }
void RequireReal(const Backward& b) {
  if (IsComplex(b.op().self().dtype())) Refuse("gradients of complex matrices are not modelled");
}
bool FactorizedTransposed(const Tensor& a) { return a.is_contiguous() && !IsComplex(a.dtype()); }

// e - its transpose
Tensor Skew(Dispatcher& d, const Tensor& e) { return d.Call("aten::sub.Tensor", e, Turned(d, e)); }

// grad + rest - inside; the first and the last die here.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Tensor WithoutInside(Dispatcher& d, Tensor grad, const Tensor& rest, Tensor inside) {
  const Tensor sum = d.Call("aten::add.Tensor", grad, rest);
  return d.Call("aten::sub.Tensor", sum, inside);
}

Tensor SolveTriangular(Dispatcher& d, const Tensor& a, const Tensor& b, bool upper, bool left) {
  return d.Call("aten::linalg_solve_triangular", a, b, upper, left);
}

}  // namespace

// -inverse.mH @ (grad @ inverse.mH)
Tensor InverseOf(Dispatcher& d, const Backward& b) {
  const Tensor right = Product(d, b.grad(), Turned(d, b.result()));
  const Tensor both = Product(d, Turned(d, b.result()), right);
  return d.Call("aten::neg", both);
}

// A, B, left (linalg_solve_backward)
std::vector<Tensor> SolveBoth(Dispatcher& d, const Backward& b) {
  RequireReal(b);
  const OpView& op = b.op();
  const Tensor a = b.saved(0), x = b.result();
  const bool left = op.boolean(2, true), vector = op.output().rank() < op.self().rank();
  const auto as_matrix = [&](const Tensor& t) { return vector ? Column(d, t) : t; };
  std::vector<Tensor> out(2);
  const Tensor of_b = d.Call("aten::linalg_lu_solve", b.result(1), b.result(2), as_matrix(b.grad()),
                             left, !FactorizedTransposed(a));
  if (b.needs(0)) {
    const Tensor turned = Turned(d, as_matrix(x));
    const Tensor product = left ? Product(d, of_b, turned) : Product(d, turned, of_b);
    out[0] = d.Call("aten::neg", product);
  }
  if (b.needs(1)) out[1] = vector ? d.Call("aten::squeeze.dim", of_b, -1) : of_b;
  return out;
}

// A, with the determinant, LU and pivots: a solution for the unit matrix times the gradient, of
// factors without zeros on the diagonal (linalg_det_backward)
Tensor DeterminantOf(Dispatcher& d, const Backward& b) {
  RequireReal(b);
  // Of a single number it is the gradient itself.
  if (b.op().self().size(-1) == 1) return Column(d, Column(d, b.grad()));
  const Tensor lu = b.result(1);
  const Tensor scaled = d.Call("aten::mul.Tensor", b.grad(), b.result());
  const Tensor spread = d.Call("aten::expand_as", Column(d, scaled), Diagonal(d, lu));
  const Tensor diagonal = d.Call("aten::diag_embed", spread);
  const Tensor a = b.saved(0);
  Tensor factors;
  {
    const Tensor own = Diagonal(d, lu);
    const Tensor zero = d.Call("aten::eq.Scalar", own, 0.0);
    const double epsilon = a.dtype() == DType::kFloat64 ? 0x1p-52 : 0x1p-23;
    const Tensor shift = d.Call("aten::where.Scalar", zero, epsilon, 0.0);
    const Tensor shifts = d.Call("aten::diag_embed", shift);
    factors = d.Call("aten::add.Tensor", lu, shifts);
  }
  return d.Call("aten::linalg_lu_solve", factors, b.result(2), diagonal, true,
                !FactorizedTransposed(a));
}

// The same of a sum of logarithms; the sign has no gradient (slogdet_backward)
Tensor LogDeterminantOf(Dispatcher& d, const Backward& b) {
  RequireReal(b);
  if (!b.grad(1).defined()) return {};
  const Tensor lu = b.result(2);
  const Tensor spread = d.Call("aten::expand_as", Column(d, b.grad(1)), Diagonal(d, lu));
  const Tensor diagonal = d.Call("aten::diag_embed", spread);
  return d.Call("aten::linalg_lu_solve", lu, b.result(3), diagonal, true,
                !FactorizedTransposed(b.saved(0)));
}

// self, upper (cholesky_backward)
Tensor CholeskyOf(Dispatcher& d, const Backward& b) {
  const bool upper = b.op().boolean(1);
  const Tensor factor = upper ? Turned(d, b.result()) : b.result();
  const Tensor given = upper ? Turned(d, b.grad()) : b.grad();
  Tensor grad;
  {
    const Tensor product = Product(d, Turned(d, factor), given);
    grad = d.Call("aten::tril", product);
  }
  {
    Tensor below = d.Call("aten::tril", grad, -1);
    Tensor sum = d.Call("aten::add.Tensor", grad, Turned(d, below));
    Tensor half = d.Call("aten::mul.Scalar", sum, 0.5);
    sum.reset();
    below.reset();
    grad = std::move(half);
  }
  grad = SolveTriangular(d, Turned(d, factor), grad, true, true);
  grad = SolveTriangular(d, factor, grad, false, false);
  return grad;
}

// self, B, upper, left, unitriangular (linalg_solve_triangular_backward)
std::vector<Tensor> TriangularBoth(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const bool upper = op.boolean(2), left = op.boolean(3, true), unit = op.boolean(4);
  std::vector<Tensor> out(2);
  const Tensor of_b =
      d.Call("aten::linalg_solve_triangular", Turned(d, b.saved(0)), b.grad(), !upper, left, unit);
  if (b.needs(0)) {
    const Tensor turned = Turned(d, b.result());
    Tensor product = left ? Product(d, of_b, turned) : Product(d, turned, of_b);
    Tensor slope = d.Call("aten::neg", product);
    product.reset();
    const std::int64_t offset = unit ? 1 : 0;
    out[0] = upper ? d.Call("aten::triu", slope, offset) : d.Call("aten::tril", slope, -offset);
  }
  if (b.needs(1)) out[1] = of_b;
  return out;
}

// A, mode: of a matrix with as many rows as columns or more (linalg_qr_backward)
Tensor OrthogonalOf(Dispatcher& d, const Backward& b) {
  RequireReal(b);
  const Tensor q = b.result(0), r = b.result(1);
  const Tensor &of_q = b.grad(0), &of_r = b.grad(1);
  const TensorView a = b.op().self();
  if (a.size(-2) < a.size(-1)) Refuse("the gradient of the QR of a wide matrix is not modelled");
  Tensor grad;
  if (of_r.defined()) {
    const Tensor other = of_q.defined() ? Product(d, Turned(d, q), of_q) : Tensor();
    const Tensor own = Product(d, of_r, Turned(d, r));
    grad = other.defined() ? d.Call("aten::sub.Tensor", own, other) : own;
  } else {
    const Tensor other = Product(d, Turned(d, q), of_q);
    grad = d.Call("aten::neg", other);
  }
  {
    Tensor above = d.Call("aten::triu", grad);
    Tensor whole = d.Call("aten::add.Tensor", above, Turned(d, above));
    d.Call("aten::mul_.Scalar", Diagonal(d, whole), 0.5);
    Tensor product = Product(d, q, whole);
    whole.reset();
    above.reset();
    grad = std::move(product);
  }
  if (of_q.defined()) grad = d.Call("aten::add.Tensor", grad, of_q);
  return SolveTriangular(d, Turned(d, r), grad, false, false);
}

// A: from the values and vectors of a symmetric matrix (linalg_eig_backward)
Tensor EigenOf(Dispatcher& d, const Backward& b) {
  RequireReal(b);
  const Tensor values = b.result(0), vectors = b.result(1);
  const Tensor &of_values = b.grad(0), &of_vectors = b.grad(1);
  if (!of_vectors.defined()) {
    const Tensor scaled = d.Call("aten::mul.Tensor", vectors, Row(d, of_values));
    return Product(d, scaled, Turned(d, vectors));
  }
  const Tensor inner = Product(d, Turned(d, vectors), of_vectors);
  Tensor slope;
  {
    const Tensor skew = Skew(d, inner);
    slope = d.Call("aten::mul.Scalar", skew, 0.5);
  }
  {
    const Tensor gaps = d.Call("aten::sub.Tensor", Row(d, values), Column(d, values));
    d.Call("aten::fill_.Scalar", Diagonal(d, gaps), std::int64_t{1});
    d.Call("aten::div_.Tensor", slope, gaps);
    if (of_values.defined()) {
      d.Call("aten::copy_", Diagonal(d, slope), of_values);
    }
  }
  const Tensor right = Product(d, slope, Turned(d, vectors));
  return Product(d, vectors, right);
}

// A, from U, S and Vh, of which the full ones are cut (svd_backward)
Tensor SingularOf(Dispatcher& d, const Backward& b) {
  RequireReal(b);
  if (b.op().boolean(1)) Refuse("the gradient of full singular vectors is not modelled");
  const Tensor u = b.result(0), s = b.result(1), vh = b.result(2);
  const Tensor &of_u = b.grad(0), &of_s = b.grad(1), &of_vh = b.grad(2);
  const std::int64_t m = u.size(-2), n = vh.size(-1), k = s.size(-1);
  if (!of_u.defined() && !of_vh.defined()) {
    const Tensor left = m >= n ? u : d.Call("aten::mul.Tensor", u, Row(d, of_s));
    const Tensor right = m >= n ? d.Call("aten::mul.Tensor", Column(d, of_s), vh) : vh;
    return Product(d, left, right);
  }
  if (!of_u.defined() || !of_vh.defined()) {
    Refuse("the gradient of one side's singular vectors alone is not modelled");
  }
  const Tensor skew_u = [&] {
    const Tensor inner = Product(d, Turned(d, u), of_u);
    return Skew(d, inner);
  }();
  const Tensor skew_v = [&] {
    const Tensor inner = Product(d, of_vh, Turned(d, vh));
    return Skew(d, inner);
  }();
  Tensor grad;
  {
    Tensor gaps;
    {
      const Tensor squares = d.Call("aten::mul.Tensor", s, s);
      gaps = d.Call("aten::sub.Tensor", Row(d, squares), Column(d, squares));
      d.Call("aten::fill_.Scalar", Diagonal(d, gaps), std::int64_t{1});
    }
    const Tensor by_v = d.Call("aten::mul.Tensor", Column(d, s), skew_v);
    const Tensor by_u = d.Call("aten::mul.Tensor", skew_u, Row(d, s));
    const Tensor sum = d.Call("aten::add.Tensor", by_u, by_v);
    grad = d.Call("aten::div.Tensor", sum, gaps);
  }
  if (of_s.defined()) {
    const Tensor diagonal = d.Call("aten::diag_embed", of_s);
    grad = d.Call("aten::add.Tensor", grad, diagonal);
  }
  if (m > k) {
    grad = Product(d, u, grad);
    const Tensor rest = d.Call("aten::div.Tensor", of_u, Row(d, s));
    Tensor inner = Product(d, Turned(d, u), rest);
    grad = WithoutInside(d, std::move(grad), rest, Product(d, u, inner));
    inner.reset();
    grad = Product(d, grad, vh);
    return grad;
  }
  if (n > k) {
    grad = Product(d, grad, vh);
    const Tensor rest = d.Call("aten::div.Tensor", of_vh, Column(d, s));
    Tensor inner = Product(d, rest, Turned(d, vh));
    grad = WithoutInside(d, std::move(grad), rest, Product(d, inner, vh));
    inner.reset();
    grad = Product(d, u, grad);
    return grad;
  }
  const Tensor right = Product(d, grad, vh);
  return Product(d, u, right);
}

// self, other, dim
Tensor CrossSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::linalg_cross", Conjugate(d, b.saved(1)), b.grad(), b.op().integer(2, -1));
}
Tensor CrossOther(Dispatcher& d, const Backward& b) {
  return d.Call("aten::linalg_cross", b.grad(), Conjugate(d, b.saved(0)), b.op().integer(2, -1));
}

}  // namespace steelyard::gradients
