// SPDX-License-Identifier: Apache-2.0
//
// What was chosen gets its gradient in zeros of the operand's size, added up where it may have been
// chosen twice; what was written to reads it there. Reductions by an index share it: a mean by
// counts, an extreme among its equals, a product without the factor, computed anew where that is
// zero (FunctionsManual.cpp, scatter_reduce_backward and index_reduce_backward).

#include "ops/gradients/indexing.h"

#include <utility>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/sparse.h"
#include "ops/indices.h"

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

// max.dim(self, dim, keepdim), kthvalue(self, k, dim, keepdim)
Tensor SelectedOfDim(Dispatcher& d, const Backward& b) {
  const int rank = b.op().self().rank();
  const int at = b.op().def().signature->IndexOf("dim");
  const int dim = b.op().dim(at, rank);
  if (b.op().boolean(at + 1) || rank == 0) return Scattered(d, b, b.grad(), b.result(1), dim);
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
  if (b.op().boolean(3)) {
    return SparseElements(d, b.grad(), SelfSizes(b), b.op().dim(1, b.op().self().rank()),
                          b.saved(2));
  }
  const Tensor zeros = d.Call("aten::new_zeros", b.grad(), SelfSizes(b));
  return d.Call("aten::scatter_add_", zeros, b.op().arg(1), b.saved(2), b.grad());
}

// self, indices
Tensor IndexSelf(Dispatcher& d, const Backward& b) {
  const Tensor zeros = d.Call("aten::new_zeros", b.grad(), SelfSizes(b));
  return d.Call("aten::_index_put_impl_", zeros, b.saved_list(1), b.grad(), true, true);
}

// self, mask
Tensor MaskedSelectSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::masked_select_backward", b.grad(), b.saved(0), b.saved(1));
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
  const Dispatcher::WithSize chosen(d, ops::ChosenByValues(b.op()));
  return d.Call("aten::index.Tensor", b.grad(), b.saved_list(1));
}

// The same of operators that nobody checks.
Tensor UnsafeIndexSelf(Dispatcher& d, const Backward& b) {
  const Tensor zeros = d.Call("aten::new_zeros", b.grad(), SelfSizes(b));
  return d.Call("aten::_unsafe_index_put", zeros, b.saved_list(1), b.grad(), true);
}
Tensor UnsafeIndexPutSelf(Dispatcher& d, const Backward& b) {
  if (b.op().boolean(3)) return b.grad();
  const TensorView values = b.op().tensor(2);
  const Tensor zeros = d.Call("aten::zeros", Dims(values.sizes()), values.dtype());
  return d.Call("aten::_unsafe_index_put", b.grad(), b.saved_list(1), zeros, false);
}
Tensor UnsafeIndexPutValues(Dispatcher& d, const Backward& b) {
  return d.Call("aten::_unsafe_index.Tensor", b.grad(), b.saved_list(1));
}

// self, dim, index, src
Tensor ScatterSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::scatter.value", b.grad(), b.op().arg(1), b.saved(2), std::int64_t{0});
}
Tensor ScatterSource(Dispatcher& d, const Backward& b) {
  return d.Call("aten::gather", b.grad(), b.op().arg(1), b.saved(2));
}

// self, dim, index, source, alpha: PyTorch takes a complex alpha as it is, not its conjugate
Tensor IndexAddSource(Dispatcher& d, const Backward& b) {
  const Argument& alpha = b.op().arg(4);
  if (b.saved(3).rank() == 0) {
    const Tensor index = d.Call("aten::squeeze.dim", b.saved(2), 0);
    return MaybeMultiply(d, d.Call("aten::index_select", b.grad(), b.op().arg(1), index), alpha);
  }
  const Tensor rows = d.Call("aten::index_select", b.grad(), b.op().arg(1), b.saved(2));
  return MaybeMultiply(d, d.Call("aten::expand_as", rows, b.saved(3)), alpha);
}

// --- scatter_reduce and index_reduce(self, dim, index, source, reduce, include_self) ------------

namespace {

struct ReducedGradients {
  Tensor self, source;
};

// How elements of the source, or slices of it, find their places.
struct Placing {
  OpName add, read, reduce;
};
constexpr Placing kElements{"aten::scatter_add", "aten::gather", "aten::scatter_reduce.two"};
constexpr Placing kSlices{"aten::index_add", "aten::index_select", "aten::index_reduce"};

Tensor Equals(Dispatcher& d, const Tensor& t, std::int64_t number) {
  return d.Call("aten::eq.Scalar", t, number);
}

// Each was one of so many.
ReducedGradients OfMean(Dispatcher& d, const Backward& b, const Placing& placing) {
  const Argument& dim = b.op().arg(1);
  const bool includes = b.op().boolean(5, true);
  Tensor count =
      d.Call(includes ? OpName("aten::ones_like") : OpName("aten::zeros_like"), b.grad());
  {
    const Tensor ones = d.Call("aten::ones_like", b.saved(3));
    count = d.Call(placing.add, count, dim, b.saved(2), ones);
  }
  d.Call("aten::masked_fill_.Scalar", count, Equals(d, count, 0), std::int64_t{1});
  ReducedGradients out;
  out.self = d.Call("aten::div.Tensor", b.grad(), count);
  const Tensor of_source = d.Call(placing.read, count, dim, b.saved(2));
  out.source =
      d.Call("aten::div.Tensor", d.Call(placing.read, b.grad(), dim, b.saved(2)), of_source);
  return out;
}

// Those that are equal to the extreme share its gradient. For elements PyTorch compares anew where
// it multiplies; for slices it keeps the ones and zeros.
ReducedGradients OfExtreme(Dispatcher& d, const Backward& b, const Placing& placing) {
  const Argument& dim = b.op().arg(1);
  const DType dtype = b.saved(0).dtype();
  const bool compares_anew = &placing == &kElements;
  const auto is_extreme = [&](const Tensor& t, const Tensor& extreme) {
    return d.Call("aten::eq.Tensor", t, extreme);
  };
  const Tensor value = d.Call(placing.read, b.result(), dim, b.saved(2));
  const Tensor self_is = d.Call("aten::to.dtype", is_extreme(b.saved(0), b.result()), dtype);
  const Tensor source_is = d.Call("aten::to.dtype", is_extreme(b.saved(3), value), dtype);
  const Tensor count = d.Call(placing.add, self_is, dim, b.saved(2), source_is);
  const Tensor share = d.Call("aten::div.Tensor", b.grad(), count);
  ReducedGradients out;
  out.self = d.Call("aten::mul.Tensor",
                    compares_anew ? is_extreme(b.saved(0), b.result()) : self_is, share);
  const Tensor spread = d.Call(placing.read, share, dim, b.saved(2));
  out.source =
      d.Call("aten::mul.Tensor", compares_anew ? is_extreme(b.saved(3), value) : source_is, spread);
  return out;
}

// Zeros of the source at places: how many of them each was multiplied with.
Tensor ZerosAt(Dispatcher& d, const Backward& b, const Placing& placing, const Tensor& zero) {
  const Tensor none = d.Call("aten::zeros_like", b.saved(0));
  const Tensor as_numbers = d.Call("aten::to.dtype", zero, b.saved(0).dtype());
  const Tensor counts = d.Call(placing.add, none, b.op().arg(1), b.saved(2), as_numbers);
  return d.Call(placing.read, counts, b.op().arg(1), b.saved(2));
}

// The product without the factor; where that is zero, it is computed anew with ones for zeros.
ReducedGradients OfProduct(Dispatcher& d, const Backward& b, const Placing& placing) {
  const Argument& dim = b.op().arg(1);
  const Tensor self = b.saved(0), index = b.saved(2), source = b.saved(3);
  const auto product = [&](const Tensor& into, const Tensor& of) {
    return d.Call(placing.reduce, into, dim, index, of, b.op().arg(4), b.op().arg(5));
  };
  ReducedGradients out;
  const Tensor masked =
      d.Call("aten::masked_fill.Scalar", self, Equals(d, self, 0), std::int64_t{1});
  const Tensor of_masked = product(masked, source);
  out.self = d.Call("aten::div.Tensor", d.Call("aten::mul.Tensor", b.grad(), of_masked), masked);
  const Tensor zero = Equals(d, source, 0);
  const Tensor zeros_there = ZerosAt(d, b, placing, zero);
  const Tensor only = d.Call("aten::bitwise_and.Tensor", zero, Equals(d, zeros_there, 1));
  const Tensor others = d.Call("aten::masked_fill.Scalar", source, only, std::int64_t{1});
  const Tensor of_others = product(self, others);
  const Tensor factors = d.Call("aten::masked_fill.Scalar", source, zero, std::int64_t{1});
  const Tensor whole = d.Call("aten::mul.Tensor", b.grad(), b.result());
  const Tensor spread = d.Call(placing.read, whole, dim, index);
  const Tensor usual = d.Call("aten::div.Tensor", spread, factors);
  const Tensor without = d.Call("aten::mul.Tensor", b.grad(), of_others);
  const Tensor rare = d.Call(placing.read, without, dim, index);
  out.source = d.Call("aten::where.self", only, rare, usual);
  return out;
}

ReducedGradients OfReduction(Dispatcher& d, const Backward& b, const Placing& placing) {
  const std::string_view reduce = b.op().text(4);
  if (reduce == "sum") {
    return {b.grad(), d.Call(placing.read, b.grad(), b.op().arg(1), b.saved(2))};
  }
  if (reduce == "mean") return OfMean(d, b, placing);
  if (reduce == "prod") return OfProduct(d, b, placing);
  return OfExtreme(d, b, placing);
}

// What is not included has no part in the result where anything was put.
std::vector<Tensor> ReduceBackward(Dispatcher& d, const Backward& b, const Placing& placing,
                                   OpName clear) {
  ReducedGradients out = OfReduction(d, b, placing);
  if (!b.op().boolean(5, true)) {
    out.self = d.Call(clear, out.self, b.op().arg(1), b.saved(2), std::int64_t{0});
  }
  return {std::move(out.self), std::move(out.source)};
}

}  // namespace

std::vector<Tensor> ScatterReduce(Dispatcher& d, const Backward& b) {
  return ReduceBackward(d, b, kElements, "aten::scatter.value");
}

std::vector<Tensor> IndexReduce(Dispatcher& d, const Backward& b) {
  return ReduceBackward(d, b, kSlices, "aten::index_fill.int_Scalar");
}

// data, reduce, lengths, indices, offsets, axis, unsafe, initial
Tensor SegmentReduceData(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::_segment_reduce_backward", b.grad(), b.result(), b.saved(0), op.arg(1),
                b.saved(2), b.saved(4), op.arg(5), op.arg(7));
}

// self, index: what was taken is added up where it was.
Tensor TakeSelf(Dispatcher& d, const Backward& b) {
  const Tensor zeros = d.Call("aten::zeros_like", b.saved(0));
  return d.Call("aten::put_", zeros, b.saved(1), b.grad(), true);
}

// self, index, source, accumulate
Tensor PutSelf(Dispatcher& d, const Backward& b) {
  if (b.op().boolean(3)) return b.grad();
  const TensorView source = b.op().tensor(2);
  const Tensor zeros = d.Call("aten::zeros", Dims(source.sizes()), source.dtype());
  return d.Call("aten::put", b.grad(), b.saved(1), zeros, false);
}
Tensor PutSource(Dispatcher& d, const Backward& b) {
  const Tensor taken = d.Call("aten::take", b.grad(), b.saved(1));
  return d.Call("aten::reshape", taken, Dims(b.op().tensor(2).sizes()));
}

// self, dim, index, value
Tensor IndexFillSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::index_fill.int_Scalar", b.grad(), b.op().arg(1), b.saved(2),
                std::int64_t{0});
}
// The sum over the distinct places.
Tensor IndexFillValue(Dispatcher& d, const Backward& b) {
  const std::vector<Tensor> places = d.CallMany("aten::_unique", b.saved(2), false);
  const Tensor slices = d.Call("aten::index_select", b.grad(), b.op().arg(1), places[0]);
  return d.Call("aten::sum", slices);
}
// self, dim, index, source
Tensor IndexCopySource(Dispatcher& d, const Backward& b) {
  if (b.saved(3).rank() == 0) {
    const Tensor index = d.Call("aten::squeeze.dim", b.saved(2), 0);
    return d.Call("aten::index_select", b.grad(), b.op().arg(1), index);
  }
  const Tensor slices = d.Call("aten::index_select", b.grad(), b.op().arg(1), b.saved(2));
  return d.Call("aten::expand_as", slices, b.saved(3));
}

Tensor TraceSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::trace_backward", b.grad(), SelfSizes(b));
}

// self, dim
Tensor RunningBestSelf(Dispatcher& d, const Backward& b) {
  if (b.saved(0).count() == 0) return b.saved(0);
  const Tensor zeros = d.Call("aten::zeros", SelfSizes(b), b.op().self().dtype());
  return d.Call("aten::scatter_add_", zeros, b.op().arg(1), b.result(1), b.grad());
}

Tensor TrilSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::tril", b.grad(), b.op().arg(1));
}
Tensor TriuSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::triu", b.grad(), b.op().arg(1));
}

}  // namespace steelyard::gradients
