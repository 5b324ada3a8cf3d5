// SPDX-License-Identifier: Apache-2.0
//
// Where the steps of a program end.
#pragma once

#include <cstdint>
#include <vector>

#include "record/recording.h"
#include "record/watched.h"

namespace steelyard {

// The times at which steps end, and how that is known.
struct StepBoundaries {
  StepBoundary kind = StepBoundary::kNone;
  std::vector<std::uint64_t> times;  // ticks, ascending
};

// By the first that there is, in the order of StepBoundary.
StepBoundaries FindStepBoundaries(const Recording& recording);

}  // namespace steelyard
