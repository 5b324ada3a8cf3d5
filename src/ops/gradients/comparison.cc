// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/comparison.h"

namespace steelyard::gradients {
namespace {

// Half the gradient where both are equal, the whole elsewhere.
Tensor HalfOfTies(Dispatcher& d, const Backward& b) {
  const Tensor half = d.Call("aten::div.Scalar", b.grad(), std::int64_t{2});
  const Tensor equal = d.Call("aten::eq.Tensor", b.saved(0), b.saved(1));
  return d.Call("aten::where.self", equal, half, b.grad());
}

// The share of fmax and fmin: `first` says where the first is chosen, numbers before what is none.
Tensor ShareOfNumbers(Dispatcher& d, const Backward& b, OpName first, bool negated) {
  const Tensor chosen = d.Call(first, b.saved(0), b.saved(1));
  const Tensor missing = d.Call("aten::isnan", b.saved(1));
  d.Call("aten::logical_or_", chosen, missing);
  if (negated) d.Call("aten::logical_not_", chosen);
  const Tensor share = HalfOfTies(d, b);
  return d.Call("aten::masked_fill_.Scalar", share, chosen, std::int64_t{0});
}

}  // namespace

Tensor ShareOfExtreme(Dispatcher& d, const Backward& b, int other, OpName lost) {
  const Tensor none = d.Call(lost, b.saved(0), b.saved(other));
  const Tensor half = d.Call("aten::div.Scalar", b.grad(), std::int64_t{2});
  const Tensor equal = d.Call("aten::eq.Tensor", b.saved(0), b.saved(other));
  const Tensor share = d.Call("aten::where.self", equal, half, b.grad());
  return d.Call("aten::masked_fill_.Scalar", share, none, std::int64_t{0});
}

Tensor WhereLess(Dispatcher& d, const Backward& b) {
  return ShareOfExtreme(d, b, 1, "aten::lt.Tensor");
}

Tensor WhereGreater(Dispatcher& d, const Backward& b) {
  return ShareOfExtreme(d, b, 1, "aten::gt.Tensor");
}

Tensor FmaxSelf(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::ge.Tensor", true);
}

Tensor FmaxOther(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::gt.Tensor", false);
}

Tensor FminSelf(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::le.Tensor", true);
}

Tensor FminOther(Dispatcher& d, const Backward& b) {
  return ShareOfNumbers(d, b, "aten::lt.Tensor", false);
}

}  // namespace steelyard::gradients
