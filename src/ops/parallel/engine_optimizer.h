// SPDX-License-Identifier: Apache-2.0
//
// What every stage of ZeRO in DeepSpeed's engine does in a step.
#pragma once

#include <cstddef>

#include "ops/dispatch/autograd.h"

namespace steelyard::ops {

class EngineOptimizer : public GradientListener {
 public:
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
