// SPDX-License-Identifier: Apache-2.0
//
// Formulas of FunctionsManual.cpp with C++'s temporaries in C++'s order. Those of singular and of
// eigenvectors take it that the values differ, and of complex ones that the loss does not tell the
// phase of a vector: PyTorch looks at the gradients for that.

#include "ops/gradients/factorization.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/gradients/matrix_words.h"
#include "ops/gradients/words.h"
#include "ops/rules/promote.h"

namespace steelyard::gradients {
namespace {

constexpr double kPhaseTolerance = 1e-2;

Tensor Diagonal(Dispatcher& d, const Tensor& t) { return d.Call("aten::diagonal", t, 0, -2, -1); }
bool FactorizedTransposed(const Tensor& a) { return a.is_contiguous() && !IsComplex(a.dtype()); }

// e - its conjugate transpose
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

// By products that are as small as the shorter side lets them be (pinv_backward).
Tensor PseudoInverseBackward(Dispatcher& d, const Tensor& of_inverse, const Tensor& inverse,
                             const Tensor& a) {
  const Tensor turned = Turned(d, inverse), grad = Turned(d, of_inverse);
  const auto minus = [&](const Tensor& x, const Tensor& y) {
    return d.Call("aten::sub.Tensor", x, y);
  };
  const auto plus = [&](const Tensor& x, const Tensor& y) {
    return d.Call("aten::add.Tensor", x, y);
  };
  // Whatever a sum is made of lives until it is made.
  if (a.size(-2) <= a.size(-1)) {
    const Tensor k = Product(d, grad, inverse), kt = Product(d, k, turned);
    const Tensor both = Product(d, turned, inverse), ka = Product(d, k, a);
    const Tensor rest = minus(grad, ka), fourth = Product(d, both, rest);
    const Tensor onto = Product(d, a, inverse), third = Product(d, onto, kt);
    const Tensor ik = Product(d, inverse, k), first = d.Call("aten::neg", Turned(d, ik));
    const Tensor two = plus(first, kt), three = minus(two, third);
    return plus(three, fourth);
  }
  const Tensor k = Product(d, inverse, grad), tk = Product(d, turned, k);
  const Tensor tki = Product(d, tk, inverse), fourth = Product(d, tki, a);
  const Tensor ak = Product(d, a, k), rest = minus(grad, ak);
  const Tensor ri = Product(d, rest, inverse), second = Product(d, ri, turned);
  const Tensor ki = Product(d, k, inverse), first = d.Call("aten::neg", Turned(d, ki));
  const Tensor two = plus(first, second), three = plus(two, tk);
  return minus(three, fourth);
}

// As linalg_solve tells vectors from matrices.
bool IsVectorOf(const TensorView& a, const TensorView& b) {
  if (b.rank() == 1) return true;
  if (b.rank() != a.rank() - 1) return false;
  return std::ranges::equal(b.sizes(), a.sizes().first(static_cast<std::size_t>(a.rank() - 1)));
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
  const OpView& op = b.op();
  const Tensor x = b.result();
  const bool left = op.boolean(2, true), vector = op.output().rank() < op.self().rank();
  const auto as_matrix = [&](const Tensor& t) { return vector ? Column(d, t) : t; };
  std::vector<Tensor> out(2);
  const Tensor of_b =
      d.Call("aten::linalg_lu_solve", b.result(1), b.result(2), as_matrix(b.grad()), left, true);
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
  // Of a single number it is the gradient itself.
  if (b.op().self().size(-1) == 1) return Column(d, Column(d, b.grad()));
  const Tensor lu = b.result(1);
  const Tensor scaled = d.Call("aten::mul.Tensor", b.grad(), Conjugate(d, b.result()));
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

// The same of a sum of logarithms; the sign of a real one has no gradient (slogdet_backward)
Tensor LogDeterminantOf(Dispatcher& d, const Backward& b) {
  const Tensor &of_sign = b.grad(0), a = b.saved(0);
  Tensor grad = b.grad(1);
  if (IsComplex(a.dtype()) && of_sign.defined()) {
    const Tensor product = d.Call("aten::mul.Tensor", Conjugate(d, of_sign), b.result(0));
    const Tensor turned = d.Call("aten::imag", product);
    const Tensor imaginary =
        d.Call("aten::mul.Scalar", turned, ComplexNumber(d, {0, grad.defined() ? 1.0 : -1.0}));
    grad = grad.defined() ? d.Call("aten::sub.Tensor", grad, imaginary) : imaginary;
  } else if (!grad.defined()) {
    return {};
  } else {
    grad = d.Call("aten::to.dtype", grad, a.dtype());
  }
  const Tensor lu = b.result(2);
  const Tensor spread = d.Call("aten::expand_as", Column(d, grad), Diagonal(d, lu));
  const Tensor diagonal = d.Call("aten::diag_embed", spread);
  return d.Call("aten::linalg_lu_solve", lu, b.result(3), diagonal, true, !FactorizedTransposed(a));
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

// self, upper (cholesky_inverse_backward)
Tensor CholeskyInverseOf(Dispatcher& d, const Backward& b) {
  const Tensor factor = b.saved(0), inverse = b.result();
  Tensor common = d.Call("aten::add.Tensor", b.grad(), Turned(d, b.grad()));
  {
    const Tensor right = Product(d, common, inverse);
    common = Product(d, inverse, right);
  }
  const Tensor product =
      b.op().boolean(1) ? Product(d, factor, common) : Product(d, common, factor);
  return d.Call("aten::neg", product);
}

// self, input2, upper (cholesky_solve_backward)
std::vector<Tensor> CholeskySolveBoth(Dispatcher& d, const Backward& b) {
  const bool upper = b.op().boolean(2);
  const Tensor factor = b.saved(1);
  std::vector<Tensor> out(2);
  out[0] = d.Call("aten::cholesky_solve", b.grad(), factor, upper);
  if (b.needs(1)) {
    Tensor common = Product(d, out[0], Turned(d, b.result()));
    common = d.Call("aten::add.Tensor", common, Turned(d, common));
    const Tensor product = upper ? Product(d, factor, common) : Product(d, common, factor);
    out[1] = d.Call("aten::neg", product);
  }
  return out;
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
    Tensor derivative = d.Call("aten::neg", product);
    product.reset();
    const std::int64_t offset = unit ? 1 : 0;
    out[0] = upper ? d.Call("aten::triu", derivative, offset)
                   : d.Call("aten::tril", derivative, -offset);
  }
  if (b.needs(1)) out[1] = of_b;
  return out;
}

// self, A, upper, transpose, unitriangular, with a copy of A (triangular_solve_backward)
std::vector<Tensor> TriangularSolveBoth(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const bool upper = op.boolean(2, true), transposed = op.boolean(3), unit = op.boolean(4);
  const auto zeros = [&](int argument) {
    const TensorView of = op.tensor(argument);
    const Tensor zero = d.Call("aten::zeros", Dims{1}, of.dtype());
    return d.Call("aten::expand", zero, Dims(of.sizes()));
  };
  Tensor of_b, of_a;
  if (b.grad().defined()) {
    of_b = d.Call("aten::triangular_solve", b.grad(), Conjugate(d, b.saved(1)), upper, !transposed,
                  unit);
    if (b.needs(1)) {
      of_a = [&] {
        const Tensor product = transposed
                                   ? Product(d, Conjugate(d, b.result()), d.Call("aten::mT", of_b))
                                   : Product(d, of_b, Turned(d, b.result()));
        return d.Call("aten::neg", product);
      }();
      const std::int64_t offset = unit ? 1 : 0;
      of_a = upper ? d.Call("aten::triu", of_a, offset) : d.Call("aten::tril", of_a, -offset);
    }
  }
  if (!of_a.defined()) of_a = zeros(1);
  if (!of_b.defined()) of_b = zeros(0);
  if (b.needs(1) && b.grad(1).defined()) of_a = d.Call("aten::add.Tensor", of_a, b.grad(1));
  return {of_b, of_a};
}

// Of a matrix with as many rows as columns or more, from what Q.mH() and the gradients make.
Tensor OrthogonalOfTall(Dispatcher& d, const Backward& b, Tensor grad) {
  const Tensor q = b.result(0), r = b.result(1);
  {
    Tensor above = d.Call("aten::triu", grad);
    Tensor whole = d.Call("aten::add.Tensor", above, Turned(d, above));
    d.Call("aten::mul_.Scalar", AsReal(d, RealOf(whole.dtype()), Diagonal(d, whole)), 0.5);
    Tensor product = Product(d, q, whole);
    whole.reset();
    above.reset();
    grad = std::move(product);
  }
  if (b.grad(0).defined()) grad = d.Call("aten::add.Tensor", grad, b.grad(0));
  return SolveTriangular(d, Turned(d, r), grad, false, false);
}

// Of one with more columns: only as many of them as there are rows decide Q.
Tensor OrthogonalOfWide(Dispatcher& d, const Backward& b, Tensor grad) {
  const Tensor q = b.result(0), r = b.result(1);
  const std::int64_t m = q.size(-2), n = r.size(-1);
  {
    const Tensor negative = d.Call("aten::neg", grad);
    const Tensor below = [&] {
      const Tensor skew = Skew(d, negative);
      return d.Call("aten::tril", skew);
    }();
    if (IsComplex(below.dtype())) {
      d.Call("aten::mul_.Scalar", d.Call("aten::imag", Diagonal(d, below)), 0.5);
    }
    grad = Product(d, q, below);
  }
  {
    const Tensor square = d.Call("aten::narrow", r, -1, 0, m);
    grad = SolveTriangular(d, Turned(d, square), grad, false, false);
  }
  Dims sizes(r.sizes());
  sizes[sizes.size() - 1] = n - m;
  {
    Tensor rest = d.Call("aten::new_zeros", grad, sizes);
    Tensor both = d.Call("aten::cat", std::vector<Tensor>{grad, rest}, -1);
    rest.reset();
    grad = std::move(both);
  }
  if (b.grad(1).defined()) {
    const Tensor product = Product(d, q, b.grad(1));
    grad = d.Call("aten::add.Tensor", grad, product);
  }
  return grad;
}

// A, mode (linalg_qr_backward)
Tensor OrthogonalOf(Dispatcher& d, const Backward& b) {
  const Tensor q = b.result(0), r = b.result(1);
  const Tensor &of_q = b.grad(0), &of_r = b.grad(1);
  Tensor grad;
  if (of_r.defined()) {
    const Tensor other = of_q.defined() ? Product(d, Turned(d, q), of_q) : Tensor();
    const Tensor own = Product(d, of_r, Turned(d, r));
    grad = other.defined() ? d.Call("aten::sub.Tensor", own, other) : own;
  } else {
    const Tensor other = Product(d, Turned(d, q), of_q);
    grad = d.Call("aten::neg", other);
  }
  return q.size(-2) >= r.size(-1) ? OrthogonalOfTall(d, b, std::move(grad))
                                  : OrthogonalOfWide(d, b, std::move(grad));
}

namespace {

// Whether a loss tells the phase of complex vectors, of which PyTorch takes no gradient.
void ComparePhases(Dispatcher& d, const Tensor& diagonal) {
  if (!IsComplex(diagonal.dtype())) return;
  const Tensor parts = d.Call("aten::imag", diagonal);
  const Tensor zeros = d.Call("aten::zeros_like", parts);
  d.CallMany("aten::allclose", parts, zeros, kPhaseTolerance, kPhaseTolerance);
}

// What stands between the vectors, by the differences of the values, with what they say themselves.
void DivideByGaps(Dispatcher& d, const Tensor& inner, const Tensor& values,
                  const Tensor& of_values) {
  const Tensor conjugates = Conjugate(d, values);
  const Tensor gaps = d.Call("aten::sub.Tensor", Row(d, conjugates), Column(d, conjugates));
  d.Call("aten::fill_.Scalar", Diagonal(d, gaps), 1.0);
  d.Call("aten::div_.Tensor", inner, gaps);
  if (of_values.defined()) d.Call("aten::copy_", Diagonal(d, inner), of_values);
}

}  // namespace

// A: from the values and vectors of a symmetric matrix (linalg_eig_backward)
Tensor EigenOf(Dispatcher& d, const Backward& b) {
  const Tensor values = b.result(0), vectors = b.result(1);
  const Tensor &of_values = b.grad(0), &of_vectors = b.grad(1);
  if (!of_vectors.defined()) {
    const Tensor scaled = d.Call("aten::mul.Tensor", vectors, Row(d, of_values));
    return Product(d, scaled, Turned(d, vectors));
  }
  Tensor derivative = Product(d, Turned(d, vectors), of_vectors);
  const Tensor diagonal = Diagonal(d, derivative);
  ComparePhases(d, diagonal);
  {
    const Tensor skew = Skew(d, derivative);
    derivative = d.Call("aten::mul.Scalar", skew, 0.5);
  }
  DivideByGaps(d, derivative, values, of_values);
  const Tensor right = Product(d, derivative, Turned(d, vectors));
  return Product(d, vectors, right);
}

namespace {

// U, S and Vh with their gradients, of which full ones are cut to as many vectors as S has.
struct Singular {
  Tensor u, s, vh, of_u, of_s, of_vh;
};
Singular CutSingular(Dispatcher& d, const Backward& b) {
  const bool full = b.op().boolean(1);
  Singular out;
  out.s = b.result(1);
  out.of_s = b.grad(1);
  const auto cut = [&](const Tensor& t, int dim) {
    return full && t.defined() ? d.Call("aten::narrow", t, dim, 0, out.s.size(-1)) : t;
  };
  out.vh = cut(b.result(2), -2);
  out.u = cut(b.result(0), -1);
  out.of_vh = cut(b.grad(2), -2);
  out.of_u = cut(b.grad(0), -1);
  return out;
}

// Differences of squared values, ones on the diagonal.
Tensor SquaredGaps(Dispatcher& d, const Tensor& s) {
  const Tensor squares = d.Call("aten::mul.Tensor", s, s);
  const Tensor gaps = d.Call("aten::sub.Tensor", Row(d, squares), Column(d, squares));
  d.Call("aten::fill_.Scalar", Diagonal(d, gaps), std::int64_t{1});
  return gaps;
}

// Whether a loss tells the phase of a pair of complex vectors.
void ComparePhases(Dispatcher& d, const Singular& x, const Tensor& skew_u, const Tensor& skew_v) {
  if (!IsComplex(x.u.dtype())) return;
  const auto phases = [&](const Tensor& skew) {
    return skew.defined() ? d.Call("aten::imag", Diagonal(d, skew))
                          : d.Call("aten::zeros_like", x.s);
  };
  const Tensor of_u = phases(skew_u), of_v = phases(skew_v);
  const Tensor negative = d.Call("aten::neg", of_v);
  d.CallMany("aten::allclose", of_u, negative, kPhaseTolerance, kPhaseTolerance);
}

// What the vectors say of the matrix between U and Vh.
Tensor BetweenSingular(Dispatcher& d, const Singular& x, const Tensor& skew_u,
                       const Tensor& skew_v) {
  const Tensor gaps = SquaredGaps(d, x.s);
  if (!skew_v.defined()) {
    const Tensor ratio = d.Call("aten::div.Tensor", skew_u, gaps);
    return d.Call("aten::mul.Tensor", ratio, Row(d, x.s));
  }
  if (!skew_u.defined()) {
    const Tensor ratio = d.Call("aten::div.Tensor", skew_v, gaps);
    return d.Call("aten::mul.Tensor", Column(d, x.s), ratio);
  }
  const Tensor by_v = d.Call("aten::mul.Tensor", Column(d, x.s), skew_v);
  const Tensor by_u = d.Call("aten::mul.Tensor", skew_u, Row(d, x.s));
  const Tensor sum = d.Call("aten::add.Tensor", by_u, by_v);
  return d.Call("aten::div.Tensor", sum, gaps);
}

// That matrix between U and Vh, with what is outside of the shorter side's vectors.
Tensor AroundSingular(Dispatcher& d, const Singular& x, Tensor grad) {
  const std::int64_t m = x.u.size(-2), n = x.vh.size(-1), k = x.s.size(-1);
  if (m > k && x.of_u.defined()) {
    grad = Product(d, x.u, grad);
    const Tensor rest = d.Call("aten::div.Tensor", x.of_u, Row(d, x.s));
    Tensor inner = Product(d, Turned(d, x.u), rest);
    grad = WithoutInside(d, std::move(grad), rest, Product(d, x.u, inner));
    inner.reset();
    grad = Product(d, grad, x.vh);
    return grad;
  }
  if (n > k && x.of_vh.defined()) {
    grad = Product(d, grad, x.vh);
    const Tensor rest = d.Call("aten::div.Tensor", x.of_vh, Column(d, x.s));
    Tensor inner = Product(d, rest, Turned(d, x.vh));
    grad = WithoutInside(d, std::move(grad), rest, Product(d, inner, x.vh));
    inner.reset();
    grad = Product(d, x.u, grad);
    return grad;
  }
  if (m >= n) {
    const Tensor right = Product(d, grad, x.vh);
    return Product(d, x.u, right);
  }
  const Tensor left = Product(d, x.u, grad);
  return Product(d, left, x.vh);
}

}  // namespace

// A (svd_backward)
Tensor SingularOf(Dispatcher& d, const Backward& b) {
  const Singular x = CutSingular(d, b);
  if (!x.of_u.defined() && !x.of_vh.defined()) {
    const bool is_tall = x.u.size(-2) >= x.vh.size(-1);
    const Tensor left = is_tall ? x.u : d.Call("aten::mul.Tensor", x.u, Row(d, x.of_s));
    const Tensor right = is_tall ? d.Call("aten::mul.Tensor", Column(d, x.of_s), x.vh) : x.vh;
    return Product(d, left, right);
  }
  const Tensor skew_u = x.of_u.defined() ? [&] {
    const Tensor inner = Product(d, Turned(d, x.u), x.of_u);
    return Skew(d, inner);
  }()
                                         : Tensor();
  const Tensor skew_v = x.of_vh.defined() ? [&] {
    const Tensor inner = Product(d, x.vh, Turned(d, x.of_vh));
    return Skew(d, inner);
  }()
                                          : Tensor();
  ComparePhases(d, x, skew_u, skew_v);
  Tensor grad = BetweenSingular(d, x, skew_u, skew_v);
  if (x.of_s.defined()) {
    const Tensor diagonal = d.Call("aten::diag_embed", x.of_s);
    grad = d.Call("aten::add.Tensor", grad, diagonal);
  }
  if (IsComplex(x.u.dtype()) && skew_u.defined() && skew_v.defined()) {
    const Tensor twice = d.Call("aten::mul.Scalar", x.s, 2.0);
    const Tensor ratio = d.Call("aten::div.Tensor", Diagonal(d, skew_u), twice);
    const Tensor diagonal = d.Call("aten::diag_embed", ratio);
    grad = d.Call("aten::add.Tensor", grad, diagonal);
  }
  return AroundSingular(d, x, std::move(grad));
}

namespace {

// What a gradient of vectors of norm 1 says of what stands between their inverse and them.
Tensor AcrossUnitVectors(Dispatcher& d, const Tensor& vectors, const Tensor& inner,
                         const Tensor& diagonal) {
  const Tensor real = d.Call("aten::real", diagonal);
  const Tensor scaled = d.Call("aten::mul.Tensor", vectors, Row(d, real));
  const Tensor along = Product(d, Turned(d, vectors), scaled);
  return d.Call("aten::sub.Tensor", inner, along);
}

}  // namespace

// A: from the values and vectors of any matrix, which are complex (linalg_eig_backward)
Tensor GeneralEigenOf(Dispatcher& d, const Backward& b) {
  const Tensor values = b.result(0), vectors = b.result(1);
  const Tensor &of_values = b.grad(0), &of_vectors = b.grad(1);
  const Tensor turned = Turned(d, vectors);
  if (!of_vectors.defined()) {
    const Tensor scaled = d.Call("aten::mul.Tensor", Column(d, of_values), turned);
    return AsReal(d, b.op().self().dtype(), d.Call("aten::linalg_solve", turned, scaled));
  }
  Tensor inner = Product(d, turned, of_vectors);
  const Tensor diagonal = Diagonal(d, inner);  // which the first of both lives in
  ComparePhases(d, diagonal);
  inner = AcrossUnitVectors(d, vectors, inner, diagonal);
  DivideByGaps(d, inner, values, of_values);
  const Tensor product = Product(d, inner, turned);
  return AsReal(d, b.op().self().dtype(), d.Call("aten::linalg_solve", turned, product));
}

namespace {

// What a least-squares problem is made of, with a vector on the right as a matrix.
struct LeastSquares {
  Tensor a, sides;
  bool vector = false;
  bool needs_a = false, needs_sides = false;

  Tensor AsMatrix(Dispatcher& d, const Tensor& t) const { return vector ? Column(d, t) : t; }
  Tensor AsGiven(Dispatcher& d, const Tensor& t) const {
    return vector ? d.Call("aten::squeeze.dim", t, -1) : t;
  }
};
struct OfBoth {
  Tensor a, sides;
};

OfBoth OfSolution(Dispatcher& d, const LeastSquares& x, const Tensor& grad) {
  OfBoth out;
  const Tensor given = x.AsMatrix(d, grad);
  const Tensor inverse = d.Call("aten::linalg_pinv.atol_rtol_float", x.a);
  if (x.needs_a) {
    const Tensor of_inverse = Product(d, given, Turned(d, x.sides));
    out.a = PseudoInverseBackward(d, of_inverse, inverse, x.a);
  }
  if (x.needs_sides) out.sides = x.AsGiven(d, Product(d, Turned(d, inverse), given));
  return out;
}

// Of the sums of squares that are left over; what the solution says is added to it.
OfBoth OfResiduals(Dispatcher& d, const LeastSquares& x, const Tensor& result, const Tensor& grad,
                   const OfBoth& of_solution) {
  const auto add = [&](const Tensor& before, const Tensor& own) {
    return before.defined() ? d.Call("aten::add.Tensor", before, own) : own;
  };
  OfBoth out;
  const Tensor solution = x.AsMatrix(d, result);
  const Tensor left_over = [&] {
    const Tensor product = Product(d, x.a, solution);
    return d.Call("aten::sub.Tensor", product, x.sides);
  }();
  const Tensor row = Row(d, grad);
  if (x.needs_a) {
    const Tensor own = [&] {
      const Tensor scaled = d.Call("aten::mul.Tensor", row, left_over);
      const Tensor product = Product(d, scaled, Turned(d, solution));
      return d.Call("aten::mul.Scalar", product, std::int64_t{2});
    }();
    out.a = add(of_solution.a, own);
  }
  if (x.needs_sides) {
    const Tensor own = [&] {
      const Tensor twice = d.Call("aten::mul.Scalar", row, std::int64_t{-2});
      return x.AsGiven(d, d.Call("aten::mul.Tensor", twice, left_over));
    }();
    out.sides = add(of_solution.sides, own);
  }
  return out;
}

}  // namespace

// A, B (linalg_lstsq_backward)
std::vector<Tensor> LeastSquaresBoth(Dispatcher& d, const Backward& b) {
  const bool has_residuals = b.grad(1).defined() && b.grad(1).count() > 0;
  if (!b.grad(0).defined() && !has_residuals) return std::vector<Tensor>(2);
  LeastSquares x;
  x.a = b.saved(0);
  x.needs_a = b.needs(0);
  x.needs_sides = b.needs(1);
  x.vector = IsVectorOf(x.a.view(), b.op().tensor(1));
  x.sides = x.AsMatrix(d, b.saved(1));
  OfBoth of_solution;
  if (b.grad(0).defined()) of_solution = OfSolution(d, x, b.grad(0));
  if (!has_residuals) return {of_solution.a, of_solution.sides};
  const OfBoth out = OfResiduals(d, x, b.result(), b.grad(1), of_solution);
  return {out.a, out.sides};
}

// A
Tensor PseudoInverseOf(Dispatcher& d, const Backward& b) {
  return PseudoInverseBackward(d, b.grad(), b.result(), b.saved(0));
}
// self: a block of the exponential of a matrix of twice the size
// (linalg_matrix_exp_differential in torch/csrc/autograd/FunctionsManual.cpp)
Tensor ExponentialOf(Dispatcher& d, const Backward& b) {
  const Tensor self = Turned(d, b.saved(0));
  const std::int64_t n = self.size(-1);
  Dims sizes(self.sizes());
  sizes[sizes.size() - 1] = sizes[sizes.size() - 2] = 2 * n;
  const Tensor whole = d.Call("aten::zeros", sizes, b.grad().dtype());
  const auto block = [&](const Tensor& of, std::int64_t row, std::int64_t column) {
    return d.Call("aten::narrow", d.Call("aten::narrow", of, -2, row, n), -1, column, n);
  };
  d.Call("aten::copy_", block(whole, 0, 0), self);
  d.Call("aten::copy_", block(whole, n, n), self);
  d.Call("aten::copy_", block(whole, 0, n), b.grad());
  return block(d.Call("aten::linalg_matrix_exp", whole), 0, n);
}
// self, other, dim
Tensor CrossSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::linalg_cross", Conjugate(d, b.saved(1)), b.grad(), b.op().integer(2, -1));
}
Tensor CrossOther(Dispatcher& d, const Backward& b) {
  return d.Call("aten::linalg_cross", b.grad(), Conjugate(d, b.saved(0)), b.op().integer(2, -1));
}

}  // namespace steelyard::gradients
