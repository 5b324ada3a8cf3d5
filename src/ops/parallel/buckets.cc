// SPDX-License-Identifier: Apache-2.0
#include "ops/parallel/buckets.h"

#include <algorithm>
#include <utility>

namespace steelyard::ops {
namespace {

// The bucket of a dtype that is being filled.
struct Open {
  DType dtype;
  std::vector<std::size_t> places = {};
  std::int64_t bytes = 0;
  std::size_t limit = 0;  // of the limits
};

}  // namespace

std::vector<std::vector<std::size_t>> AssignBuckets(std::span<const BucketMember> members,
                                                    std::span<const std::int64_t> limits) {
  std::vector<std::vector<std::size_t>> closed;
  std::vector<Open> opened;
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto found = std::ranges::find(opened, members[i].dtype, &Open::dtype);
    if (found == opened.end()) {
      opened.push_back({.dtype = members[i].dtype});
      found = opened.end() - 1;
    }
    found->places.push_back(i);
    found->bytes += members[i].bytes;
    if (found->bytes < limits[found->limit]) continue;
    closed.push_back(std::exchange(found->places, {}));
    found->bytes = 0;
    found->limit = std::min(found->limit + 1, limits.size() - 1);
  }
  for (Open& rest : opened) {
    if (!rest.places.empty()) closed.push_back(std::move(rest.places));
  }
  return closed;
}

Tensor Flatten(Dispatcher& d, const std::vector<Tensor>& tensors) {
  std::vector<Tensor> rows;
  rows.reserve(tensors.size());
  for (const Tensor& tensor : tensors) rows.push_back(d.Call("aten::reshape", tensor, Dims{-1}));
  return rows.size() == 1 ? rows[0] : d.Call("aten::cat", rows, 0);
}

}  // namespace steelyard::ops
