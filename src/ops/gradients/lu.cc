// SPDX-License-Identifier: Apache-2.0
//
// linalg_lu_backward, lu_unpack_backward and linalg_lu_solve_LU of FunctionsManual.cpp, with C++'s
// temporaries in C++'s order. A matrix that is no square is one and the rest: L
// goes down in the rest of a tall one, U to the right in that of a wide one.

#include "ops/gradients/lu.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/matrix_words.h"

namespace steelyard::gradients {
namespace {

Tensor Below(Dispatcher& d, const Tensor& t) { return d.Call("aten::tril", t, -1); }
Tensor Above(Dispatcher& d, const Tensor& t) { return d.Call("aten::triu", t); }
// The first `k` of a dimension, and the rest.
Tensor First(Dispatcher& d, const Tensor& t, int dim, std::int64_t k) {
  return t.size(dim) == k ? t : d.Call("aten::narrow", t, dim, 0, k);
}
Tensor Rest(Dispatcher& d, const Tensor& t, int dim, std::int64_t k) {
  return d.Call("aten::narrow", t, dim, k, t.size(dim) - k);
}
Tensor Join(Dispatcher& d, const Tensor& a, const Tensor& b, int dim) {
  return d.Call("aten::cat", std::vector<Tensor>{a, b}, dim);
}
// By U from the right, and by L, whose diagonal is ones, from the left.
Tensor SolveUpper(Dispatcher& d, const Tensor& u, const Tensor& t) {
  return d.Call("aten::linalg_solve_triangular", Turned(d, u), t, false, false);
}
Tensor SolveLower(Dispatcher& d, const Tensor& l, const Tensor& t) {
  return d.Call("aten::linalg_solve_triangular", Turned(d, l), t, true, true, true);
}

// L and U with their gradients.
struct Factors {
  Tensor l, u, of_l, of_u;
};

Tensor OfSquare(Dispatcher& d, const Factors& x) {
  Tensor grad;
  if (x.of_l.defined()) {
    const Tensor product = Product(d, Turned(d, x.l), x.of_l);
    grad = Below(d, product);
  }
  if (x.of_u.defined()) {
    const Tensor product = Product(d, x.of_u, Turned(d, x.u));
    const Tensor above = Above(d, product);
    grad = grad.defined() ? d.Call("aten::add.Tensor", grad, above) : above;
  }
  grad = SolveUpper(d, x.u, grad);
  return SolveLower(d, x.l, grad);
}

// The square's part is added to what it is given, and the rest stands behind it along `dim`.
Tensor WithRest(Dispatcher& d, Tensor grad, const Tensor& part, const Tensor& rest, int dim) {
  const Tensor sum = d.Call("aten::add.Tensor", grad, part);
  Tensor joined = Join(d, sum, rest, dim);
  grad.reset();
  return joined;
}
Tensor WithZeros(Dispatcher& d, Tensor grad, const Tensor& rest, int dim) {
  Tensor zeros = d.Call("aten::zeros_like", rest);
  Tensor joined = Join(d, grad, zeros, dim);
  zeros.reset();
  grad.reset();
  return joined;
}

Tensor OfWide(Dispatcher& d, const Factors& x) {
  const std::int64_t k = x.l.size(-2);
  Tensor grad = x.of_l.defined() ? Product(d, Turned(d, x.l), x.of_l) : Tensor();
  if (x.of_u.defined()) {
    const Tensor above = Above(d, x.of_u);
    const Tensor product = Product(d, above, Turned(d, x.u));
    grad =
        grad.defined() ? d.Call("aten::sub.Tensor", grad, product) : d.Call("aten::neg", product);
  }
  {
    const Tensor below = Below(d, grad);
    grad = SolveUpper(d, First(d, x.u, -1, k), below);
  }
  if (x.of_u.defined()) {
    const Tensor above = Above(d, First(d, x.of_u, -1, k));
    grad = WithRest(d, std::move(grad), above, Rest(d, x.of_u, -1, k), -1);
  }
  grad = SolveLower(d, x.l, grad);
  if (!x.of_u.defined()) grad = WithZeros(d, std::move(grad), Rest(d, x.u, -1, k), -1);
  return grad;
}

Tensor OfTall(Dispatcher& d, const Factors& x) {
  const std::int64_t k = x.u.size(-1);
  Tensor grad = x.of_u.defined() ? Product(d, x.of_u, Turned(d, x.u)) : Tensor();
  if (x.of_l.defined()) {
    const Tensor below = Below(d, x.of_l);
    const Tensor product = Product(d, Turned(d, x.l), below);
    grad =
        grad.defined() ? d.Call("aten::sub.Tensor", grad, product) : d.Call("aten::neg", product);
  }
  {
    const Tensor above = Above(d, grad);
    grad = SolveLower(d, First(d, x.l, -2, k), above);
  }
  if (x.of_l.defined()) {
    const Tensor below = Below(d, First(d, x.of_l, -2, k));
    grad = WithRest(d, std::move(grad), below, Rest(d, x.of_l, -2, k), -2);
  }
  grad = SolveUpper(d, x.u, grad);
  if (!x.of_l.defined()) grad = WithZeros(d, std::move(grad), Rest(d, x.l, -2, k), -2);
  return grad;
}

Tensor FactorsBackward(Dispatcher& d, const Factors& x, const Tensor& permutation) {
  const std::int64_t m = x.l.size(-2), n = x.u.size(-1);
  const Tensor grad = m == n ? OfSquare(d, x) : m < n ? OfWide(d, x) : OfTall(d, x);
  return Product(d, permutation, grad);
}

// Of factors that the solution X of U came by, with L after it.
Tensor OfSolvedForward(Dispatcher& d, const Factors& x, const Tensor& solution, const Tensor& grad,
                       bool left) {
  const Tensor of_r = [&] {
    const Tensor product =
        left ? Product(d, grad, Turned(d, solution)) : Product(d, Turned(d, grad), solution);
    const Tensor negative = d.Call("aten::neg", product);
    return d.Call("aten::linalg_solve_triangular", Turned(d, x.u), negative, false);
  }();
  const Tensor of_l = [&] {
    const Tensor product = Product(d, of_r, Turned(d, x.u));
    const Tensor solved = SolveLower(d, x.l, product);
    return Below(d, solved);
  }();
  const Tensor of_u = Above(d, of_r);
  return d.Call("aten::add.Tensor", of_l, of_u);
}
// The same of transposed factors, where the rows were exchanged last.
Tensor OfSolvedTransposed(Dispatcher& d, const Factors& x, const Tensor& permutation,
                          const Tensor& solution, const Tensor& grad, bool left) {
  Tensor of_r = [&] {
    const Tensor turned = d.Call("aten::mT", permutation);
    const Tensor ordered = Product(d, turned, left ? solution : Turned(d, solution));
    const Tensor product = Product(d, ordered, left ? Turned(d, grad) : grad);
    const Tensor back = Product(d, product, permutation);
    return d.Call("aten::neg", back);
  }();
  of_r = d.Call("aten::linalg_solve_triangular", Turned(d, x.l), of_r, true, false, true);
  const Tensor of_u = [&] {
    const Tensor product = Product(d, Turned(d, x.l), of_r);
    const Tensor solved = SolveUpper(d, x.u, product);
    return Above(d, solved);
  }();
  const Tensor of_l = Below(d, of_r);
  return d.Call("aten::add.Tensor", of_l, of_u);
}

}  // namespace

// LU, pivots, B, *, left, adjoint
Tensor LuSolveFactors(Dispatcher& d, const Backward& b) {
  const bool left = b.op().boolean(3, true), transposed = left == b.op().boolean(4);
  std::vector<Tensor> all = d.CallMany("aten::lu_unpack", b.saved(0), b.saved(1), true, transposed);
  const Tensor u = std::move(all[2]), l = std::move(all[1]), permutation = std::move(all[0]);
  const Factors factors{l, u, {}, {}};
  return transposed ? OfSolvedTransposed(d, factors, permutation, b.result(), b.grad(), left)
                    : OfSolvedForward(d, factors, b.result(), b.grad(), left);
}
Tensor LuSolveSides(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::linalg_lu_solve", b.saved(0), b.saved(1), b.grad(), op.boolean(3, true),
                !op.boolean(4));
}

// A: with P, L and U
Tensor LuOf(Dispatcher& d, const Backward& b) {
  return FactorsBackward(d, {b.result(1), b.result(2), b.grad(1), b.grad(2)}, b.result(0));
}

// A: with both factors in one matrix, and the pivots
Tensor LuFactorOf(Dispatcher& d, const Backward& b) {
  std::vector<Tensor> all = d.CallMany("aten::lu_unpack", b.result(0), b.result(1));
  const Tensor u = std::move(all[2]), l = std::move(all[1]), permutation = std::move(all[0]);
  const std::int64_t k = u.size(-2);
  const Tensor of_l = d.Call("aten::narrow", b.grad(), -1, 0, k);
  const Tensor of_u = d.Call("aten::narrow", b.grad(), -2, 0, k);
  return FactorsBackward(d, {l, u, of_l, of_u}, permutation);
}

// LU_data
Tensor LuUnpackOf(Dispatcher& d, const Backward& b) {
  const Tensor &of_l = b.grad(1), &of_u = b.grad(2);
  const std::int64_t m = b.op().self().size(-2), n = b.op().self().size(-1), k = std::min(m, n);
  const auto zeros = [&](const Tensor& like, int dim, std::int64_t size) {
    Dims sizes(like.sizes());
    sizes[sizes.size() + dim] = size;
    return d.Call("aten::zeros", sizes, like.dtype());
  };
  if (!of_u.defined()) {
    const Tensor below = Below(d, of_l);
    return m >= n ? below : Join(d, below, zeros(of_l, -1, n - m), -1);
  }
  if (!of_l.defined()) {
    const Tensor above = Above(d, of_u);
    return n >= m ? above : Join(d, above, zeros(of_u, -2, m - n), -2);
  }
  Tensor square = [&] {
    const Tensor above = Above(d, First(d, of_u, -1, k));
    const Tensor below = Below(d, First(d, of_l, -2, k));
    return d.Call("aten::add.Tensor", below, above);
  }();
  if (m == n) return square;
  return m > n ? Join(d, square, Rest(d, of_l, -2, k), -2)
               : Join(d, square, Rest(d, of_u, -1, k), -1);
}

}  // namespace steelyard::gradients
