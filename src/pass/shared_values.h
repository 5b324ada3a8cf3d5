// SPDX-License-Identifier: Apache-2.0
//
// What of a program's tensors one of several processes has.
#pragma once

#include <map>

#include "ops/parallel/placement.h"
#include "pass/model_outputs.h"
#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard {

// What of a tensor this process has: without a word, the whole.
struct Held {
  bool is_part = false;
  int dim = 0;  // of a part: along the sequence; -1: of features, or of heads that are made of them
  bool is_distributed = false;  // as a DTensor
};

// Whether a tensor comes in that placement.
bool Fits(const Held& held, const ops::Placement& placement);

class SharedValues {
 public:
  explicit SharedValues(Program& program) : program_(program), replaced_(program) {}

  // Sizes of wholes, as operators' rows find them, where the program does not say them.
  Status FindSizes(const Target& target);

  Held HeldOf(ValueId id) const;
  void Set(ValueId id, const Held& held) { held_[id] = held; }
  // The same of what a node gives, whose sizes in the file are those of wholes.
  void Mark(const Node& node, const Held& held);
  // The sizes of the whole of which a tensor is a part; null where they are not known.
  const Dims* FindWhole(ValueId id) const;
  Dims WholeOf(ValueId id) const;

  // Nodes that follow take `by` for `of`.
  void Replace(ValueId of, ValueId by);
  ValueId Now(ValueId id) const;
  Argument::Run Now(Argument::Run arguments) { return replaced_.In(arguments); }

  Argument Text(const ops::Placement& placement);

 private:
  Program& program_;
  std::map<ValueId, Held> held_;
  std::map<ValueId, Dims> sizes_;  // of wholes
  Replacements replaced_;
  std::map<ValueId, ValueId> by_;
};

}  // namespace steelyard
