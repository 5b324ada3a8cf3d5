// SPDX-License-Identifier: Apache-2.0
//
// Calls of all modules, one within another, as stretches of the main graph's nodes.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// `inputs` are tensors that it takes from outside, in the order of their first use, but for
// parameters and buffers; `outputs` what later nodes use of what it makes, or the program returns.
struct ModuleStretch {
  ModuleId module = 0;
  CallId call = kNoId;              // where the file tells calls apart
  std::size_t first = 0, last = 0;  // nodes
  std::size_t count = 0;            // of these, that say so
  std::vector<ValueId> inputs = {}, outputs = {};
};

// In the order in which they begin, outer ones first; the first is the model's own, of the first
// `count` nodes. What has no module of its own, such as a check, belongs to the calls around it. An
// error, with the flag that asks, where other modules' nodes stand between those of a call.
Result<std::vector<ModuleStretch>> ModuleStretches(const Program& program, std::size_t count,
                                                   std::string_view flag);

}  // namespace steelyard
