// SPDX-License-Identifier: Apache-2.0
//
// What DeepSpeed's ZeRO allocates in one process, and when, where parameters are whole: stages 1
// and 2 (deepspeed/runtime/zero/stage_1_and_2.py of DeepSpeed 0.19.8).
//
//   engine made      the parameters of a group lie in one piece, of which this process steps an
//                    equal part: its partition, of which there is a copy in float32, the master
//   gradient ready   the first of a pass makes a bucket; each is copied there. Stage 1 waits until
//                    the pass has ended, unless it overlaps
//   bucket full      the mean is taken in place; what belongs to the partition is copied to memory
//                    that is made once for all parameters that have a part in it; stage 2 lets the
//                    other gradients go
//   backward ends    the same for the rest; the bucket goes. Stage 1 does so at the end of the last
//                    micro-step, stage 2 adds up what it keeps
//   step             the norm, in float64; for each group the gradient of the master, which the
//                    optimizer steps; then all parts of the parameters are gathered
//
// A bucket has the same size however few gradients there are, and a gradient that is larger than it
// stays where it is. Without contiguous gradients there is no bucket: all stay where they are, and
// as many as would fill one are averaged in a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/parallel/engine_optimizer.h"
#include "support/rounding.h"

namespace steelyard::ops {

// How many of a group's elements each process steps, the last ones fewer: flat parameters begin at
// whole multiples of two elements in each.
inline std::int64_t PartitionOf(std::int64_t elements, std::int64_t ranks) {
  constexpr std::int64_t kAlignment = 2;
  return RoundUp(elements, kAlignment * ranks) / ranks;
}

struct ZeroOptions {
  int stage = 2;
  std::int64_t ranks = 2, rank = 0;
  bool first_step = false;
  std::int64_t micro_steps = 1;  // of one step
  std::int64_t bucket = 0;       // reduce_bucket_size, in elements
  bool overlaps = false;         // overlap_comm: two buckets in turn, on a stream of their own
  bool contiguous = true;        // contiguous_gradients: else gradients stay where they are
  bool clips = true;             // gradient_clipping is not 0
  bool checks_overflow = true;   // check_grad_overflow, of parameters in bfloat16
};

class ZeroOptimizer final : public EngineOptimizer {
 public:
  ZeroOptimizer(Dispatcher& d, const ZeroOptions& options) : d_(d), options_(options) {}

  // Parameters that are stepped alike; gives their master.
  Tensor AddGroup(const std::vector<Tensor>& parameters);

  std::size_t group_count() const override { return groups_.size(); }
  void OnReady(ValueId parameter) override;
  void ReduceRest() override;
  void TakeNorm() override;
  void SetMasterGradient(std::size_t group) override;
  void ReturnMaster(std::size_t group) override;
  void GatherParameters() override;

 private:
  struct Parameter {
    ValueId id = kNoId;
    std::size_t group = 0;
    std::int64_t begin = 0, count = 0;  // in its group
  };
  // Of a bucket, what goes to the partition of one process.
  struct Slice {
    std::int64_t rank = 0, begin = 0, count = 0;
  };
  struct Group {
    std::vector<std::size_t> parameters;  // places in parameters_
    std::int64_t partition = 0;           // elements of each process
    std::vector<Tensor> whole;            // the parameters, which lie in one piece
    Tensor master;
    std::vector<Tensor> summed;    // gradients of which a part is this process's, whole
    std::vector<Tensor> averaged;  // what the gradient of the master is made of
  };

  bool IsLast() const { return ended_ + 1 == options_.micro_steps; }
  DType dtype() const { return d_.ViewOf(parameters_[0].id).dtype(); }
  // What of a parameter lies in the partition of a process.
  Slice Within(const Parameter& parameter, std::int64_t rank) const;
  bool IsMine(const Parameter& parameter) const {
    return Within(parameter, options_.rank).count > 0;
  }
  void MakeBuckets();
  void PutIntoBucket(std::size_t place);
  void ReduceBucket();
  void AverageAndKeep();
  std::vector<Slice> SlicesOfBucket() const;
  void Average(const Tensor& bucket);
  void AverageApart();
  void SumAcross(const Tensor& bucket, const std::vector<Slice>& slices);
  void KeepInPartition(const Parameter& parameter);
  std::vector<Tensor> MyGradients(const Group& group);
  void CollectAveraged(Group& group);
  void CheckOverflow();
  Tensor NormOf(const Group& group);

  Dispatcher& d_;
  ZeroOptions options_;
  std::int64_t ended_ = 0;  // of the micro-steps
  std::vector<Parameter> parameters_;
  std::unordered_map<ValueId, std::size_t> places_;
  std::vector<Group> groups_;
  std::vector<Tensor> buckets_;
  std::size_t current_ = 0;          // of the buckets
  std::vector<std::size_t> filled_;  // whose gradients are in it
  std::int64_t filled_elements_ = 0;
  std::vector<Tensor> apart_;         // these gradients, where there are no buckets
  std::optional<std::size_t> large_;  // what is in none, being larger than it
  Tensor kept_;                       // gradients that have a part in the partition
  std::int64_t kept_elements_ = 0;
  Tensor norm_, last_norm_;
};

}  // namespace steelyard::ops
