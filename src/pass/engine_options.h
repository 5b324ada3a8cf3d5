// SPDX-License-Identifier: Apache-2.0
//
// Options of DeepSpeed's JSON. They are parameters of the row that begins a step of its engine,
// written as they stand there, so that a new one needs nothing here.
#pragma once

#include <string_view>
#include <vector>

#include "ops/op_def.h"
#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// The row that begins a step.
std::string_view EnterOf(const TrainOptions& options);

struct EngineOptions {
  std::vector<Param> params = {};            // that there are
  std::vector<Argument> given = {};          // by name
  std::vector<std::string_view> names = {};  // of these
  // As it is given, else as the engine has it itself. Requires: there is such an option.
  Argument Named(std::string_view name) const;
};

// Those that are given for a step; refuses others than there are.
Result<EngineOptions> ReadEngineOptions(Program& program, const TrainOptions& train);

}  // namespace steelyard
