// SPDX-License-Identifier: Apache-2.0
//
// Written like the constructors of DeepSpeedZeroOptimizer and DeepSpeedZeroOptimizer_Stage3, and
// Init of partition_parameters.py, so that tensors die where theirs do.
#include "ops/parallel/engine_making.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "ops/optimizers/step.h"
#include "ops/parallel/deepspeed.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

Tensor Empty(Dispatcher& d, std::int64_t elements, DType dtype) {
  return d.Call("aten::empty.memory_format", Dims{elements}, dtype);
}

void KeepAs(Dispatcher& d, Role role, Tensor made) {
  d.SetRole(made, role);
  d.Keep(std::move(made));
}

void LetGo(Dispatcher& d, const Tensor& parameter) {
  d.Call("steelyard::release_storage", parameter);
}

std::int64_t Elements(std::span<const Tensor> tensors) {
  std::int64_t elements = 0;
  for (const Tensor& tensor : tensors) elements += tensor.count();
  return elements;
}

// --- Stages 1 and 2 ------------------------------------------------------------------------------

// flatten_dense_tensors_aligned: parameters come to lie in one piece.
void PutSideBySide(Dispatcher& d, const std::vector<Tensor>& parameters, std::int64_t padded) {
  const std::int64_t missing = padded - Elements(parameters);
  if (parameters.size() == 1 && missing == 0) return;
  const DType dtype = parameters[0].dtype();
  {
    const Tensor padding = missing == 0 ? Tensor() : Empty(d, missing, dtype);
    KeepAs(d, Role::kParameter, Empty(d, padded, dtype));
  }
  for (const Tensor& parameter : parameters) LetGo(d, parameter);
}

}  // namespace

// DeepSpeedZeroOptimizer.__init__
void MakeEngine(Dispatcher& d, const ParameterGroups& groups, std::int64_t ranks) {
  std::vector<std::int64_t> partitions;
  for (const auto& parameters : groups) {
    const std::int64_t partition = PartitionOf(Elements(parameters), ranks);
    partitions.push_back(partition);
    PutSideBySide(d, parameters, partition * ranks);
    const DType dtype = parameters[0].dtype();
    const Tensor clone = dtype == DType::kFloat32 ? Tensor() : Empty(d, partition, dtype);
    KeepAs(d, Role::kOptimizerState, Empty(d, partition, DType::kFloat32));
  }
  Tensors gradients;  // initialize_optimizer_states
  for (const std::int64_t partition : partitions) {
    gradients.push_back(Empty(d, partition, DType::kFloat32));
  }
  Drop(gradients);
}

// --- Stage 3 -------------------------------------------------------------------------------------

namespace {

class PartitionedMaking {
 public:
  PartitionedMaking(Dispatcher& d, std::int64_t ranks) : d_(d), ranks_(ranks) {}

  // Init._zero_init_param
  void Partition(const Tensor& parameter) {
    parts_[parameter.id()] = Empty(d_, PartOf(parameter), parameter.dtype());
    LetGo(d_, parameter);
  }

  // _create_fp16_partitions_with_defragmentation: by way of the host's memory
  void Defragment(const ParameterGroups& groups) {
    for (const auto& parameters : groups) {
      for (const Tensor& parameter : parameters) {
        parts_[parameter.id()].reset();
        stepped_ += PartOf(parameter);
      }
    }
    d_.CallWith("steelyard::empty_cache", {});
    KeepAs(d_, Role::kParameter, Empty(d_, stepped_, groups[0][0].dtype()));
    for (auto& [id, part] : parts_) {
      if (part.defined()) KeepAs(d_, Role::kParameter, std::move(part));  // of what is frozen
    }
  }

  // _create_fp32_partitions, initialize_optimizer_states
  void MakeMasters(const ParameterGroups& groups) {
    std::int64_t most = 0;
    {
      Tensor converted;  // a variable of the function
      for (const auto& parameters : groups) {
        std::int64_t elements = 0;
        for (const Tensor& parameter : parameters) elements += PartOf(parameter);
        most = std::max(most, elements);
        if (parameters[0].dtype() != DType::kFloat32) {
          converted = Empty(d_, elements, DType::kFloat32);
        }
        KeepAs(d_, Role::kOptimizerState, Empty(d_, elements, DType::kFloat32));
      }
    }
    const Tensor gradient = Empty(d_, most, DType::kFloat32);
  }

  void MakeBuffers(std::int64_t bucket, bool contiguous, DType dtype) {
    if (contiguous) KeepAs(d_, Role::kGradient, Empty(d_, bucket, dtype));
    KeepAs(d_, Role::kGradient, Empty(d_, stepped_, dtype));
  }

  // create_reduce_and_remove_grad_hooks: each is gathered, for its hook to be found
  void HookGradients(const ParameterGroups& groups) {
    for (const auto& parameters : groups) {
      for (const Tensor& parameter : parameters) {
        const Tensor whole = Empty(d_, PartOf(parameter) * ranks_, parameter.dtype());
      }
    }
  }

 private:
  std::int64_t PartOf(const Tensor& parameter) const { return DivideUp(parameter.count(), ranks_); }

  Dispatcher& d_;
  std::int64_t ranks_;
  std::unordered_map<ValueId, Tensor> parts_;
  std::int64_t stepped_ = 0;  // elements
};

}  // namespace

// DeepSpeedZeroOptimizer_Stage3.__init__
void MakePartitionedEngine(Dispatcher& d, const std::vector<Tensor>& model,
                           const ParameterGroups& groups, const MakingOptions& options) {
  PartitionedMaking making(d, options.ranks);
  for (const Tensor& parameter : model) making.Partition(parameter);
  KeepAs(d, Role::kOptimizerState, Empty(d, 1, DType::kBool));  // inf_or_nan_tracker
  making.Defragment(groups);
  making.MakeMasters(groups);
  making.MakeBuffers(options.bucket, options.contiguous, groups[0][0].dtype());
  making.HookGradients(groups);
}

}  // namespace steelyard::ops
