// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers of a loss stop being finite.
#pragma once

#include "execute/execution.h"
#include "execute/measurement.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// Runs what comes before node `before`, kernel by kernel, looks at all that each makes, and tells
// where the NaN or infinity of `loss` came from: neither where this run's is finite. An infinity
// that a kernel makes finite again, as a mask's are by softmax, is not blamed. Afterwards only
// residents are there.
Result<NotFinite> FindNotFinite(Execution& execution, ValueId loss, NodeId before,
                                const SyRecord& record);

}  // namespace steelyard
