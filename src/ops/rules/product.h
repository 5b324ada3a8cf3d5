// SPDX-License-Identifier: Apache-2.0
//
// What matrix products share: which layouts of a factor the libraries read as they are, and the
// copies of those they do not (ATen/native/LinearAlgebra.cpp, mkldnn/Matmul.cpp).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/op_def.h"

namespace steelyard::product {

// Refuses factors of different dtypes; `a` decides the result's.
void RequireSameDType(const TensorView& a, const TensorView& b);
// Refuses what a product, or a convolution, is to be added to where it is of another dtype.
void RequireSummandOf(const TensorView& summand, const TensorView& factor);
// Refuses unless the columns of `a` and the rows of `b` agree. Requires: two dimensions each.
void RequireInner(const TensorView& a, const TensorView& b);

// Whether BLAS reads the matrices of the last two dimensions in place: one of them is dense and the
// other does not overlap.
bool BlasReads(const TensorView& factor);
// Whether it reads a conjugated matrix that it reads at all: as the transpose of one that lies in
// the other order than the product is computed in, column by column if `by_rows`.
bool BlasConjugates(const TensorView& factor, bool by_rows);
// Whether oneDNN does: contiguous, or a batch of transposed contiguous matrices.
bool OneDnnReads(const TensorView& factor);
// Whether a product, with a vector too, goes to oneDNN: bfloat16 with enough multiplications.
bool UsesOneDnn(const TensorView& a, const TensorView& b);
// Whether there is enough to multiply, in bfloat16.
bool IsWorthOneDnn(Count multiplications);
// Whether the matrices of the last two dimensions lie column by column, and not also row by row.
bool LiesTransposed(const TensorView& factor);

// Contiguous copies of factors for the duration of a product: freed last first.
class FactorCopies {
 public:
  explicit FactorCopies(Allocations& memory) : memory_(&memory) {}
  void Add(Count elements, DType dtype, std::string_view label = "aten::empty");
  void FreeAll(std::string_view label = {});

 private:
  Allocations* memory_;
  std::vector<Allocations::Scratch> copies_;
};

}  // namespace steelyard::product
