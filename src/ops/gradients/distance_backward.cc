// SPDX-License-Identifier: Apache-2.0
//
// The gradients of x1's gradient g, by what arrives for it: of distances r between the vectors of
// two lists, with the difference δ of two vectors,
//
//   g = Σ w · sgn(δ) · |δ|^(p-1),  w = grad_output / r^(p-1)
//
// where nothing comes of a distance that is 0. What is computed in which order is observed in
// PyTorch: a norm of Euclid goes through products, those of p = 1 and ∞ have signs alone.

#include "ops/gradients/distance_backward.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "ops/gradients/expression.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {
namespace {

// Which of the four gradients are wanted.
struct Wanted {
  bool grad_output = false, x1 = false, x2 = false, distance = false;
};

// They go in the order in which a tuple's elements go: the first one first.
struct Gradients {
  Tensor distance, x2, x1, grad_output;
};

// What the formulas are made of; `grad` is what arrives for the gradient of x1.
struct Distances {
  Tensor grad, grad_output, x1, x2;
  double p = 2;
  Tensor distance;
};

Tensor ZerosLike(Dispatcher& d, const Tensor& t) { return d.Call("aten::zeros_like", t); }

Expression Unsqueezed(const Expression& t, std::int64_t dim) {
  return Method("aten::unsqueeze", t, dim);
}
Expression Turned(const Expression& t) { return Method("aten::mT", t); }
Expression IsZero(const Expression& t) { return Method("aten::eq.Scalar", t, Number(0)); }
Expression Masked(const Expression& t, const Expression& mask) {
  return Method("aten::masked_fill.Scalar", t, mask, Number(0));
}

// a / b, and 0 where b is.
Tensor Ratio(Dispatcher& d, const Expression& a, const Tensor& b, const Tensor& zero) {
  const Tensor ratio = (a / b).Value(d);
  return Masked(ratio, zero).Value(d);
}

Tensor Differences(Dispatcher& d, const Distances& of) {
  return (Unsqueezed(of.x1, -2) - Unsqueezed(of.x2, -3)).Value(d);
}

Tensor SumOfProducts(Dispatcher& d, const Tensor& grad, const Tensor& slope) {
  return SumOver(Unsqueezed(grad, -2) * slope, -1, false).Value(d);
}

// --- p = 2 ---------------------------------------------------------------------------------------

Gradients Euclidean(Dispatcher& d, const Distances& of, const Wanted& wanted, const Tensor& zero) {
  Gradients out;
  const Tensor ratio = Ratio(d, of.grad_output, of.distance, zero);
  Tensor projected;
  if (wanted.grad_output || wanted.distance) {
    const Expression inner =
        SumOver(of.grad * of.x1, -1) - Method("aten::matmul", of.grad, Turned(of.x2));
    projected = Ratio(d, inner, of.distance, zero);
  }
  if (wanted.distance) out.distance = (-(ratio * projected)).Value(d);
  if (wanted.x1) out.x1 = (of.grad * SumOver(ratio, -1)).Value(d);
  if (wanted.x2) out.x2 = (-Method("aten::matmul", Turned(ratio), of.grad)).Value(d);
  if (wanted.grad_output) out.grad_output = std::move(projected);
  return out;
}

// --- p = 1, ∞: slopes do not change
// ---------------------------------------------------------------

Gradients Signs(Dispatcher& d, const Distances& of, const Wanted& wanted) {
  Gradients out;
  if (wanted.grad_output) {
    const Tensor difference = Differences(d, of);
    Tensor sign = d.Call("aten::sgn", difference);
    if (std::isinf(of.p)) {  // of the greatest difference alone
      const Tensor distance = d.Call("aten::unsqueeze", of.distance, -1);
      const Tensor size = d.Call("aten::abs", difference);
      const Tensor greatest = d.Call("aten::eq.Tensor", size, distance);
      sign = Times(d, sign, greatest);
    }
    out.grad_output = SumOfProducts(d, of.grad, sign);
  }
  if (wanted.x1) out.x1 = ZerosLike(d, of.x1);
  if (wanted.x2) out.x2 = ZerosLike(d, of.x2);
  if (wanted.distance) out.distance = ZerosLike(d, of.distance);
  return out;
}

// --- Any other p ---------------------------------------------------------------------------------

Gradients Powers(Dispatcher& d, const Distances& of, const Wanted& wanted, const Tensor& zero) {
  Gradients out;
  const double slope = of.p - 1;
  const Tensor difference = Differences(d, of);
  const Tensor size = d.Call("aten::abs", difference);
  const Tensor alike = IsZero(difference).Value(d);
  const Tensor power = Power(of.distance, slope).Value(d);
  const Tensor weight = Ratio(d, of.grad_output, power, zero);
  if (wanted.grad_output || wanted.distance) {
    const Tensor signed_power =
        Masked(Method("aten::sgn", difference) * Power(size, slope), alike).Value(d);
    const Tensor sum = SumOfProducts(d, of.grad, signed_power);
    out.grad_output = Ratio(d, sum, power, zero);
  }
  if (wanted.distance) {
    out.distance =
        (Masked(of.grad_output / of.distance, zero) * Number(-slope) * out.grad_output).Value(d);
  }
  if (wanted.x1 || wanted.x2) {
    Tensor curve = Power(size, of.p - 2).Value(d);
    curve = Masked(curve, alike).Value(d);
    const Tensor weighed = (Unsqueezed(weight, -1) * curve).Value(d);
    if (wanted.x1) out.x1 = (of.grad * Number(slope) * SumOver(weighed, -2, false)).Value(d);
    if (wanted.x2) {
      out.x2 = (SumOver(weighed * Unsqueezed(of.grad, -2), -3, false) * Number(-slope)).Value(d);
    }
  }
  if (!wanted.grad_output) out.grad_output.reset();
  return out;
}

Gradients Twice(Dispatcher& d, const Distances& of, const Wanted& wanted) {
  const Tensor zero = IsZero(of.distance).Value(d);
  if (of.p == 2) return Euclidean(d, of, wanted, zero);
  if (of.p == 1 || std::isinf(of.p)) return Signs(d, of, wanted);
  if (of.p != 0) return Powers(d, of, wanted, zero);
  Gradients out;
  if (wanted.grad_output) out.grad_output = ZerosLike(d, of.grad_output);
  if (wanted.x1) out.x1 = ZerosLike(d, of.x1);
  if (wanted.x2) out.x2 = ZerosLike(d, of.x2);
  if (wanted.distance) out.distance = ZerosLike(d, of.distance);
  return out;
}

// --- Pairs of one list ---------------------------------------------------------------------------

// The pairs above the diagonal of a square matrix, as places in it.
struct Pairs {
  std::int64_t count;
  Tensor rows, columns;
  std::vector<Tensor> places() const { return {rows, columns}; }
};

// A symmetric matrix of what is known of pairs.
Tensor Square(Dispatcher& d, const Pairs& pairs, const Tensor& values) {
  Tensor upper = d.Call("aten::new_zeros", values, Dims{pairs.count, pairs.count});
  upper = d.Call("aten::index_put", upper, pairs.places(), values);
  return (upper + Turned(upper)).Value(d);
}

// What comes of a pair comes of it in either order.
Tensor OfPairs(Dispatcher& d, const Pairs& pairs, const Tensor& square) {
  const Tensor both = (square + Turned(square)).Value(d);
  return d.Call("aten::index.Tensor", both, pairs.places());
}

}  // namespace

std::vector<Tensor> DistancesTwice(Dispatcher& d, const Backward& b) {
  Gradients out =
      Twice(d, {b.grad(), b.saved(0), b.saved(1), b.saved(2), b.op().real(3), b.saved(4)},
            {b.needs(0), b.needs(1), b.needs(2), b.needs(4)});
  return {std::move(out.grad_output), std::move(out.x1), std::move(out.x2),
          std::move(out.distance)};
}

std::vector<Tensor> PairDistancesTwice(Dispatcher& d, const Backward& b) {
  const Tensor grad_output = b.saved(0), self = b.saved(1), distances = b.saved(3);
  const bool whole = b.needs(1);
  std::vector<Tensor> out(3);
  if (b.op().real(2) == 0 || distances.count() == 0) {
    if (b.needs(0)) out[0] = ZerosLike(d, grad_output);
    if (whole) out[1] = ZerosLike(d, self);
    if (b.needs(3)) out[2] = ZerosLike(d, distances);
    return out;
  }
  const std::int64_t n = self.size(0);
  const Tensor indices = d.Call("aten::triu_indices", n, n, std::int64_t{1});
  const Pairs pairs{n, d.Call("aten::select.int", indices, 0, 0),
                    d.Call("aten::select.int", indices, 0, 1)};
  const Gradients of = [&] {
    const Tensor square = Square(d, pairs, distances);
    return Twice(d, {b.grad(), Square(d, pairs, grad_output), self, self, b.op().real(2), square},
                 {b.needs(0), whole, whole, b.needs(3)});
  }();
  if (b.needs(0)) out[0] = OfPairs(d, pairs, of.grad_output);
  if (whole) out[1] = (of.x1 + of.x2).Value(d);
  if (b.needs(3)) out[2] = OfPairs(d, pairs, of.distance);
  return out;
}

}  // namespace steelyard::gradients
