// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/distance.h"

#include "ops/gradients/reduction.h"

namespace steelyard::gradients {

// self, other, p: as of the norm of the difference, which is computed again.
Tensor DistanceOfFirst(Dispatcher& d, const Backward& b) {
  const Tensor difference = d.Call("aten::sub.Tensor", b.saved(0), b.saved(1));
  return NormBackward(d, difference, b.grad(), b.result(), b.op().real(2, 2.0), Dims());
}
Tensor DistanceOfSecond(Dispatcher& d, const Backward& b) {
  const Tensor difference = d.Call("aten::sub.Tensor", b.saved(0), b.saved(1));
  const Tensor first =
      NormBackward(d, difference, b.grad(), b.result(), b.op().real(2, 2.0), Dims());
  return d.Call("aten::neg", first);
}

// x1, x2: with the ratio of the gradient and the distance, the vectors times its sums less its
// products with the other vectors (_euclidean_dist_backward).
std::vector<Tensor> EuclideanDistances(Dispatcher& d, const Backward& b) {
  const Tensor x1 = b.saved(0), x2 = b.saved(1);
  const Tensor ratio = d.Call("aten::div.Tensor", b.grad(), b.result());
  {
    const Tensor zero = d.Call("aten::eq.Scalar", b.result(), std::int64_t{0});
    d.Call("aten::masked_fill_.Scalar", ratio, zero, std::int64_t{0});
  }
  std::vector<Tensor> out(2);
  const Tensor others = d.Call("aten::matmul", ratio, x2);
  const Tensor sum = d.Call("aten::sum.dim_IntList", ratio, Dims{-1}, true);
  const Tensor own = d.Call("aten::mul.Tensor", x1, sum);
  out[0] = d.Call("aten::sub.Tensor", own, others);
  const Tensor turned_others = d.Call("aten::matmul", d.Call("aten::mT", ratio), x1);
  const Tensor turned_sum = d.Call("aten::sum.dim_IntList", ratio, Dims{-2}, false);
  const Tensor turned_own =
      d.Call("aten::mul.Tensor", x2, d.Call("aten::unsqueeze", turned_sum, -1));
  out[1] = d.Call("aten::sub.Tensor", turned_own, turned_others);
  return out;
}

// x1, x2, p, compute_mode
Tensor DistancesOfFirst(Dispatcher& d, const Backward& b) {
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  return d.Call("aten::_cdist_backward", grad, b.saved(0), b.saved(1), b.op().arg(2), b.result());
}
Tensor DistancesOfSecond(Dispatcher& d, const Backward& b) {
  const Tensor result = d.Call("aten::contiguous", d.Call("aten::mT", b.result()));
  const Tensor grad = d.Call("aten::contiguous", d.Call("aten::mT", b.grad()));
  return d.Call("aten::_cdist_backward", grad, b.saved(1), b.saved(0), b.op().arg(2), result);
}

// self, p
Tensor PairDistances(Dispatcher& d, const Backward& b) {
  return d.Call("aten::_pdist_backward", b.grad(), b.saved(0), b.op().arg(1), b.result());
}

}  // namespace steelyard::gradients
