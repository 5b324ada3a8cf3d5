// SPDX-License-Identifier: Apache-2.0
//
// What every stage of ZeRO in DeepSpeed's engine does in a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {

// Tensors that are stepped alike, of which each count says how many: in a program that was made by
// hand they may be any.
inline std::vector<std::vector<Tensor>> InGroups(std::span<const Tensor> tensors,
                                                 std::span<const std::int64_t> counts) {
  std::vector<std::vector<Tensor>> groups;
  for (const std::int64_t count : counts) {
    if (count < 1 || static_cast<std::size_t>(count) > tensors.size()) break;
    const auto of_group = tensors.first(static_cast<std::size_t>(count));
    groups.emplace_back(of_group.begin(), of_group.end());
    tensors = tensors.subspan(of_group.size());
  }
  if (groups.empty() || groups.size() != counts.size() || !tensors.empty()) {
    Refuse("groups of other parameters than there are, or of none");
  }
  return groups;
}

class EngineOptimizer : public GradientListener {
 public:
  // The optimizer of the step that the program is in; null outside of one.
  template <class Optimizer>
  static Optimizer* Find(Dispatcher& d) {
    return d.has_autograd() ? dynamic_cast<Optimizer*>(d.autograd().listener()) : nullptr;
  }
  template <class Optimizer>
  static Optimizer& Of(Dispatcher& d) {
    auto* const optimizer = Find<Optimizer>(d);
    if (optimizer == nullptr) Refuse("a part of a step of DeepSpeed outside of one");
    return *optimizer;
  }

  virtual std::size_t group_count() const = 0;
  bool HooksNodes() const override { return false; }
  void OnBackwardEnd() override {}
  // The engine's backward pass of one more micro-step ends.
  virtual void ReduceRest() = 0;

  // The parts of a step, in this order, the second and third of each group.
  virtual void TakeNorm() = 0;
  virtual void SetMasterGradient(std::size_t group) = 0;
  virtual void ReturnMaster(std::size_t group) = 0;
  virtual void GatherParameters() = 0;
};

}  // namespace steelyard::ops
