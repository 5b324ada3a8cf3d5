// SPDX-License-Identifier: Apache-2.0
//
// Reductions on CUDA: where several blocks of threads work on one result, they leave what they have
// in a buffer that the last of them adds up (aten/src/ATen/native/cuda/Reduce.cuh).
#pragma once

#include <cstdint>
#include <span>

#include "ops/op_def.h"
#include "ops/rules/shape.h"

namespace steelyard::cuda {

// Takes and frees the buffers of reducing the dimensions `set` of a tensor of those sizes and
// strides to one that is dense in the order of its dimensions. `accumulator`: bytes of what a
// thread keeps of its elements.
void Stage(const OpView& op, std::span<const std::int64_t> sizes,
           std::span<const std::int64_t> strides, shape::DimSet set, std::int64_t accumulator,
           Allocations& memory);
inline void Stage(const OpView& op, const TensorView& of, shape::DimSet set,
                  std::int64_t accumulator, Allocations& memory) {
  Stage(op, of.sizes(), of.strides(), set, accumulator, memory);
}

// Bytes of an accumulator for sums of a dtype: half-precision numbers are added up in float32.
std::int64_t SumBytes(DType dtype);

}  // namespace steelyard::cuda
