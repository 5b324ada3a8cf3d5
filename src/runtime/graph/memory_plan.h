// SPDX-License-Identifier: Apache-2.0
//
// The memory of steps in an order: which buffers each makes, and after which each is free. Views
// and fields take none; an overwritten tensor keeps its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/steps.h"
#include "steelyard/op.h"

namespace steelyard::graph {

inline constexpr std::uint32_t kNoBuffer = 0xffffffffu;

struct Buffer {
  std::int64_t bytes = 0;
  ValueId value = kNoId;
  std::uint32_t made = 0;  // by this step
  std::uint32_t last = 0;  // the last step that needs it
  bool kept = false;       // the caller's, at the end
};

struct MemoryPlan {
  std::vector<Buffer> buffers;                           // in the order in which they are made
  std::vector<std::vector<std::uint32_t>> of_call;       // by call and result
  std::vector<std::vector<std::uint32_t>> used_by_step;  // operands and results, each once
  std::vector<std::int64_t> workspace;                   // by step: bytes while it runs
};

MemoryPlan PlanMemory(const CallGraph& graph, std::span<const Step> steps, const Target& target);

// The most that is held at any step, and the most that any one step holds by itself: what no order
// of these steps can do without. Bytes, without what is resident.
struct Extent {
  std::int64_t peak = 0;
  std::int64_t bound = 0;
};
Extent ExtentOf(const MemoryPlan& plan, std::span<const Step> steps);

// By step: the bytes it allocates less those that are free after it.
std::vector<std::int64_t> Growth(const MemoryPlan& plan, std::span<const Step> steps);

}  // namespace steelyard::graph
