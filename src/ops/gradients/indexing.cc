// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/indexing.h"

#include "ops/backward.h"
#include "ops/dispatcher.h"

namespace steelyard::gradients {
namespace {

Dims SelfSizes(const Backward& b) { return Dims(b.op().self().sizes()); }

// Zeros in which the values that were chosen along `dim` have the gradient
// (value_selecting_reduction_backward).
Tensor Scattered(Dispatcher& d, const Backward& b, const Tensor& grad, const Tensor& indices,
                 int dim) {
  const Tensor zeros = d.Call("aten::zeros", SelfSizes(b), grad.dtype());
  return d.Call("aten::scatter_.src", zeros, dim, indices, grad);
}

}  // namespace

// topk(self, k, dim), sort(self, dim): the dimension stays.
Tensor SelectedValues(Dispatcher& d, const Backward& b) {
  const int at = b.op().def().signature->IndexOf("dim");
  return Scattered(d, b, b.grad(), b.result(1), b.op().dim(at, b.op().self().rank()));
}

// max.dim(self, dim, keepdim)
Tensor SelectedOfDim(Dispatcher& d, const Backward& b) {
  const int rank = b.op().self().rank();
  const int dim = b.op().dim(1, rank);
  if (b.op().boolean(2) || rank == 0) return Scattered(d, b, b.grad(), b.result(1), dim);
  const Tensor grad = d.Call("aten::unsqueeze", b.grad(), dim);
  return Scattered(d, b, grad, d.Call("aten::unsqueeze", b.result(1), dim), dim);
}

// self, dim, index
Tensor IndexSelectSelf(Dispatcher& d, const Backward& b) {
  const Tensor zeros = d.Call("aten::new_zeros", b.grad(), SelfSizes(b));
  return d.Call("aten::index_add_", zeros, b.op().arg(1), b.saved(2), b.grad());
}

// self, dim, index, sparse_grad
Tensor GatherSelf(Dispatcher& d, const Backward& b) {
  if (b.op().boolean(3)) Refuse("sparse gradients are not modelled");
  const Tensor zeros = d.Call("aten::new_zeros", b.grad(), SelfSizes(b));
  return d.Call("aten::scatter_add_", zeros, b.op().arg(1), b.saved(2), b.grad());
}

// self, indices
Tensor IndexSelf(Dispatcher& d, const Backward& b) {
  const Tensor zeros = d.Call("aten::new_zeros", b.grad(), SelfSizes(b));
  return d.Call("aten::index_put_", zeros, b.saved_list(1), b.grad(), true);
}

// self, mask
Tensor MaskedSelectSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::masked_select_backward", b.grad(), b.saved(0), b.saved(1));
}

// self, mask, value
Tensor MaskedFillSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::masked_fill.Scalar", b.grad(), b.saved(1), std::int64_t{0});
}
Tensor MaskedFillValue(Dispatcher& d, const Backward& b) {
  const Tensor chosen = d.Call("aten::masked_select", b.grad(), b.saved(1));
  return d.Call("aten::sum", chosen);
}

// self, mask, source
Tensor MaskedScatterSource(Dispatcher& d, const Backward& b) {
  return d.Call("aten::masked_scatter_backward", b.grad(), b.saved(1),
                Dims(b.op().tensor(2).sizes()));
}

// self, indices, values, accumulate
Tensor IndexPutSelf(Dispatcher& d, const Backward& b) {
  if (b.op().boolean(3)) return b.grad();
  const TensorView values = b.op().tensor(2);
  const Tensor zeros = d.Call("aten::zeros", Dims(values.sizes()), values.dtype());
  return d.Call("aten::index_put", b.grad(), b.saved_list(1), zeros, false);
}
Tensor IndexPutValues(Dispatcher& d, const Backward& b) {
  return d.Call("aten::index.Tensor", b.grad(), b.saved_list(1));
}

// self, dim, index, src
Tensor ScatterSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::scatter.value", b.grad(), b.op().arg(1), b.saved(2), std::int64_t{0});
}
Tensor ScatterSource(Dispatcher& d, const Backward& b) {
  return d.Call("aten::gather", b.grad(), b.op().arg(1), b.saved(2));
}

// self, dim, index, source, alpha
Tensor IndexAddSource(Dispatcher& d, const Backward& b) {
  const double alpha = b.op().real(4, 1.0);
  if (b.saved(3).rank() == 0) {
    const Tensor index = d.Call("aten::squeeze.dim", b.saved(2), 0);
    return MaybeMultiply(d, d.Call("aten::index_select", b.grad(), b.op().arg(1), index), alpha);
  }
  const Tensor rows = d.Call("aten::index_select", b.grad(), b.op().arg(1), b.saved(2));
  return MaybeMultiply(d, d.Call("aten::expand_as", rows, b.saved(3)), alpha);
}

Tensor TrilSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::tril", b.grad(), b.op().arg(1));
}
Tensor TriuSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::triu", b.grad(), b.op().arg(1));
}

}  // namespace steelyard::gradients
