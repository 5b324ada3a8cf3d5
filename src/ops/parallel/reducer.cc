// SPDX-License-Identifier: Apache-2.0
#include "ops/parallel/reducer.h"

#include <fmt/core.h>

#include <cstddef>

#include "ops/optimizers/step.h"
#include "ops/parallel/buckets.h"

namespace steelyard::ops {

// torch/csrc/distributed/c10d/reducer.cpp: mark_variable_ready_dense. A gradient that becomes a
// view of its bucket goes once it has been copied there.
void Reducer::OnReady(ValueId parameter) {
  if (!IsLast()) return;
  if (d_.autograd().IsSparse(d_.autograd().gradient(parameter).id())) {
    Refuse("sparse gradients of several processes are not modelled",
           "With sparse=False they are dense: as large as the parameters.");
  }
  const TensorView variable = d_.ViewOf(parameter);
  slots_.push_back(d_.AddResident("bucket", Dims(variable.sizes()), Dims(variable.strides()),
                                  variable.dtype(), Role::kGradient));
  {
    Tensor gradient = d_.autograd().gradient(parameter);
    const Tensor scale = d_.Box(kAnyNumber);
    d_.Call("steelyard::divide_into_", slots_.back(), gradient, scale);
    if (options_.views) d_.SetRole(gradient, Role::kActivation);
    gradient.reset();
  }
  if (options_.views) d_.autograd().SetGradient(parameter, slots_.back());
}

void Reducer::OnBackwardEnd() {
  if (!IsLast()) return;
  std::vector<BucketMember> members;
  members.reserve(slots_.size());
  for (const Tensor& slot : slots_) members.push_back({slot.dtype(), slot.view().bytes()});
  const auto buckets = AssignBuckets(members, options_.limits);
  std::int64_t total = 0;
  for (const std::vector<std::size_t>& places : buckets) {
    std::int64_t bytes = 0;
    std::vector<Tensor> parts;
    for (const std::size_t place : places) {
      bytes += members[place].bytes;
      parts.push_back(slots_[place]);
    }
    MakeBucket(parts, bytes);
    total += bytes;
  }
  d_.Note(fmt::format(
      "DistributedDataParallel: each of {} processes sums its gradients in {} bucket{} of {} bytes "
      "in all, {}",
      options_.ranks, buckets.size(), buckets.size() == 1 ? "" : "s", total,
      options_.views ? "of which the gradients are views" : "which stay beside the gradients"));
  slots_.clear();
}

// One stretch of memory for what were several.
void Reducer::MakeBucket(const std::vector<Tensor>& parts, std::int64_t bytes) {
  const DType dtype = parts[0].dtype();
  const std::int64_t elements = bytes * 8 / BitsOf(dtype);
  const Tensor bucket = d_.AddResident("bucket", {elements}, {1}, dtype, Role::kGradient);
  d_.autograd().PutInto(bucket, parts);
  d_.Keep(bucket);
}

}  // namespace steelyard::ops
