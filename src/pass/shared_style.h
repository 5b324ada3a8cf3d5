// SPDX-License-Identifier: Apache-2.0
//
// How a plan says that processes share a module: in the words of torch.distributed.tensor.parallel.
#pragma once

#include <string>
#include <string_view>

#include "ops/parallel/placement.h"
#include "steelyard/error.h"

namespace steelyard {

struct SharedStyle {
  std::string text;  // as it was written
  // "colwise", "rowwise", "SequenceParallel", "PrepareModuleInput", or "replicated": each process
  // has all of it
  std::string_view name;
  ops::Placement input, output;
  bool local_output = true;  // gives the process's own tensor, not a DTensor

  bool is_sequence() const { return name == "SequenceParallel"; }
  bool prepares() const { return name == "PrepareModuleInput"; }
};

// Reads "colwise", "ColwiseParallel()", "rowwise(output_layouts=Shard(1))",
// "SequenceParallel(sequence_dim=1)" or "PrepareModuleInput(input_layouts=(Shard(1), None),
// desired_input_layouts=(Replicate(), None))". `output` of the last is its desired input.
Result<SharedStyle> ReadSharedStyle(std::string_view text);

}  // namespace steelyard
