// SPDX-License-Identifier: Apache-2.0
//
// aten::einsum: any sum of products over named dimensions, as batched matrix products.
#pragma once

#include <vector>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {

std::vector<Tensor> Einsum(Dispatcher& d, const OpView& op);

}  // namespace steelyard::ops
