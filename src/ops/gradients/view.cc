// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/view.h"

namespace steelyard::gradients {
namespace {

Dims SelfSizes(const Backward& b) { return Dims(b.op().self().sizes()); }

}  // namespace

Tensor TransposeSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::transpose.int", b.grad(), b.op().arg(1), b.op().arg(2));
}

Tensor TSelf(Dispatcher& d, const Backward& b) { return d.Call("aten::t", b.grad()); }

Tensor NumpyTSelf(Dispatcher& d, const Backward& b) { return d.Call("aten::numpy_T", b.grad()); }

Tensor MTSelf(Dispatcher& d, const Backward& b) { return d.Call("aten::mT", b.grad()); }

Tensor PermuteSelf(Dispatcher& d, const Backward& b) {
  const Dims dims = b.op().ints(1);
  Dims back = dims;
  for (int i = 0; i < dims.size(); ++i) {
    const std::int64_t from = dims[i] < 0 ? dims[i] + dims.size() : dims[i];
    back[static_cast<int>(from)] = i;
  }
  return d.Call("aten::permute", b.grad(), back);
}

Tensor ExpandSelf(Dispatcher& d, const Backward& b) { return SumTo(d, b.grad(), SelfSizes(b)); }

Tensor SliceSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::slice_backward", b.grad(), SelfSizes(b), op.arg(1), op.integer(2, 0),
                op.integer(3, op.self().size(op.dim(1, op.self().rank()))), op.arg(4));
}

Tensor SelectSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::select_backward", b.grad(), SelfSizes(b), b.op().arg(1), b.op().arg(2));
}

Tensor UnsqueezeSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::squeeze.dim", b.grad(), b.op().arg(1));
}

// Puts the dimensions of size 1 back, one by one (unsqueeze_to).
Tensor SqueezeSelf(Dispatcher& d, const Backward& b) {
  const TensorView self = b.op().self();
  if (b.grad().rank() == self.rank()) return b.grad();
  shape::DimSet asked = ~shape::DimSet{0};
  if (b.op().arg_count() > 1) asked = shape::DimsOf(b.op(), 1, self.rank());
  Tensor whole = b.grad();
  for (int i = 0; i < self.rank(); ++i) {
    if (self.size(i) == 1 && shape::Has(asked, i)) whole = d.Call("aten::unsqueeze", whole, i);
  }
  return whole;
}

// self, sizes, dim: parts without a gradient are zeros.
Tensor SplitSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const int dim = op.dim(2, op.self().rank());
  std::vector<Tensor> parts;
  for (int i = 0; i < op.output_count(); ++i) {
    if (b.grad(i).defined()) {
      parts.push_back(b.grad(i));
    } else {
      parts.push_back(d.Call("aten::zeros", Dims(op.output(i).sizes()), op.self().dtype()));
    }
  }
  return d.Call("aten::cat", parts, dim);
}

// self, dim: parts without a gradient are a zero that is expanded.
Tensor UnbindSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  std::vector<Tensor> parts;
  for (int i = 0; i < op.output_count(); ++i) {
    if (b.grad(i).defined()) {
      parts.push_back(b.grad(i));
      continue;
    }
    const Tensor zero = d.Call("aten::zeros", Dims(), op.self().dtype());
    parts.push_back(d.Call("aten::expand", zero, Dims(op.output(i).sizes())));
  }
  return d.Call("aten::stack", parts, op.arg(1));
}

Tensor ToCopySelf(Dispatcher& d, const Backward& b) {
  const DType dtype = b.op().self().dtype();
  return b.grad().dtype() == dtype ? b.grad() : d.Call("aten::_to_copy", b.grad(), dtype);
}

// Views of the gradient; an empty vector among the parts had no place in it.
std::vector<Tensor> CatParts(Dispatcher& d, const Backward& b) {
  std::vector<Tensor> out;
  std::int64_t begin = 0;
  for (const TensorView& part : b.op().tensors(0)) {
    if (part.rank() == 1 && part.count() == 0) {
      out.push_back(d.Call("aten::zeros", Dims{0}, part.dtype()));
      continue;
    }
    const int dim = b.op().dim(1, b.grad().rank());
    const std::int64_t size = part.size(dim);
    Tensor own = d.Call("aten::slice.Tensor", b.grad(), dim, begin, begin + size);
    begin += size;
    if (own.dtype() != part.dtype()) own = d.Call("aten::_to_copy", own, part.dtype());
    out.push_back(std::move(own));
  }
  return out;
}

std::vector<Tensor> StackParts(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::unbind.int", b.grad(), b.op().arg(1));
}

}  // namespace steelyard::gradients
