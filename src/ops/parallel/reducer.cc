// SPDX-License-Identifier: Apache-2.0
//
// A bucket is reduced when all its gradients are there, and buckets in their order. Gradients are
// divided on the way into it (torch/csrc/distributed/c10d/reducer.cpp).
#include "ops/parallel/reducer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ops/optimizers/step.h"
#include "ops/parallel/buckets.h"

namespace steelyard::ops {

// Which were used is counted on the host, and summed over all processes on the device.
void Reducer::MayLeaveOut(std::vector<Tensor> parameters) {
  parameters_ = std::move(parameters);
  const auto count = static_cast<std::int64_t>(parameters_.size());
  for (const bool on_host : {true, false}) {
    const Tensor used = d_.AddResident("used", {count}, {1}, DType::kInt32, Role::kGradient);
    if (on_host) d_.PutOnHost(used);
    d_.Keep(used);
  }
}

void Reducer::OnReady(ValueId parameter) {
  if (!IsLast()) return;
  if (d_.autograd().IsSparse(d_.autograd().gradient(parameter).id())) {
    Refuse("sparse gradients of several processes are not modelled",
           "With sparse=False they are dense: as large as the parameters.");
  }
  if (options_.delays) return delayed_.push_back(parameter);
  PutIntoBucket(parameter);
}

Tensor Reducer::AddSlot(const TensorView& variable) {
  return d_.AddResident("bucket", Dims(variable.sizes()), Dims(variable.strides()),
                        variable.dtype(), Role::kGradient);
}

// torch/csrc/distributed/c10d/reducer.cpp: mark_variable_ready_dense. A gradient that becomes a
// view of its bucket goes once it has been copied there.
void Reducer::PutIntoBucket(ValueId parameter) {
  const Tensor& part = slots_.emplace_back(Slot{parameter, AddSlot(d_.ViewOf(parameter))}).part;
  {
    Tensor gradient = d_.autograd().gradient(parameter);
    const Tensor scale = d_.Box(kAnyNumber);
    d_.Call("steelyard::divide_into_", part, gradient, scale);
    if (options_.views) d_.SetRole(gradient, Role::kActivation);
    gradient.reset();
  }
  if (options_.views) d_.autograd().SetGradient(parameter, part);
}

// _delay_all_reduce: in the order of the parameters.
void Reducer::PutDelayed() {
  const Dispatcher::AsProgram callback(d_);
  std::ranges::sort(delayed_);
  for (const ValueId parameter : delayed_) PutIntoBucket(parameter);
  delayed_.clear();
}

void Reducer::AddUnused() {
  std::vector<Slot> all;
  const auto place = [&](const Tensor& parameter) {
    return std::ranges::find(slots_, parameter.id(), &Slot::parameter);
  };
  for (const Tensor& parameter : parameters_) {
    const auto found = place(parameter);
    if (found == slots_.end()) all.push_back({parameter.id(), AddSlot(parameter.view())});
    if (found != slots_.end() && options_.keeps_order) all.push_back(*found);
  }
  if (!options_.keeps_order) all.insert(all.end(), slots_.begin(), slots_.end());
  slots_ = std::move(all);
  parameters_.clear();
}

void Reducer::OnBackwardEnd() {
  if (!IsLast()) return;
  PutDelayed();
  if (!parameters_.empty()) AddUnused();
  std::vector<BucketMember> members;
  members.reserve(slots_.size());
  for (const Slot& slot : slots_) members.push_back({slot.part.dtype(), slot.part.view().bytes()});
  const auto buckets = AssignBuckets(members, options_.limits);
  std::int64_t total = 0;
  for (const std::vector<std::size_t>& places : buckets) {
    std::int64_t bytes = 0;
    std::vector<Tensor> parts;
    for (const std::size_t place : places) {
      bytes += members[place].bytes;
      parts.push_back(slots_[place].part);
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
