// SPDX-License-Identifier: Apache-2.0
//
// The memory of a program as eager PyTorch runs it: every kernel's allocations in its own order, a
// storage freed when its last reference dies, the outputs held by the caller to the end.
#pragma once

#include "steelyard/op.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

// `kernels` is a program that `decompose` gave. Parameters, buffers and inputs are resident; each
// storage once.
Timeline RunEager(const Program& kernels, const Target& target);

}  // namespace steelyard
