// SPDX-License-Identifier: Apache-2.0
//
// householder_product_backward of FunctionsManual.cpp, with C++'s temporaries in C++'s order.
// What the gradients are made of, K, is overwritten by one reflection after another:
// by the inverse of the next from the left, and by the last from the right. Reflection `i` knows
// only rows from `i` on.

#include "ops/gradients/householder.h"

#include <cstdint>
#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/matrix_words.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {
namespace {

Tensor OneOf(Dispatcher& d, const Tensor& t, std::int64_t i) {
  return d.Call("aten::narrow", t, -1, i, 1);
}
Tensor From(Dispatcher& d, const Tensor& t, int dim, std::int64_t i) {
  return d.Call("aten::narrow", t, dim, i, t.size(dim) - i);
}

// A reflection: its vector, as a column, and its factor.
struct Reflection {
  std::int64_t at = 0;
  Tensor vector, factor;
};

void ReflectFromLeft(Dispatcher& d, const Reflection& r, const Tensor& k) {
  const Tensor v = From(d, r.vector, -2, r.at);
  const Tensor row = Product(d, Turned(d, v), From(d, k, -2, r.at));
  const Tensor scaled = Times(d, Column(d, r.factor), v);
  const Tensor change = Times(d, scaled, row);
  d.Call("aten::sub_.Tensor", From(d, k, -2, r.at), change);
}

void ReflectFromRight(Dispatcher& d, const Reflection& r, const Tensor& k) {
  const Tensor v = From(d, r.vector, -2, r.at);
  const Tensor column = [&] {
    const Tensor scaled = Times(d, Column(d, r.factor), v);
    return Product(d, From(d, k, -1, r.at), scaled);
  }();
  const Tensor change = Times(d, column, Turned(d, v));
  d.Call("aten::sub_.Tensor", From(d, k, -1, r.at), change);
}

// The gradients of a vector and of its factor.
struct Gradients {
  Tensor factor, vector;  // the second dies first
};
Gradients Update(Dispatcher& d, const Reflection& r, const Tensor& k) {
  const Tensor v = From(d, r.vector, -2, r.at);
  const Tensor row = Product(d, Turned(d, v), From(d, k, -2, r.at));
  const Tensor column = Product(d, From(d, k, -1, r.at), v);
  const Tensor factor = Column(d, r.factor);
  Gradients out;
  {
    const Tensor right = Times(d, factor, column);
    const Tensor negative = d.Call("aten::neg", factor);
    const Tensor left = Times(d, negative, row);
    const Tensor difference =
        d.Call("aten::sub.Tensor", d.Call("aten::squeeze.dim", Conjugate(d, left), -2),
               d.Call("aten::squeeze.dim", right, -1));
    out.vector = Column(d, difference);
  }
  const Tensor product = Product(d, From(d, row, -1, r.at), v);
  out.factor = d.Call("aten::squeeze.dim", d.Call("aten::neg", Conjugate(d, product)), -1);
  return out;
}

// What undoes each reflection.
Tensor InverseFactors(Dispatcher& d, const Tensor& tau, const Tensor& squares) {
  const Tensor scaled = Times(d, tau, squares);
  const Tensor less = d.Call("aten::sub.Scalar", scaled, 1.0);
  return d.Call("aten::div.Tensor", tau, less);
}

}  // namespace

// input, tau
std::vector<Tensor> HouseholderBoth(Dispatcher& d, const Backward& b) {
  const Tensor input = b.saved(0), tau = b.saved(1);
  std::vector<Tensor> out(2);
  if (input.count() == 0 || tau.count() == 0) return out;
  const std::int64_t count = tau.size(-1);
  const Tensor vectors = d.Call("aten::tril", input, -1);
  d.Call("aten::fill_.Scalar", d.Call("aten::diagonal", vectors, 0, -2, -1), 1.0);
  const Tensor first = d.Call("aten::narrow", vectors, -1, 0, count);
  const Tensor squares = [&] {
    const Tensor squared = Times(d, first, Conjugate(d, first));
    return d.Call("aten::sum.dim_IntList", squared, Dims{-2});
  }();
  const Tensor inverse = InverseFactors(d, tau, squares);
  const Tensor k = Product(d, b.result(), Turned(d, b.grad()));
  const auto at = [&](std::int64_t i, const Tensor& factors) {
    return Reflection{i, OneOf(d, vectors, i), OneOf(d, factors, i)};
  };
  ReflectFromLeft(d, at(0, inverse), k);
  out[0] = d.Call("aten::zeros_like", input);
  out[1] = d.Call("aten::zeros_like", tau);
  for (std::int64_t i = 0; i < count; ++i) {
    const Reflection own = at(i, tau);
    const Gradients of = Update(d, own, k);
    d.Call("aten::copy_", d.Call("aten::select.int", out[0], -1, i),
           d.Call("aten::squeeze.dim", of.vector, -1));
    d.Call("aten::copy_", d.Call("aten::select.int", out[1], -1, i),
           d.Call("aten::squeeze.dim", of.factor, -1));
    if (i + 1 == count) break;
    ReflectFromLeft(d, at(i + 1, inverse), k);
    ReflectFromRight(d, own, k);
  }
  d.Call("aten::tril_", out[0], -1);
  return out;
}

}  // namespace steelyard::gradients
