// SPDX-License-Identifier: Apache-2.0
//
// What a model gives its caller, where a wrapper around it gives something else instead.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// The tensors that the program returns and that one of these nodes makes, in the order in which
// they are returned.
std::vector<Argument> ModelOutputs(const Program& program, std::span<const Node> forward);

// Values that others stand for.
class Replacements {
 public:
  explicit Replacements(Program& program) : program_(program) {}

  void Set(ValueId of, ValueId by) { by_[of] = by; }
  Argument::Run In(Argument::Run arguments);
  // In what the program returns, and what it differentiates.
  void InOutputs();

 private:
  void In(Argument& argument);

  Program& program_;
  std::map<ValueId, ValueId> by_;
};

}  // namespace steelyard
