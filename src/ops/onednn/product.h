// SPDX-License-Identifier: Apache-2.0
//
// Products of bfloat16 matrices by oneDNN (brg_matmul:avx512_core_bf16): the scratch of each call.
#pragma once

#include <cstdint>

#include "ops/op_def.h"

namespace steelyard::onednn {

// rows x depth times depth x columns, `batch` of them.
struct Product {
  std::int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  bool first_transposed = false;  // the first factor lies column by column
  bool is_batch = false;          // a batched product, if only of one
  // Of a matrix and a vector: whether rows, or elements, do not lie one after another.
  bool matrix_has_gaps = false, vector_has_gaps = false;
};

// Bytes of the scratch. Requires: bfloat16, and more than 4096 multiplications.
Count ProductScratch(const Product& product, const Target& target);

}  // namespace steelyard::onednn
