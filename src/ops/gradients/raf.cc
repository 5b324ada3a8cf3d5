// SPDX-License-Identifier: Apache-2.0
//
// A product's gradients are products too, of the name that says which factor is transposed, so that
// none is in memory. A gradient is summed to the operand that was broadcast. RAF's rules reshape
// where nothing changes, and its simplifier leaves that in the program, so it stays here.

#include "ops/gradients/raf.h"

#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::gradients::raf {
namespace {

// `gradient` summed to these sizes, from which it was broadcast.
Tensor CollapseTo(Dispatcher& d, const Tensor& gradient, std::span<const std::int64_t> sizes) {
  const int leading = gradient.rank() - static_cast<int>(sizes.size());
  Dims axes;
  bool inner = false;
  for (int i = 0; i < gradient.rank(); ++i) {
    const bool one =
        i >= leading && sizes[static_cast<std::size_t>(i - leading)] == 1 && gradient.size(i) != 1;
    inner |= one;
    if (i < leading || one) axes.push_back(i);
  }
  if (axes.empty()) return gradient;
  const Tensor sum = d.Call("raf::sum", gradient, axes, inner);
  return inner && leading > 0 ? d.Call("raf::reshape", sum, Dims(sizes)) : sum;
}

// Of the argument at `place`, in its sizes.
Tensor Collapsed(Dispatcher& d, const Backward& b, int place, const Tensor& gradient) {
  return CollapseTo(d, gradient, Dims(b.op().tensor(place).sizes()));
}

// The products that give the gradients of both factors; an absent one where none is wanted.
struct Product {
  OpName op;
  Tensor first, second;
};
std::vector<Tensor> Products(Dispatcher& d, const Backward& b, const Product& a, const Product& c) {
  std::vector<Tensor> out(2);
  if (b.needs(0)) out[0] = d.Call(a.op, a.first, a.second);
  if (b.needs(1)) out[1] = d.Call(c.op, c.first, c.second);
  return out;
}

}  // namespace

std::vector<Tensor> Matmul(Dispatcher& d, const Backward& b) {
  return Products(d, b, {"raf::matmul_nt", b.grad(), b.saved(1)},
                  {"raf::matmul_tn", b.saved(0), b.grad()});
}
std::vector<Tensor> MatmulNt(Dispatcher& d, const Backward& b) {
  return Products(d, b, {"raf::matmul", b.grad(), b.saved(1)},
                  {"raf::matmul_tn", b.grad(), b.saved(0)});
}
std::vector<Tensor> MatmulTn(Dispatcher& d, const Backward& b) {
  return Products(d, b, {"raf::matmul_nt", b.saved(1), b.grad()},
                  {"raf::matmul", b.saved(0), b.grad()});
}
std::vector<Tensor> BatchMatmul(Dispatcher& d, const Backward& b) {
  return Products(d, b, {"raf::batch_matmul_nt", b.grad(), b.saved(1)},
                  {"raf::batch_matmul_tn", b.saved(0), b.grad()});
}
std::vector<Tensor> BatchMatmulNt(Dispatcher& d, const Backward& b) {
  return Products(d, b, {"raf::batch_matmul", b.grad(), b.saved(1)},
                  {"raf::batch_matmul_tn", b.grad(), b.saved(0)});
}
std::vector<Tensor> BatchMatmulTn(Dispatcher& d, const Backward& b) {
  return Products(d, b, {"raf::batch_matmul_nt", b.saved(1), b.grad()},
                  {"raf::batch_matmul", b.saved(0), b.grad()});
}

Tensor First(Dispatcher& d, const Backward& b) { return Collapsed(d, b, 0, b.grad()); }
Tensor Second(Dispatcher& d, const Backward& b) { return Collapsed(d, b, 1, b.grad()); }
Tensor Subtrahend(Dispatcher& d, const Backward& b) {
  return Collapsed(d, b, 1, d.Call("raf::negative", b.grad()));
}
Tensor FirstFactor(Dispatcher& d, const Backward& b) {
  return Collapsed(d, b, 0, d.Call("raf::multiply", b.grad(), b.saved(1)));
}
Tensor SecondFactor(Dispatcher& d, const Backward& b) {
  return Collapsed(d, b, 1, d.Call("raf::multiply", b.grad(), b.saved(0)));
}
Tensor Dividend(Dispatcher& d, const Backward& b) {
  return Collapsed(d, b, 0, d.Call("raf::divide", b.grad(), b.saved(1)));
}

// Of a biased tensor, too: RAF's rule reshapes the gradient to what it was, which its simplifier
// leaves in the program.
Tensor AsOperand(Dispatcher& d, const Backward& b) {
  return d.Call("raf::reshape", b.grad(), Dims(b.op().tensor(0).sizes()));
}
Tensor Bias(Dispatcher& d, const Backward& b) { return Collapsed(d, b, 1, b.grad()); }

Tensor Transpose(Dispatcher& d, const Backward& b) {
  return d.Call("raf::transpose_dx", b.grad(), b.op().ints(1));
}
Tensor Embedding(Dispatcher& d, const Backward& b) {
  return d.Call("raf::embedding_dx", b.grad(), b.saved(1), b.op().tensor(0).size(0));
}
Tensor Gelu(Dispatcher& d, const Backward& b) {
  return d.Call("raf::gelu_dx", b.saved(0), b.grad());
}
Tensor Softmax(Dispatcher& d, const Backward& b) {
  return d.Call("raf::softmax_dx", b.result(), b.grad(), b.op().integer(1));
}
Tensor LogSoftmax(Dispatcher& d, const Backward& b) {
  const Tensor sum = d.Call("raf::sum", b.grad(), Dims{b.op().integer(1)}, true);
  const Tensor exponent = d.Call("raf::exp", b.result());
  return d.Call("raf::subtract", b.grad(), d.Call("raf::multiply", exponent, sum));
}
std::vector<Tensor> LayerNorm(Dispatcher& d, const Backward& b) {
  return d.CallMany("raf::layer_norm_dx", b.saved(0), b.saved(1), b.grad());
}
Tensor NllLoss(Dispatcher& d, const Backward& b) {
  return d.Call("raf::nll_loss_dpred", b.grad(), b.saved(0), b.saved(1));
}

}  // namespace steelyard::gradients::raf
