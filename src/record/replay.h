// SPDX-License-Identifier: Apache-2.0
//
// From the events of a record to what the program did.
#pragma once

#include <functional>

#include "record/recording.h"
#include "record/watched.h"

namespace steelyard {

// Whether a call can be weighed as it is; of one that cannot, those inside it are looked at.
using TakesCall = std::function<bool(const RecordedCall& call)>;

Watched Replay(Recording recording, const TakesCall& takes);

}  // namespace steelyard
