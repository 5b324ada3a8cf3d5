// SPDX-License-Identifier: Apache-2.0
//
// The modules of one class at one depth of the tree, summed: which kinds of modules hold the
// parameters and do the work.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/modules.h"
#include "steelyard/program.h"

namespace steelyard {

struct ClassReport {
  int depth = 0;  // 0: the model
  StringId class_name = kNoString;
  int modules = 0;
  std::int64_t parameters = 0;  // elements
  std::int64_t parameter_bytes = 0;
  std::int64_t activation_bytes = 0;
  NodeWork work = {};
};

// By depth; at each depth most work first, then most parameters. Modules of one depth do not
// overlap, so their sums are at most those of the model.
std::vector<ClassReport> CountClasses(const Program& kernels,
                                      const std::vector<ModuleReport>& modules);

}  // namespace steelyard
