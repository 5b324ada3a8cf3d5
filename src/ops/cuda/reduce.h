// SPDX-License-Identifier: Apache-2.0
//
// Reductions on CUDA: where several blocks of threads work on one result, they leave what they have
// in a buffer that the last of them adds up (aten/src/ATen/native/cuda/Reduce.cuh).
#pragma once

#include <cstdint>
#include <span>

#include "ir/layout.h"
#include "ops/op_def.h"
#include "ops/rules/shape.h"

namespace steelyard::cuda {

// What a thread keeps of its elements. Of parts of a tensor that is too large for one launch the
// result keeps it meanwhile, if it can: a sum is a number like the result, moments are not.
struct Accumulator {
  std::int64_t bytes = 0;
  bool fits_result = true;
};

// Takes and frees the buffers of reducing the dimensions `set` of a tensor, which is read in this
// layout and dtype, to one that is dense in the order of its dimensions.
void Stage(const OpView& op, const Layout& layout, DType dtype, shape::DimSet set,
           const Accumulator& accumulator, Allocations& memory);
inline void Stage(const OpView& op, const TensorView& of, shape::DimSet set,
                  const Accumulator& accumulator, Allocations& memory) {
  Stage(op, {of.sizes(), of.strides()}, of.dtype(), set, accumulator, memory);
}

// Of `aminmax` of all elements, of a dense copy where they do not lie densely.
void StageLimits(const OpView& op, const TensorView& of, Allocations& memory);

// For sums of a dtype: half-precision numbers are added up in float32.
Accumulator SumOf(DType dtype);

}  // namespace steelyard::cuda
