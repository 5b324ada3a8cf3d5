// SPDX-License-Identifier: Apache-2.0
//
// Square roots of matrices, from eigenvalues, and polar factors, from singular ones.

#include "ops/gradients/polar.h"

#include <array>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/matrix_words.h"
#include "ops/lapack.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using namespace lapack;  // NOLINT(google-build-using-namespace)
using gradients::Symmetric;
using gradients::Turned;

// Operands that are conjugates are copied for the whole product.
Tensor Product(Dispatcher& d, const Tensor& a, const Tensor& b) {
  Tensor out;
  const Dispatcher::Inside frame(d, "aten::matmul");
  const Tensor first = d.Call("aten::resolve_conj", a), second = d.Call("aten::resolve_conj", b);
  out = d.Call("aten::matmul", first, second);
  return out;
}

std::vector<Tensor> SquareRoot(Dispatcher& d, const OpView& op) {
  RequireSquare(op.self());
  std::vector<Tensor> both = d.CallMany("aten::linalg_eigh", op.arg(0));
  const Tensor vectors = std::move(both[1]), values = std::move(both[0]);
  const Tensor roots = [&] {
    const Tensor positive = d.Call("aten::clamp_min", values, 0);
    return d.Call("aten::sqrt", positive);
  }();
  const Tensor product = [&] {
    const Tensor turned = Turned(d, vectors);
    const Tensor row = d.Call("aten::unsqueeze", roots, -2);
    const Tensor scaled = d.Call("aten::mul.Tensor", vectors, row);
    return Product(d, scaled, turned);
  }();
  return {Symmetric(d, product)};
}

// A: a factor with orthonormal columns and one that is symmetric
std::vector<Tensor> PolarFactors(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self();
  RequireMatrix(a);
  if (a.size(-2) < a.size(-1)) Refuse(shape::Text(a) + " has fewer rows than columns");
  const Tensor u = MadeByRows(d, Dims(a.sizes()), a.dtype());
  const Tensor h = MadeByRows(d, With(BatchOf(a), {a.size(-1), a.size(-1)}), a.dtype());
  const std::vector<Tensor> parts = d.CallMany("aten::linalg_svd", op.arg(0), false);
  const Tensor symmetric = [&] {
    const Tensor product = [&] {
      const Tensor turned = Turned(d, parts[2]);
      const Tensor column = d.Call("aten::unsqueeze", parts[1], -1);
      const Tensor scaled = d.Call("aten::mul.Tensor", column, parts[2]);
      return Product(d, turned, scaled);
    }();
    return Symmetric(d, product);
  }();
  {
    const Tensor orthonormal = d.Call("aten::matmul", parts[0], parts[2]);
    d.Call("aten::copy_", u, orthonormal);
  }
  d.Call("aten::copy_", h, symmetric);
  return {u, h};
}

constexpr std::array kRows{
    Casting(precision::kFull,
            Call({"aten::linalg_matrix_sqrth", "Square roots of symmetric matrices.",
                  "(Tensor self) -> Tensor", "aten::linalg_matrix_sqrth(f32[2,3,3])"},
                 SquareRoot, gradients::kMatrixSquareRoot)),
    Call({"aten::linalg_polar", "Orthonormal and symmetric factors of matrices.",
          "(Tensor A) -> (Tensor U, Tensor H)", "aten::linalg_polar(f32[2,5,3])"},
         PolarFactors, gradients::kPolar),
};

}  // namespace

std::span<const OpDef> PolarFactorizations() { return kRows; }

}  // namespace steelyard::ops
