// SPDX-License-Identifier: Apache-2.0
//
// What stage 3 of DeepSpeed's ZeRO allocates in one process, and when
// (deepspeed/runtime/zero/stage3.py and parameter_offload.py of DeepSpeed 0.19.8); for its
// parameters see partitioned_parameters.h.
//
//   engine made      of this process's parts of each group of parameters there is a copy in
//                    float32, the master; for the sums of gradients there is memory for good, and a
//                    bucket
//   gradient ready   copied to the bucket, if it has room for it
//   bucket full      the gradients' parts are put side by side, of each process in turn; this
//                    process's part of the sums goes to its place, and the gradients go
//   backward ends    the same for the rest
//   step             all parameters are let go; the norm, in float64; for each group the gradient
//                    of the master, which the optimizer steps; small parameters are gathered
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/optimizers/step.h"
#include "ops/parallel/engine_optimizer.h"
#include "ops/parallel/partitioned_parameters.h"

namespace steelyard::ops {

struct PartitionOptions {
  std::int64_t ranks = 2, rank = 0;
  bool first_step = false;
  std::int64_t bucket = 0;      // reduce_bucket_size, in elements
  bool contiguous = true;       // contiguous_gradients: else gradients stay where they are
  bool clips = true;            // gradient_clipping is not 0
  bool overlaps = true;         // overlap_comm: they are reduced on a stream of its own
  bool replaces_linear = true;  // memory_efficient_linear
};

class PartitionedOptimizer final : public EngineOptimizer {
 public:
  using Module = PartitionedParameters::Module;

  PartitionedOptimizer(Dispatcher& d, const PartitionOptions& options, const GatherOptions& gather,
                       std::vector<Module> order)
      : d_(d), options_(options), parameters_(d, gather, std::move(order)) {}

  // This process's parts of parameters that are stepped together; gives their master.
  Tensor AddGroup(const std::vector<Tensor>& parts);
  // Once all groups are known.
  void MakeBuffers();
  PartitionedParameters& parameters() { return parameters_; }
  bool replaces_linear() const { return options_.replaces_linear; }

  // Hooks of a module's call. Gives its parameters, and then the arguments or results on.
  std::vector<Tensor> EnterModule(Module module, std::vector<Tensor> arguments);
  std::vector<Tensor> LeaveModule(Module module, std::vector<Tensor> results);
  // A result of the module has its gradient; and all arguments of a call have theirs, or may have.
  void BeginBackward(Module module);
  void EndBackward(Module module);

  std::size_t group_count() const override { return groups_.size(); }
  void OnReady(ValueId parameter) override;
  void ReduceRest() override;
  void TakeNorm() override;
  void SetMasterGradient(std::size_t group) override;
  void ReturnMaster(std::size_t group) override;
  void GatherParameters() override;

 private:
  using Place = PartitionedParameters::Place;
  struct Group {
    std::vector<Tensor> parts = {};
    Tensor master = {};
    std::int64_t count = 0;
  };

  Tensor Gradient(Place place) const { return d_.autograd().gradient(parameters_.leaf(place)); }
  Tensor SumOf(Place place);
  void PutIntoBucket(Place place);
  void ReduceBucket();
  Tensors AverageAndScatter();
  Tensor PutSideBySide(const Tensors& gradients, Tensors& padding);
  void KeepParts(const Tensors& sums);
  Tensor NormOf(const Group& group);

  Dispatcher& d_;
  PartitionOptions options_;
  PartitionedParameters parameters_;
  std::vector<Group> groups_;
  std::int64_t summed_ = 0;                           // elements of all groups
  std::unordered_map<ValueId, std::int64_t> sum_of_;  // of a part: where its sum begins
  Tensor sums_, bucket_;
  std::vector<Place> filled_;  // whose gradients are to be reduced
  std::int64_t filled_elements_ = 0;
  bool adds_ = false;                         // to what an earlier micro-step has left
  std::vector<std::int64_t> arguments_left_;  // by module: of its last call, without a gradient yet
  std::vector<std::int64_t> results_left_;    // by module: of all calls
  Tensors norms_;
  Tensor norm_, last_norm_;
};

}  // namespace steelyard::ops
