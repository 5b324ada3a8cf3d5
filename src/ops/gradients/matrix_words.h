// SPDX-License-Identifier: Apache-2.0
//
// What formulas of matrices say again and again, of the last two dimensions.
#pragma once

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/rules/shape.h"

namespace steelyard::gradients {

// The conjugate transpose, as a view.
inline Tensor Turned(Dispatcher& d, const Tensor& t) { return d.Call("aten::mH", t); }
inline Tensor Product(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::matmul", a, b);
}
// A vector [n] as [1, n], or as [n, 1].
inline Tensor Row(Dispatcher& d, const Tensor& t) { return d.Call("aten::unsqueeze", t, -2); }
inline Tensor Column(Dispatcher& d, const Tensor& t) { return d.Call("aten::unsqueeze", t, -1); }
// Half of the sum of a matrix and its conjugate transpose.
inline Tensor Symmetric(Dispatcher& d, const Tensor& a) {
  const Tensor sum = d.Call("aten::add.Tensor", a, Turned(d, a));
  return d.Call("aten::mul.Scalar", sum, 0.5);
}

}  // namespace steelyard::gradients
