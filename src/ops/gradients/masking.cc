// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/masking.h"

namespace steelyard::gradients {

// condition, self, other
Tensor WhereSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::where.ScalarOther", b.saved(0), b.grad(), std::int64_t{0});
}

Tensor WhereOther(Dispatcher& d, const Backward& b) {
  return d.Call("aten::where.ScalarSelf", b.saved(0), std::int64_t{0}, b.grad());
}

// self, mask, value
Tensor MaskedFillSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::masked_fill.Scalar", b.grad(), b.saved(1), std::int64_t{0});
}

Tensor MaskedFillValue(Dispatcher& d, const Backward& b) {
  const Tensor chosen = d.Call("aten::masked_select", b.grad(), b.saved(1));
  return d.Call("aten::sum", chosen);
}

}  // namespace steelyard::gradients
