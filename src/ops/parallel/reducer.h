// SPDX-License-Identifier: Apache-2.0
//
// What torch.nn.parallel.DistributedDataParallel allocates in one process, and when.
//
//   constructor       buckets, in which gradients are summed: there before a step and after it
//   forward begins    buffers in flat copies, of each dtype with several of them
//   gradient ready    the number of processes as a tensor, by which it is divided into its bucket
//   bucket full       nothing: the sum is made in place
//   backward ends     nothing: sums are copied back
//
// In no_sync() gradients are added up apart, and buffers are not sent again.
//
// The first step has one bucket of all gradients. When it is over, buckets are made anew in the
// order in which its gradients were ready, which is taken to be that of every later step. Where
// unused parameters are looked for, buckets are never made anew: they are those of the constructor,
// of all parameters in their order. With a static graph the first step's gradients go into the
// bucket when all are there, and buckets are made anew after the second, with the unused ones
// first.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {

struct ReducerOptions {
  std::int64_t ranks = 2;
  std::vector<std::int64_t> limits;  // of buckets, in bytes
  bool views = false;                // gradients are views of buckets
  std::int64_t micro_steps = 1;      // of one step, the last of which alone is not in no_sync()
  bool delays = false;               // gradients go into buckets once all are ready
  bool keeps_order = false;          // buckets are of parameters in their order
};

class Reducer final : public GradientListener {
 public:
  Reducer(Dispatcher& d, ReducerOptions options) : d_(d), options_(std::move(options)) {}

  // All parameters, some of which no output may depend on: they have their places, too.
  void MayLeaveOut(std::vector<Tensor> parameters);
  // One more of the step's forward passes begins.
  void BeginMicroStep() { ++begun_; }
  void OnReady(ValueId parameter) override;
  void OnBackwardEnd() override;

 private:
  // Gradients are only added up before the last.
  bool IsLast() const { return begun_ == options_.micro_steps; }
  void PutIntoBucket(ValueId parameter);
  void PutDelayed();
  Tensor AddSlot(const TensorView& variable);
  void AddUnused();
  void MakeBucket(const std::vector<Tensor>& parts, std::int64_t bytes);

  // Of a gradient in its bucket.
  struct Slot {
    ValueId parameter;
    Tensor part;
  };

  Dispatcher& d_;
  ReducerOptions options_;
  std::int64_t begun_ = 0;
  std::vector<ValueId> delayed_;
  std::vector<Slot> slots_;  // in the order of readiness
  std::vector<Tensor> parameters_;
};

}  // namespace steelyard::ops
