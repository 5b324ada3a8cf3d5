// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/image_backward.h"

#include <vector>

#include "ops/gradients/expression.h"

namespace steelyard::gradients {

// max_pool_double_backward
Tensor AtMaxima(Dispatcher& d, const Backward& b, int indices, int spatial) {
  const Tensor places = b.saved(indices);
  if (places.count() == 0) return d.Call("aten::empty_like", places, b.grad().dtype());
  Dims flat;
  for (int i = 0; i < places.rank() - spatial; ++i) flat.push_back(places.size(i));
  flat.push_back(-1);
  const Tensor view = d.Call("aten::view", places, flat);
  const Expression chosen =
      Method("aten::gather", Method("aten::reshape", b.grad(), flat), -1, view);
  return Method("aten::view", chosen, Dims(places.sizes())).Value(d);
}

Tensor Forward(Dispatcher& d, const Backward& b, OpName op, int first) {
  std::vector<Argument> args{Argument::OfValue(b.grad().id())};
  for (int i = first; i < b.op().arg_count(); ++i) args.push_back(b.op().arg(i));
  return d.CallWith(op, args)[0];
}

Tensor UpsampleAgain(Dispatcher& d, const Backward& b, OpName op) {
  constexpr int kInputSize = 2;
  std::vector<Argument> args{Argument::OfValue(b.grad().id())};
  for (int i = 1; i < b.op().arg_count(); ++i) {
    if (i != kInputSize) args.push_back(b.op().arg(i));
  }
  return d.CallWith(op, args)[0];
}

Tensor AdaptivePoolAgain(Dispatcher& d, const Backward& b, OpName op, int spatial) {
  const TensorView pooled = b.op().self();
  Dims sizes;
  for (int i = -spatial; i < 0; ++i) sizes.push_back(pooled.size(i));
  return d.Call(op, b.grad(), sizes);
}

// grad_output, indices, num_weights, padding_idx, scale_grad_by_freq
Tensor EmbeddingAgain(Dispatcher& d, const Backward& b) {
  const Tensor indices = b.saved(1);
  const Tensor rows =
      Method("aten::index_select", b.grad(), 0, Method("aten::reshape", indices, Dims{-1}))
          .Value(d);
  Dims sizes(indices.sizes());
  sizes.push_back(-1);
  if (const std::int64_t padding = b.op().integer(3); padding >= 0) {
    const Expression padded =
        Method("aten::reshape", Method("aten::eq.Scalar", indices, padding), Dims{-1, 1});
    Method("aten::masked_fill_.Scalar", rows, padded, std::int64_t{0}).Value(d);
  }
  return d.Call("aten::view", rows, sizes);
}

// grad_output, mask, sizes
Tensor MaskedScatterAgain(Dispatcher& d, const Backward& b) {
  const TensorView whole = b.op().self();
  return Method("aten::masked_scatter", Function("aten::zeros", Dims(whole.sizes()), whole.dtype()),
                b.saved(1), b.grad())
      .Value(d);
}

}  // namespace steelyard::gradients
