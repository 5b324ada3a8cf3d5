// SPDX-License-Identifier: Apache-2.0
//
// Tensors that several processes send together, as c10d puts them into buckets
// (compute_bucket_assignment_by_size in torch/csrc/distributed/c10d/reducer.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "steelyard/tables.h"

namespace steelyard::ops {

struct BucketMember {
  DType dtype = DType::kFloat32;
  std::int64_t bytes = 0;
};

// The places of the members in each bucket. A bucket holds one dtype and is closed by the member
// with which it reaches its limit, so that it may exceed it; a dtype's first bucket has the first
// limit, its last limit holds for all further ones. Requires: there is a limit.
std::vector<std::vector<std::size_t>> AssignBuckets(std::span<const BucketMember> members,
                                                    std::span<const std::int64_t> limits);

// _flatten_dense_tensors: their elements in one row; a single one's without a copy.
Tensor Flatten(Dispatcher& d, const std::vector<Tensor>& tensors);

}  // namespace steelyard::ops
