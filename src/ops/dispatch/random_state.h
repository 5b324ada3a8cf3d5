// SPDX-License-Identifier: Apache-2.0
//
// What torch.utils.checkpoint keeps so that a region draws the same numbers when it runs again.
#pragma once

#include "ops/dispatch/dispatcher.h"

namespace steelyard {

// Where random numbers are: torch.get_rng_state(), a tensor of the host's, whatever the program
// runs on. So is what torch.cuda.get_rng_state() gives, which has no record here.
Tensor RandomState(Dispatcher& dispatcher);

}  // namespace steelyard
