// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp: temporaries live as long as in C++, and are
// made in the order in which it evaluates operands, since the peak of a backward pass is made of
// them. A bound that is a tensor shares the gradient of an element that is equal to it.

#include "ops/gradients/clamp.h"

#include <utility>

namespace steelyard::gradients {
namespace {

Tensor And(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::logical_and", a, b);
}

Tensor Or(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::logical_or", a, b);
}

// Half the gradient where `tie` holds, and none where `none` does.
Tensor Shared(Dispatcher& d, const Tensor& grad, const Tensor& half, const Tensor& tie,
              const Tensor& none) {
  const Tensor share = d.Call("aten::where.self", tie, half, grad);
  return d.Call("aten::masked_fill_.Scalar", share, none, std::int64_t{0});
}

Tensor Half(Dispatcher& d, const Tensor& grad) {
  return d.Call("aten::div.Scalar", grad, std::int64_t{2});
}

// The smaller bound has what is below it, and the larger what is above, unless they are crossed:
// then all is the larger's.
Tensor OfLowerBound(Dispatcher& d, const Backward& b, const Tensor& proper, const Tensor& equal) {
  const Tensor self = b.saved(0), min = b.saved(1);
  Tensor chosen;
  {
    const Tensor reached = d.Call("aten::le.Tensor", self, min);
    const Tensor when_proper = And(d, reached, proper);
    const Tensor below = d.Call("aten::lt.Tensor", self, min);
    const Tensor when_equal = And(d, below, equal);
    chosen = Or(d, when_equal, when_proper);
  }
  const Tensor none = d.Call("aten::logical_not", chosen);
  const Tensor half = Half(d, b.grad());
  return Shared(d, b.grad(), half, d.Call("aten::eq.Tensor", self, min), none);
}

Tensor OfUpperBound(Dispatcher& d, const Backward& b, const Tensor& proper, const Tensor& equal) {
  const Tensor self = b.saved(0), min = b.saved(1), max = b.saved(2);
  const Tensor crossed = d.Call("aten::lt.Tensor", max, min);
  Tensor chosen;
  {
    const Tensor reached = d.Call("aten::ge.Tensor", self, max);
    const Tensor when_proper = And(d, reached, proper);
    const Tensor rest = Or(d, when_proper, crossed);
    const Tensor above = d.Call("aten::gt.Tensor", self, max);
    const Tensor when_equal = And(d, above, equal);
    chosen = Or(d, when_equal, rest);
  }
  const Tensor none = d.Call("aten::logical_not", chosen);
  const Tensor half = Half(d, b.grad());
  const Tensor touching = d.Call("aten::eq.Tensor", self, max);
  return Shared(d, b.grad(), half, And(d, touching, proper), none);
}

}  // namespace

// self, min, max: the gradient where neither is exceeded
Tensor Clamp(Dispatcher& d, const Backward& b) {
  const Argument minimum = b.op().arg(1), maximum = b.op().arg(2);
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  Tensor inside, below;
  if (b.op().given(1)) inside = d.Call("aten::gt.Scalar", b.saved(0), minimum);
  if (b.op().given(2)) below = d.Call("aten::lt.Scalar", b.saved(0), maximum);
  if (inside.defined() && below.defined()) inside = d.Call("aten::logical_and_", inside, below);
  if (!inside.defined()) inside = std::move(below);
  return d.Call("aten::where.self", inside, b.grad(), zero);
}

Tensor ClampMin(Dispatcher& d, const Backward& b) {
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor inside = d.Call("aten::gt.Scalar", b.saved(0), b.op().arg(1));
  return d.Call("aten::where.self", inside, b.grad(), zero);
}

Tensor ClampMax(Dispatcher& d, const Backward& b) {
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, b.grad().dtype());
  const Tensor inside = d.Call("aten::lt.Scalar", b.saved(0), b.op().arg(1));
  return d.Call("aten::where.self", inside, b.grad(), zero);
}

std::vector<Tensor> ClampBounds(Dispatcher& d, const Backward& b) {
  const Tensor min = b.saved(1), max = b.saved(2);
  if (!max.defined()) return {ShareOfExtreme(d, b, 1, "aten::gt.Tensor"), {}};
  if (!min.defined()) return {{}, ShareOfExtreme(d, b, 2, "aten::lt.Tensor")};
  const Tensor proper = d.Call("aten::lt.Tensor", min, max);
  const Tensor equal = d.Call("aten::eq.Tensor", min, max);
  std::vector<Tensor> out(2);
  if (b.needs(1)) out[0] = OfLowerBound(d, b, proper, equal);
  if (b.needs(2)) out[1] = OfUpperBound(d, b, proper, equal);
  return out;
}

Tensor ClampByTensors(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(0), min = b.saved(1), max = b.saved(2);
  if (!max.defined()) return ShareOfExtreme(d, b, 1, "aten::lt.Tensor");
  if (!min.defined()) return ShareOfExtreme(d, b, 2, "aten::gt.Tensor");
  const Tensor proper = d.Call("aten::lt.Tensor", min, max);
  Tensor tie, outside;
  {
    const Tensor at_max = d.Call("aten::eq.Tensor", self, max);
    const Tensor at_min = d.Call("aten::eq.Tensor", self, min);
    const Tensor at_one = Or(d, at_min, at_max);
    tie = And(d, at_one, proper);
  }
  {
    const Tensor below = d.Call("aten::lt.Tensor", self, min);
    const Tensor above = d.Call("aten::gt.Tensor", self, max);
    outside = Or(d, below, above);
  }
  return Shared(d, b.grad(), Half(d, b.grad()), tie, outside);
}

}  // namespace steelyard::gradients
