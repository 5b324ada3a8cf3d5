// SPDX-License-Identifier: Apache-2.0
//
// From the events of a record to what the program did.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "record/memory_log.h"
#include "record/recording.h"
#include "record/watched.h"

namespace steelyard {

// What is known of a call as it is; of one of which nothing is, those inside it are looked at.
enum class CallIs : std::uint8_t {
  kUnknown,
  kIdle,     // a view, an allocation: what it is in may compute all the same
  kWorking,  // it computes
};
using TakesCall = std::function<CallIs(const RecordedCall& call)>;

Watched Replay(Recording recording, const TakesCall& takes);

// From now on all that was recorded is one step.
void MakeOneStep(Recording& recording);

// All that memory did, from the beginning to the end.
std::vector<MemoryMoment> ReplayMemory(Recording recording);

}  // namespace steelyard
