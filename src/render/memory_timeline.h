// SPDX-License-Identifier: Apache-2.0
//
// The three files that PyTorch's profiler writes of memory over time.
#pragma once

#include <string>

#include "document/memory_timeline.h"

namespace steelyard::render {

// [times, sizes]: microseconds, and of each a 0 and the bytes of the categories in their order.
std::string MemoryTimelineJson(const report::MemoryTimeline& timeline);

// [nanoseconds, action, bytes, category] of each change; 1: there before, 2: made, 4: freed.
std::string MemoryChangesJson(const report::MemoryTimeline& timeline);

// A page with the sizes drawn one above the other. Needs no other file.
std::string MemoryTimelineHtml(const report::MemoryTimeline& timeline);

}  // namespace steelyard::render
