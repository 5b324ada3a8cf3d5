// SPDX-License-Identifier: Apache-2.0
//
// Gradients that are kept as a few rows or elements and their places, and sums with them: what
// `sparse=True` makes of embeddings (ATen/native/Embedding.cpp, EmbeddingBag.cpp,
// TensorAdvancedIndexing.cpp, sparse/SparseTensorMath.cpp).
#pragma once

#include <cstdint>

#include "ops/dispatch/dispatcher.h"
#include "ops/op_def.h"

namespace steelyard::gradients {

// The gradient [rows, D] of a table, of gradients [..., D] of what the ids [...] chose; row
// `padding` has none, where it is not negative.
Tensor SparseRows(Dispatcher& d, const Tensor& grad, const Tensor& ids, std::int64_t rows,
                  std::int64_t padding);
// The gradient, of these sizes, of what `index` chose along a dimension, element by element.
Tensor SparseElements(Dispatcher& d, const Tensor& grad, const Dims& sizes, int dim,
                      const Tensor& index);

// `self + other`, of which one at least is sparse; and `self += alpha * other`, where other is.
Tensor SumOfSparse(Dispatcher& d, const Tensor& self, const Tensor& other);
void AddSparse(Dispatcher& d, const Tensor& self, const Tensor& other, const Argument& alpha);
// The tensor, if what it is made of is contiguous, as AccumulateGrad takes gradients over; else a
// copy of it.
Tensor CompactSparse(Dispatcher& d, Tensor gradient);

// A sparse tensor's parts, and one of parts.
Tensor SparseIndices(Dispatcher& d, const Tensor& sparse);
Tensor SparseValues(Dispatcher& d, const Tensor& sparse);
Tensor MakeSparse(Dispatcher& d, const Tensor& indices, const Tensor& values, const Dims& sizes);
// `sparse.coalesce()`: each row once. Which are there several times depends on the data, and none
// is taken to be.
Tensor Coalesced(Dispatcher& d, const Tensor& sparse);
// `dense.sparse_mask(sparse)`: what stands at the places of a coalesced one.
Tensor SparseMask(Dispatcher& d, const Tensor& dense, const Tensor& sparse);
// `torch.linalg.vector_norm(sparse)`, and `sparse.mul_(number)` of a tensor of one element.
Tensor SparseNorm(Dispatcher& d, const Tensor& sparse);
void ScaleSparse(Dispatcher& d, const Tensor& sparse, const Tensor& number);

}  // namespace steelyard::gradients
