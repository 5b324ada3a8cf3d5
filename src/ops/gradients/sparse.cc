// SPDX-License-Identifier: Apache-2.0
//
// A sparse tensor is its indices [dims, n] and its values [n, ...]; which of its elements are
// stored twice is not looked at, but for sums of two of them, which join equal neighbours: how many
// depends on the data, and none are taken to be.

#include "ops/gradients/sparse.h"

#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"

namespace steelyard::gradients {
namespace {

Tensor Indices(Dispatcher& d, const Tensor& sparse) {
  return {&d, d.autograd().parts(sparse.id()).indices};
}
Tensor Values(Dispatcher& d, const Tensor& sparse) {
  return {&d, d.autograd().parts(sparse.id()).values};
}

Tensor Make(Dispatcher& d, const Tensor& indices, const Tensor& values, const Dims& sizes,
            bool summed = false) {
  if (d.target().device != Device::kCpu) {
    Refuse("sparse gradients are not modelled on CUDA",
           "With sparse=False they are dense: as large as the parameters.");
  }
  const Tensor sparse = d.Call("steelyard::sparse_coo", indices, values, sizes);
  // A call that is weighed alone is of no backward pass.
  if (d.has_autograd()) {
    d.autograd().SetParts(sparse.id(),
                          {.indices = indices.id(), .values = values.id(), .summed = summed});
  }
  return sparse;
}

struct Parts {
  Tensor indices, values;
};

// Of two sparse tensors: runs that lie one after another are merged, others are put together.
Parts Merged(Dispatcher& d, const Tensor& self, const Tensor& other) {
  const Tensor indices[] = {Indices(d, self), Indices(d, other)};
  const Tensor values[] = {Values(d, self), Values(d, other)};
  const auto summed = [&](const Tensor& of) { return d.autograd().parts(of.id()).summed; };
  if (summed(self) || summed(other)) {
    d.Note("sums of sparse gradients are weighed as if no two neighbours were of the same row");
  }
  if (values[0].is_contiguous() && values[1].is_contiguous()) {
    std::vector<Tensor> sum = d.CallMany("steelyard::sparse_sum", indices[0], values[0], indices[1],
                                         values[1], Dims(self.sizes()));
    return {std::move(sum[0]), std::move(sum[1])};
  }
  Tensor places = d.Call("aten::cat", std::vector<Tensor>{indices[0], indices[1]}, 1);
  return {std::move(places), d.Call("aten::cat", std::vector<Tensor>{values[0], values[1]}, 0)};
}

}  // namespace

Tensor SparseRows(Dispatcher& d, const Tensor& grad, const Tensor& ids, std::int64_t rows,
                  std::int64_t padding) {
  const Dispatcher::Inside frame(d, "aten::embedding_sparse_backward");
  Tensor kept_grad = grad, kept_ids = ids;
  if (padding >= 0) {
    const std::vector<Tensor> mask{d.Call("aten::ne.Scalar", ids, padding)};
    kept_ids = d.Call("aten::index.Tensor", ids, mask);
    kept_grad = d.Call("aten::index.Tensor", grad, mask);
  }
  const std::int64_t columns = grad.size(-1);
  const Tensor index = d.Call("aten::reshape", kept_ids, Dims{1, -1});
  const Tensor values = d.Call("aten::reshape", kept_grad, Dims{kept_ids.count(), columns});
  return Make(d, d.Call("aten::to.dtype", index, DType::kInt64), values, Dims{rows, columns});
}

// The index of each dimension but one counts up, as often as the others have elements.
Tensor SparseElements(Dispatcher& d, const Tensor& grad, const Dims& sizes, int dim,
                      const Tensor& index) {
  const Dispatcher::Inside frame(d, "aten::_gather_sparse_backward");
  const int rank = static_cast<int>(sizes.size());
  if (rank == 0 || grad.rank() == 0) Refuse("a sparse gradient of a tensor of one element");
  const std::int64_t count = grad.count();
  const Tensor indices = d.Call("aten::empty.memory_format", Dims{rank, count}, DType::kInt64);
  std::int64_t above = count, below = 1;
  for (int i = 0; i < rank && count > 0; ++i) {
    const std::int64_t size = grad.size(i);
    above /= size;
    const Tensor row = d.Call("aten::select.int", indices, 0, i);
    const Dims flat{-1};
    if (i == dim) {
      d.Call("aten::copy_", row, d.Call("aten::reshape", index, flat));
    } else {
      const Tensor counted = d.Call("aten::arange", size, DType::kInt64);
      const Tensor spread =
          d.Call("aten::expand", d.Call("aten::unsqueeze", counted, 1), Dims{size, above});
      const Tensor once = d.Call("aten::reshape", spread, flat);
      d.Call("aten::copy_", row, d.Call("aten::repeat", once, Dims{below}));
    }
    below *= size;
  }
  return Make(d, indices, d.Call("aten::reshape", grad, Dims{-1}), sizes);
}

Tensor SumOfSparse(Dispatcher& d, const Tensor& self, const Tensor& other) {
  if (!d.autograd().IsSparse(self.id())) {
    return d.Call("steelyard::dense_plus_sparse", self, Indices(d, other), Values(d, other));
  }
  if (!d.autograd().IsSparse(other.id())) {
    Refuse("PyTorch adds no dense tensor, such as a weight that decays, to a sparse gradient",
           "Leave --weight-decay out, or make the embedding with sparse=False.");
  }
  const Parts sum = Merged(d, self, other);
  return Make(d, sum.indices, sum.values, Dims(self.sizes()), true);
}

void AddSparse(Dispatcher& d, const Tensor& self, const Tensor& other, const Argument& alpha) {
  if (!d.autograd().IsSparse(self.id())) {
    d.Call("steelyard::add_sparse_", self, Indices(d, other), Values(d, other), alpha);
    return;
  }
  const Dispatcher::Inside frame(d, "aten::add");
  const Parts sum = Merged(d, self, other);
  d.Call("steelyard::set_sparse_", self, sum.indices, sum.values);
  d.autograd().SetParts(self.id(),
                        {.indices = sum.indices.id(), .values = sum.values.id(), .summed = true});
}

Tensor SparseIndices(Dispatcher& d, const Tensor& sparse) { return Indices(d, sparse); }
Tensor SparseValues(Dispatcher& d, const Tensor& sparse) { return Values(d, sparse); }
Tensor MakeSparse(Dispatcher& d, const Tensor& indices, const Tensor& values, const Dims& sizes) {
  return Make(d, indices, values, sizes);
}

// _coalesce_sparse_cpu: values are put in the order of the rows' numbers, into room for all.
Tensor Coalesced(Dispatcher& d, const Tensor& sparse) {
  const Tensor indices = Indices(d, sparse), values = Values(d, sparse);
  if (indices.size(0) != 1) {
    Refuse("a sparse gradient of elements is not sorted by their places here",
           "With sparse_grad=False it is dense.");
  }
  const Dispatcher::Inside frame(d, "aten::_coalesce");
  if (indices.size(1) < 2) {
    const Tensor places = d.Call("aten::_to_copy", indices);
    return Make(d, places, d.Call("aten::_to_copy", values), Dims(sparse.sizes()));
  }
  const Tensor places = d.Call("aten::empty.memory_format", Dims(indices.sizes()), DType::kInt64);
  const Tensor joined = d.Call("aten::empty.memory_format", Dims(values.sizes()), values.dtype());
  const std::vector<Tensor> sorted =
      d.CallMany("aten::sort", d.Call("aten::select.int", indices, 0, 0), 0);
  d.Call("aten::copy_", joined, values);
  d.CallWith("steelyard::stand_in", {});
  d.Note("sparse gradients are weighed as if no row was in them twice");
  return Make(d, places, joined, Dims(sparse.sizes()));
}

// TensorSparseMask: what is looked up is multiplied by a one for each place, a tensor of one
// element.
Tensor SparseMask(Dispatcher& d, const Tensor& dense, const Tensor& sparse) {
  const Dispatcher::Inside frame(d, "aten::sparse_mask");
  d.CallWith("steelyard::stand_in", {});
  const Tensor one = d.Call("aten::empty.memory_format", Dims{1}, dense.dtype());
  const std::vector<Tensor> rows{d.Call("aten::select.int", Indices(d, sparse), 0, 0)};
  Tensor found = d.Call("aten::index.Tensor", dense, rows);
  const Tensor places = d.Call("aten::_to_copy", Indices(d, sparse));
  const Dispatcher::Inside product(d, "aten::mul");
  Tensor values = d.Call("aten::mul.Tensor", found, one);
  found.reset();
  return Make(d, places, values, Dims(dense.sizes()));
}

Tensor SparseNorm(Dispatcher& d, const Tensor& sparse) {
  const Dispatcher::Inside frame(d, "aten::native_norm");
  const Tensor coalesced = Coalesced(d, sparse);
  return d.Call("aten::norm.Scalar", Values(d, coalesced), 2.0);
}

// The parts are new: values first, then their places, take the old ones' place.
void ScaleSparse(Dispatcher& d, const Tensor& sparse, const Tensor& number) {
  const Dispatcher::Inside frame(d, "aten::mul");
  Tensor old_indices = Indices(d, sparse), old_values = Values(d, sparse);
  const Tensor indices = d.Call("aten::_to_copy", old_indices);
  const Tensor values = d.Call("aten::mul.Tensor", old_values, number);
  d.Call("steelyard::set_sparse_", sparse, indices, values);
  const bool summed = d.autograd().parts(sparse.id()).summed;
  d.autograd().SetParts(sparse.id(),
                        {.indices = indices.id(), .values = values.id(), .summed = summed});
  old_values.reset();
  old_indices.reset();
}

Tensor CompactSparse(Dispatcher& d, Tensor gradient) {
  Tensor indices = Indices(d, gradient), values = Values(d, gradient);
  if (d.autograd().uses(gradient.id()) == 1 && indices.is_contiguous() && values.is_contiguous()) {
    return gradient;
  }
  values = d.Call("aten::_to_copy", values);
  indices = d.Call("aten::_to_copy", indices);
  return Make(d, indices, values, Dims(gradient.sizes()));
}

}  // namespace steelyard::gradients
