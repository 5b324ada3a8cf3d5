// SPDX-License-Identifier: Apache-2.0
//
// What `deepspeed.initialize` allocates and frees on a device, of a model that is whole there
// (deepspeed/runtime/zero of DeepSpeed 0.19.8). The first step finds what that left in the
// allocator: the tensors that stay lie where earlier ones were, and segments that these took are
// kept.
//
//   stages 1, 2      the parameters of each group are copied into one piece, and go; of this
//                    process's part of it there is a copy in float32
//   stage 3          of each parameter this process's part is copied, and the parameter goes; the
//                    parts that are stepped move to the host's memory, what is free goes back to
//                    the device, and they come back in one piece; copies in float32 follow, the
//                    bucket, and memory for the sums. Then each parameter is gathered once
#pragma once

#include <cstdint>
#include <vector>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {

using ParameterGroups = std::vector<std::vector<Tensor>>;  // that are stepped together

void MakeEngine(Dispatcher& d, const ParameterGroups& groups, std::int64_t ranks);

struct MakingOptions {
  std::int64_t ranks = 2;
  std::int64_t bucket = 0;  // reduce_bucket_size, in elements
  bool contiguous = true;   // contiguous_gradients
};

// `model`: all parameters, in the model's order.
void MakePartitionedEngine(Dispatcher& d, const std::vector<Tensor>& model,
                           const ParameterGroups& groups, const MakingOptions& options);

}  // namespace steelyard::ops
