// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/floating_point.h"

namespace steelyard::gradients {

// grad * (result / self), 0 at 0 (copysign_tensor_self_backward)
Tensor CopysignSelf(Dispatcher& d, const Backward& b) {
  const Tensor ratio = d.Call("aten::div.Tensor", b.result(), b.saved(0));
  {
    const Tensor zero = d.Call("aten::eq.Scalar", b.saved(0), std::int64_t{0});
    d.Call("aten::masked_fill_.Scalar", ratio, zero, std::int64_t{0});
  }
  return Times(d, b.grad(), ratio);
}

// What is next to a number moves with it.
Tensor NextSelf(Dispatcher& d, const Backward& b) {
  const Tensor differs = d.Call("aten::ne.Tensor", b.saved(0), b.saved(1));
  return d.Call("aten::where.ScalarOther", differs, b.grad(), std::int64_t{0});
}

Tensor WhereFinite(Dispatcher& d, const Backward& b) {
  return Times(d, b.grad(), d.Call("aten::isfinite", b.saved(0)));
}

}  // namespace steelyard::gradients
