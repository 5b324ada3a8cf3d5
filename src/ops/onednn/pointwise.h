// SPDX-License-Identifier: Apache-2.0
//
// 1 x 1 kernels of bfloat16 (jit_bf16_1x1) add up in float32, in a buffer for each thread.
#pragma once

#include "ops/onednn/problem.h"

namespace steelyard::onednn {

struct PointwiseSums {
  std::int64_t threads = 1;  // that take part
  Count bytes;               // of the sums of all of them
};
PointwiseSums SumsOf(const Problem& problem, std::int64_t channel_block, const Target& target);

}  // namespace steelyard::onednn
