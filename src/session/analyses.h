// SPDX-License-Identifier: Apache-2.0
//
// What the analyses found: the part of a `Weighing` that only reports read.
#pragma once

#include <optional>
#include <vector>

#include "analyze/casts.h"
#include "analyze/classes.h"
#include "analyze/device_memory.h"
#include "analyze/kinds.h"
#include "analyze/modules.h"
#include "analyze/parameters.h"
#include "analyze/peak.h"
#include "analyze/training_state.h"
#include "analyze/work.h"
#include "memory/allocator.h"
#include "runtime/graph.h"

namespace steelyard {

struct Analyses {
  ParameterReport parameters;
  WorkReport work;  // Names operators by the texts of the kernel program, which may be moved but
                    // not copied.
  PeakReport peak;
  std::optional<CastReport> casts;  // of mixed precision
  TrainingState training;
  std::vector<KindReport> kinds;
  MemoryUse memory;                          // what the device's allocator takes for it
  std::optional<DeviceMemoryReport> device;  // of a device whose allocator keeps what is freed
  std::optional<PeakReport> moment;          // Where somebody asked for one.
  std::vector<ModuleReport> modules;
  std::vector<ClassReport> classes;
  std::vector<WorkReport> counts;  // in every convention, if they are compared
  std::optional<GraphRun> graph;   // Of the graph runtime; its program and timeline are moved on.
};

}  // namespace steelyard
