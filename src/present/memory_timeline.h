// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "document/memory_timeline.h"
#include "record/memory_log.h"
#include "record/recording.h"

namespace steelyard::present {

// `clock` is the recording from which the history is: it says when its ticks were.
report::MemoryTimeline PresentMemory(const std::vector<MemoryMoment>& history,
                                     const Recording& clock);

}  // namespace steelyard::present
