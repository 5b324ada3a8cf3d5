// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/reduction.h"

#include "ops/gradients/words.h"

namespace steelyard::gradients {
namespace {

// How many elements one result is made from.
std::int64_t Reduced(const OpView& op, int dims) {
  const shape::DimSet set = shape::DimsOf(op, dims, op.self().rank());
  return shape::Fan(op.self().sizes(), set).value();
}

}  // namespace

Tensor SumSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::expand", b.grad(), Dims(b.op().self().sizes()));
}

// self, dim, keepdim
Tensor SumDimSelf(Dispatcher& d, const Backward& b) {
  return Unreduce(d, b.grad(), b.op(), 1, b.op().boolean(2));
}

Tensor MeanSelf(Dispatcher& d, const Backward& b) {
  const Tensor whole = d.Call("aten::expand", b.grad(), Dims(b.op().self().sizes()));
  return d.Call("aten::div.Scalar", whole, b.op().self().count());
}

Tensor MeanDimSelf(Dispatcher& d, const Backward& b) {
  const Tensor whole = Unreduce(d, b.grad(), b.op(), 1, b.op().boolean(2));
  return d.Call("aten::div.Scalar", whole, Reduced(b.op(), 1));
}

// self, dim
Tensor SoftmaxSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::_softmax_backward_data", b.grad(), b.result(), b.op().arg(1),
                b.op().self().dtype());
}

Tensor LogSoftmaxSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::_log_softmax_backward_data", b.grad(), b.result(), b.op().arg(1),
                b.op().self().dtype());
}

}  // namespace steelyard::gradients
