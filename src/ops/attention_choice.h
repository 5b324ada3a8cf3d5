// SPDX-License-Identifier: Apache-2.0
//
// Which way scaled_dot_product_attention goes on CUDA, for operators that ask before they call it.
#pragma once

#include "ops/dispatch/dispatcher.h"

namespace steelyard::attention {

// Whether a fused kernel would take these operands, without a mask, dropout or causality.
bool FusesOnCuda(Dispatcher& d, const Tensor& query, const Tensor& key, const Tensor& value);

}  // namespace steelyard::attention
