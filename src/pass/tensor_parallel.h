// SPDX-License-Identifier: Apache-2.0
//
// Layers that several processes share, seen from one of them.
#pragma once

#include "steelyard/pass.h"

namespace steelyard {

// Leaves of the parameters of the layers that `parallel.plan` names what one process has after
// torch.distributed.tensor.parallel.parallelize_module, runs these layers as their styles say, and
// gives views behind them the sizes of parts. Refuses what PyTorch would, and what of a step is not
// known to the byte there. Requires: concrete; `SharesLayers` of the options.
Result<Program> ShareLayers(Program program, const PassOptions& options);

}  // namespace steelyard
