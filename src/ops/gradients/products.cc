// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/products.h"

#include <cstddef>
#include <vector>

#include "ops/gradients/words.h"

namespace steelyard::gradients {

// self, other: the first of them was conjugated
Tensor VdotFirst(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", Conjugate(d, b.grad()), b.saved(1));
}
Tensor VdotSecond(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mul.Tensor", b.grad(), b.saved(0));
}

// self, vec1, vec2, beta, alpha
Tensor AddrSelf(Dispatcher& d, const Backward& b) {
  return MaybeMultiply(d, b.grad(), Factor(d, b, 3));
}
Tensor AddrFirst(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mv", b.grad(), Conjugate(d, b.saved(2)));
  return MaybeMultiply(d, product, Factor(d, b, 4));
}
Tensor AddrSecond(Dispatcher& d, const Backward& b) {
  const Tensor product = d.Call("aten::mv", d.Call("aten::t", b.grad()), Conjugate(d, b.saved(1)));
  return MaybeMultiply(d, product, Factor(d, b, 4));
}

// i1, i2, i3, expand1, expand2, expand3, sumdim: the gradient takes the place of the factor that is
// differentiated, and lacks what was summed
std::vector<Tensor> Trilinear(Dispatcher& d, const Backward& b) {
  constexpr int kFactors = 3, kSummed = 6;
  std::vector<Tensor> out(kFactors);
  for (int wanted = 0; wanted < kFactors; ++wanted) {
    if (!b.needs(wanted)) continue;
    const auto factor = [&](int i) { return i == wanted ? b.grad() : Conjugate(d, b.saved(i)); };
    const auto expanded = [&](int i) { return b.op().arg(i == wanted ? kSummed : kFactors + i); };
    out[static_cast<std::size_t>(wanted)] =
        d.Call("aten::_trilinear", factor(0), factor(1), factor(2), expanded(0), expanded(1),
               expanded(2), b.op().arg(kFactors + wanted));
  }
  return out;
}

}  // namespace steelyard::gradients
