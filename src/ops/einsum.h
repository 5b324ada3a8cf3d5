// SPDX-License-Identifier: Apache-2.0
//
// aten::einsum: any sum of products over named dimensions, as batched matrix products.
#pragma once

#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {

std::vector<Tensor> Einsum(Dispatcher& d, const OpView& op);

// Product of two operands of as many dimensions, summed over `summed`, whose dimensions stay with
// size 1.
Tensor MultiplyPair(Dispatcher& d, const Tensor& left, const Tensor& right, shape::DimSet summed);

}  // namespace steelyard::ops
