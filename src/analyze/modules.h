// SPDX-License-Identifier: Apache-2.0
//
// The module tree with what each module has and does, its children included.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/work.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

struct ModuleReport {
  ModuleId module = 0;          // index into Program::modules
  int depth = 0;                // 0: the model
  std::int64_t parameters = 0;  // elements, tied tensors at their first name
  std::int64_t parameter_bytes = 0;
  std::int64_t buffer_bytes = 0;
  std::vector<std::string_view> dtypes;  // or packings, of its parameters, most bytes first
  std::int64_t calls = 0;                // of operators inside it
  std::int64_t unmodelled = 0;           // of them, those that its work leaves out
  std::int64_t activation_bytes = 0;     // results of its operators, allocated in the step
  NodeWork work;
};

// Modules in the order of the tree: a module, then its children in the order of the program.
// Parameters belong to the module that their name says, and to its ancestors.
std::vector<ModuleReport> CountModules(const Program& imported, const Program& kernels,
                                       const WorkReport& work, const Timeline& timeline);

}  // namespace steelyard
