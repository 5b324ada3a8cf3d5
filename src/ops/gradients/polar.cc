// SPDX-License-Identifier: Apache-2.0
//
// Formulas of FunctionsManual.cpp with C++'s temporaries. Both solve a Sylvester equation, in the
// eigenvectors of a matrix: its sums of two eigenvalues divide (Higham, Functions of Matrices,
// section 6.1).

#include "ops/gradients/polar.h"

#include <utility>
#include <vector>

#include "ops/gradients/matrix_words.h"

namespace steelyard::gradients {
namespace {

struct Spectrum {
  Tensor vectors, values;
};
Spectrum SpectrumOf(Dispatcher& d, const Tensor& symmetric) {
  std::vector<Tensor> both = d.CallMany("aten::linalg_eigh", symmetric);
  return {.vectors = std::move(both[1]), .values = std::move(both[0])};
}
Tensor NotNegative(Dispatcher& d, const Tensor& t) { return d.Call("aten::clamp_min", t, 0); }
Tensor SumsOfTwo(Dispatcher& d, const Tensor& values) {
  return d.Call("aten::add.Tensor", Column(d, values), Row(d, values));
}

Tensor InVectors(Dispatcher& d, const Tensor& vectors, const Tensor& a, const Tensor& divisors) {
  const Tensor left = Product(d, Turned(d, vectors), a);
  const Tensor both = Product(d, left, vectors);
  return d.Call("aten::div.Tensor", both, divisors);
}
Tensor OutOfVectors(Dispatcher& d, const Tensor& vectors, const Tensor& a) {
  const Tensor left = Product(d, vectors, a);
  return Product(d, left, Turned(d, vectors));
}
// X of H @ X + X @ H = a
Tensor Sylvester(Dispatcher& d, const Spectrum& of_h, const Tensor& a) {
  const Tensor divisors = SumsOfTwo(d, of_h.values);
  const Tensor divided = InVectors(d, of_h.vectors, a, divisors);
  return OutOfVectors(d, of_h.vectors, divided);
}

// What the orthonormal factor's gradient says: within its columns and beside them.
Tensor OfOrthonormal(Dispatcher& d, const Spectrum& of_h, const Tensor& u, const Tensor& grad) {
  const Tensor inner = Product(d, Turned(d, u), grad);
  const Tensor beside = [&] {
    const Tensor within = Product(d, u, inner);
    const Tensor rest = d.Call("aten::sub.Tensor", grad, within);
    const Tensor turned = Turned(d, of_h.vectors);
    const Tensor in_vectors = Product(d, rest, of_h.vectors);
    const Tensor divided = d.Call("aten::div.Tensor", in_vectors, Row(d, of_h.values));
    return Product(d, divided, turned);
  }();
  const Tensor solved = [&] {
    const Tensor skew = d.Call("aten::sub.Tensor", inner, Turned(d, inner));
    return Sylvester(d, of_h, skew);
  }();
  const Tensor within = Product(d, u, solved);
  return d.Call("aten::add.Tensor", beside, within);
}

}  // namespace

// self (linalg_matrix_sqrth_differential)
Tensor MatrixSquareRootOf(Dispatcher& d, const Backward& b) {
  const Spectrum spectrum = SpectrumOf(d, b.saved(0));
  const Tensor roots = d.Call("aten::sqrt", NotNegative(d, spectrum.values));
  const Tensor divisors = SumsOfTwo(d, roots);
  const Tensor grad = Symmetric(d, b.grad());
  const Tensor divided = InVectors(d, spectrum.vectors, grad, divisors);
  const Tensor out = OutOfVectors(d, spectrum.vectors, divided);
  return Symmetric(d, out);
}

// A, with U and H (linalg_polar_backward)
Tensor PolarOf(Dispatcher& d, const Backward& b) {
  const Tensor u = b.result(0), h = b.result(1);
  Spectrum of_h = SpectrumOf(d, h);
  of_h.values = NotNegative(d, of_h.values);
  Tensor out;
  if (b.grad(0).defined()) out = OfOrthonormal(d, of_h, u, b.grad(0));
  if (b.grad(1).defined()) {
    const Tensor solved = [&] {
      const Tensor twice = d.Call("aten::add.Tensor", b.grad(1), Turned(d, b.grad(1)));
      return Sylvester(d, of_h, twice);
    }();
    const Tensor own = Product(d, b.saved(0), solved);
    out = out.defined() ? d.Call("aten::add.Tensor", out, own) : own;
  }
  return out;
}

}  // namespace steelyard::gradients
