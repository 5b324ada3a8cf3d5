// SPDX-License-Identifier: Apache-2.0
//
// A view's gradient is the opposite view, with zeros where the view did not look. For strides of
// any kind it is written into a storage as long as base and view reach, added up where elements of
// the view share a place, divided where those of the base do (FunctionsManual.cpp,
// as_strided_backward).

#include "ops/gradients/view.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace steelyard::gradients {
namespace {

Tensor ZerosLikeSource(Dispatcher& d, const Backward& b) {
  const TensorView source = b.op().tensor(1);
  return d.Call("aten::zeros", Dims(source.sizes()), source.dtype());
}

Dims SelfSizes(const Backward& b) { return Dims(b.op().self().sizes()); }

// How elements lie in a storage; dimensions of size 1 do not matter.
class Places {
 public:
  void Add(std::int64_t size, std::int64_t stride) {
    if (size == 1) return;
    last_ += (size - 1) * stride;
    steps_.emplace_back(stride, size);
  }
  std::int64_t last() const { return last_; }
  Dims Sizes() const {
    Dims out;
    for (const auto& [stride, size] : steps_) out.push_back(size);
    return out;
  }
  Dims Strides() const {
    Dims out;
    for (const auto& [stride, size] : steps_) out.push_back(stride);
    return out;
  }
  // Whether two elements may share a place: some stride does not leap over all that is inside.
  bool Overlap() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> sorted = steps_;
    std::ranges::sort(sorted);
    std::int64_t inside = 0;
    for (const auto& [stride, size] : sorted) {
      if (stride <= inside) return true;
      inside += stride * (size - 1);
    }
    return false;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> steps_;  // stride and size, outermost first
  std::int64_t last_ = 0;
};

// What several elements of the base share is divided among them.
void DivideByUses(Dispatcher& d, const Tensor& storage, const Tensor& places, const Places& base,
                  std::int64_t from, DType dtype) {
  const Tensor count = RowMajorZeros(d, storage);
  const Tensor chosen = d.Call("aten::as_strided", places, base.Sizes(), base.Strides(), from);
  const Tensor index = d.Call("aten::reshape", chosen, Dims{-1});
  {
    const Tensor one = d.Call("aten::ones", Dims{1}, dtype);
    const Tensor ones = d.Call("aten::expand_as", one, index);
    d.Call("aten::index_add_", count, 0, index, ones);
  }
  d.Call("aten::div_.Tensor", storage, count);
}

}  // namespace

Tensor TransposeSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::transpose.int", b.grad(), b.op().arg(1), b.op().arg(2));
}

Tensor TSelf(Dispatcher& d, const Backward& b) { return d.Call("aten::t", b.grad()); }

Tensor NumpyTSelf(Dispatcher& d, const Backward& b) { return d.Call("aten::numpy_T", b.grad()); }

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

// self, dim, start, length
Tensor NarrowSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const int dim = op.dim(1, op.self().rank());
  const std::int64_t given = op.integer(2);
  const std::int64_t start = given < 0 ? given + op.self().size(dim) : given;
  return d.Call("aten::slice_backward", b.grad(), SelfSizes(b), dim, start, start + op.integer(3),
                std::int64_t{1});
}

// self, offset, dim1, dim2
Tensor DiagonalSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::diagonal_backward", b.grad(), SelfSizes(b), b.op().arg(1), b.op().arg(2),
                b.op().arg(3));
}

Tensor StridedBackward(Dispatcher& d, Tensor gradient, const TensorView& base, const Dims& sizes,
                       const Dims& strides, std::int64_t offset) {
  const Dims base_sizes(base.sizes()), base_strides(base.strides());
  if (base.count() == 0 || gradient.count() == 0) {
    return d.Call("aten::zeros", base_sizes, gradient.dtype());
  }
  Places seen, made;
  for (int i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) {
      gradient = d.Call("aten::squeeze.dim", gradient, i);
    } else if (strides[i] == 0) {
      gradient = d.Call("aten::sum.dim_IntList", gradient, Dims{i}, false);
    }
  }
  for (int i = 0; i < sizes.size(); ++i) {
    if (strides[i] != 0) seen.Add(sizes[i], strides[i]);
  }
  for (int i = 0; i < base_sizes.size(); ++i) made.Add(base_sizes[i], base_strides[i]);
  // Both begin in the same storage, the base behind the part where the offset is negative.
  const std::int64_t base_from = std::max<std::int64_t>(-offset, 0);
  const std::int64_t part_from = std::max<std::int64_t>(offset, 0);
  const std::int64_t elements = std::max(base_from + made.last(), part_from + seen.last()) + 1;
  const Tensor storage = d.Call("aten::new_zeros", gradient, Dims{elements});
  Tensor places;
  if (seen.Overlap() || made.Overlap()) {
    places = d.Call("aten::arange", elements, DType::kInt64);
  }
  if (seen.Overlap()) {
    const Tensor values = d.Call("aten::reshape", gradient, Dims{-1});
    const Tensor chosen =
        d.Call("aten::as_strided", places, seen.Sizes(), seen.Strides(), part_from);
    const Tensor index = d.Call("aten::reshape", chosen, Dims{-1});
    d.Call("aten::index_add_", storage, 0, index, values);
  } else {
    const Tensor part =
        d.Call("aten::as_strided", storage, seen.Sizes(), seen.Strides(), part_from);
    d.Call("aten::copy_", part, gradient);
  }
  if (made.Overlap()) DivideByUses(d, storage, places, made, base_from, gradient.dtype());
  return d.Call("aten::as_strided", storage, base_sizes, base_strides, base_from);
}

// self, size, stride, storage_offset
Tensor AsStridedSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const std::int64_t width = std::max(BitsOf(op.self().dtype()) / 8, 1);
  const std::int64_t own = d.PlaceOf(op.self().id()) / width;
  const std::int64_t offset = op.given(3) ? op.integer(3) - own : 0;
  return StridedBackward(d, b.grad(), op.self(), op.ints(1), op.ints(2), offset);
}

// self, src
Tensor CopySelf(Dispatcher& d, const Backward& b) { return RowMajorZeros(d, b.grad()); }
Tensor CopySource(Dispatcher& d, const Backward& b) {
  const DType dtype = b.op().tensor(1).dtype();
  return d.Call("aten::to.dtype", AsReal(d, dtype, b.grad()), dtype);
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

// self, dimension, size, step
Tensor UnfoldSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::unfold_backward", b.grad(), SelfSizes(b), b.op().arg(1), b.op().arg(2),
                b.op().arg(3));
}

// self, src, where: zeros are written where the source was, and read there.
Tensor SelectScatterSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::select_scatter", b.grad(), ZerosLikeSource(d, b), b.op().arg(2),
                b.op().arg(3));
}
Tensor SelectScatterSource(Dispatcher& d, const Backward& b) {
  return d.Call("aten::select.int", b.grad(), b.op().arg(2), b.op().arg(3));
}
Tensor SliceScatterSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::slice_scatter", b.grad(), ZerosLikeSource(d, b), op.arg(2), op.arg(3),
                op.arg(4), op.arg(5));
}
Tensor SliceScatterSource(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::slice.Tensor", b.grad(), op.arg(2), op.arg(3), op.arg(4), op.arg(5));
}
Tensor DiagonalScatterSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::diagonal_scatter", b.grad(), ZerosLikeSource(d, b), op.arg(2), op.arg(3),
                op.arg(4));
}
Tensor DiagonalScatterSource(Dispatcher& d, const Backward& b) {
  return d.Call("aten::diagonal", b.grad(), b.op().arg(2), b.op().arg(3), b.op().arg(4));
}

// self, src, size, stride, storage_offset: only what was not written comes from the operand, yet
// PyTorch gives it the gradient of what was.
Tensor StridedScatterSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  const Tensor slice = d.Call("aten::as_strided", grad, op.arg(2), op.arg(3), op.arg(4));
  const TensorView self = op.self();
  const std::int64_t elements = self.storage_bytes() / (BitsOf(self.dtype()) / 8);
  const Tensor storage = d.Call("aten::new_zeros", grad, Dims{elements});
  const Tensor out = d.Call("aten::as_strided", storage, Dims(self.sizes()), Dims(self.strides()));
  const Tensor place = d.Call("aten::as_strided", out, op.arg(2), op.arg(3), op.arg(4));
  d.Call("aten::copy_", place, slice);
  return out;
}
Tensor StridedScatterSource(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  return d.Call("aten::as_strided", grad, op.arg(2), op.arg(3), op.arg(4));
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
  const Tensor grad = AsReal(d, dtype, b.grad());
  return grad.dtype() == dtype ? grad : d.Call("aten::_to_copy", grad, dtype);
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
    const Tensor whole = AsReal(d, part.dtype(), b.grad());
    out.push_back(d.Call("aten::slice.Tensor", whole, dim, begin, begin + size));
    begin += size;
  }
  return out;
}

// A vector is a block of one row, a number one of one element.
std::vector<Tensor> Blocks(Dispatcher& d, const Backward& b) {
  std::vector<Tensor> out;
  std::int64_t row = 0, column = 0;
  for (const TensorView& part : b.op().tensors(0)) {
    if (part.rank() == 1 && part.count() == 0) {
      out.push_back(d.Call("aten::zeros", Dims{0}, part.dtype()));
      continue;
    }
    const std::int64_t rows = part.rank() == 2 ? part.size(0) : 1;
    const std::int64_t columns = part.rank() == 0 ? 1 : part.size(-1);
    const Tensor whole = AsReal(d, part.dtype(), b.grad());
    const Tensor band = d.Call("aten::slice.Tensor", whole, 0, row, row + rows);
    Tensor block = d.Call("aten::slice.Tensor", band, 1, column, column + columns);
    for (int i = part.rank(); i < 2; ++i) block = d.Call("aten::squeeze.dim", block, -1);
    out.push_back(std::move(block));
    row += rows;
    column += columns;
  }
  return out;
}

std::vector<Tensor> StackParts(Dispatcher& d, const Backward& b) {
  std::vector<Tensor> out = d.CallMany("aten::unbind.int", b.grad(), b.op().arg(1));
  const std::vector<TensorView> parts = b.op().tensors(0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = AsReal(d, parts[i].dtype(), std::move(out[i]));
  }
  return out;
}

}  // namespace steelyard::gradients
