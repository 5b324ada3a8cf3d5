// SPDX-License-Identifier: Apache-2.0
//
// Calls of modules as graphs of their own, which one operator runs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// A region: the nodes of one call of a module in the main graph, which stand together.
struct CallNodes {
  ModuleId module = 0;
  std::size_t first = 0, last = 0;
};

// Each call of a module that `named` has, by module, and that is not within another such call. An
// error, with the flag that named them, where other modules' nodes stand between those of a call.
Result<std::vector<CallNodes>> CallNodesOf(const Program& program, const std::vector<bool>& named,
                                           std::string_view flag);

// That there is no such call, of the modules that `flag` named.
Error NothingRunsIn(std::string_view flag);

// Moves each region into a graph that `op` runs in its place. Arguments of the call: the graph, how
// many of the operands are the module's arguments, `option`, and the operands: tensors from outside
// in the order of their first use, then parameters and buffers. Its results are what later nodes
// use.
void Outline(Program& program, std::span<const CallNodes> regions, std::string_view op,
             const std::function<Argument(const CallNodes&)>& option);

}  // namespace steelyard
