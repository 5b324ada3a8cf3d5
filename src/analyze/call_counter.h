// SPDX-License-Identifier: Apache-2.0
//
// Conventions that count calls as the model makes them and not the kernels that these run.
#pragma once

#include <vector>

#include "analyze/counting.h"
#include "analyze/work.h"
#include "steelyard/program.h"

namespace steelyard {

// Fills in `flops`, `beside` and `missed` of `by_node`, one for each node of `kernels`, the other
// columns of which are there already. A call is counted at the first kernel that it runs.
// Requires: the convention counts calls.
void CountCallsAs(const Convention& convention, const Program& imported, const Program& kernels,
                  WorkByNode& by_node);

}  // namespace steelyard
