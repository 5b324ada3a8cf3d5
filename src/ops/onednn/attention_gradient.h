// SPDX-License-Identifier: Apache-2.0
//
// The fused kernel of the gradients of attention on the CPU multiplies block by block; those of its
// products whose result is in bfloat16 are oneDNN's.
#pragma once

#include <cstdint>

#include "ops/op_def.h"
#include "ops/rules/allocations.h"

namespace steelyard::onednn {

struct AttentionGradient {
  std::int64_t heads = 1;  // of all elements of the batch
  std::int64_t queries = 1, keys = 1, size = 1;
  bool causal = false, scaled = true;  // by another factor than 1
  // Whether the rows of a head do not lie one after another.
  bool queries_have_gaps = false, keys_have_gaps = false, gradient_has_gaps = false;
};

// Scratch of its products, each freed before the next: for the gradients of values, of queries and
// of keys. Of very many blocks those of one head are told: the others' are as large.
void AllocateProducts(const AttentionGradient& attention, const Target& target,
                      Allocations& memory);

}  // namespace steelyard::onednn
