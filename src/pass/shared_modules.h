// SPDX-License-Identifier: Apache-2.0
//
// Modules that a plan prepares: what they are called with becomes a DTensor, or lies otherwise.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "ops/parallel/placement.h"
#include "pass/module_span.h"
#include "pass/shared_style.h"
#include "pass/shared_values.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// A module of the plan.
struct SharedLayer {
  ModuleId module = 0;
  SharedStyle style;
  ValueId weight = kNoId, bias = kNoId;  // of a Linear or an Embedding
  bool runs = false;
  ModuleSpan span = {};  // of any other module
};

std::string_view PathOf(const Program& program, const SharedLayer& layer);

// That it is called with what its style does not take.
Error Misfit(const Program& program, const SharedLayer& layer, const Held& held);

class SharedModules {
 public:
  SharedModules(Program& program, const ops::Group& group, SharedValues& values)
      : program_(program), group_(group), values_(values) {}

  // Before and behind node `at` of `nodes`, as the program gets them: what modules do that begin
  // and end there. `layers` stay where they are.
  Status Enter(std::deque<SharedLayer>& layers, const std::vector<Node>& nodes, std::size_t at);
  void Leave(const std::vector<Node>& nodes, std::size_t at);

  // Whether what runs is a module's own code that computes with DTensors.
  bool computes_distributed() const { return sequence_ != nullptr; }

 private:
  struct Prepared {
    const SharedLayer* layer;
    ValueId input, came, given;
  };

  Result<ValueId> InputOf(const SharedLayer& layer) const;
  ValueId BecomeDistributed(const Node& before, const SharedLayer& layer, ValueId comes);
  void SumGradients(const std::vector<Node>& nodes, const SharedLayer& layer);
  void GiveLocal(const Node& last, const SharedLayer& layer);
  void Append(const Node& beside, std::string_view op, std::span<const Argument> args,
              std::span<const ValueId> results);

  Program& program_;
  ops::Group group_;
  SharedValues& values_;
  std::vector<Prepared> prepared_;         // modules that are open, outermost first
  const SharedLayer* sequence_ = nullptr;  // the one of them that computes with DTensors
};

}  // namespace steelyard
