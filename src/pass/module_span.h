// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// The nodes of the main graph in which one call of a module runs, its members' included.
struct ModuleSpan {
  std::size_t first = 0, last = 0;
  std::vector<ValueId> taken =
      {};  // tensors of other nodes, or of the model's caller, in order of use
  std::vector<ValueId> given = {};  // tensors that other nodes take, or the model's caller
};

// Nothing where no node runs in it, or where others run in between.
std::optional<ModuleSpan> SpanOf(const Program& program, ModuleId module);

bool IsInModule(const Program& program, ModuleId inner, ModuleId module);

}  // namespace steelyard
