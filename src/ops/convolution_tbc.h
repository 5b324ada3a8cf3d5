// SPDX-License-Identifier: Apache-2.0
//
// Convolutions over time of sequences that lie time, batch, channels.
#pragma once

#include <vector>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops::convolve {

std::vector<Tensor> OverTime(Dispatcher& d, const OpView& op);
std::vector<Tensor> OverTimeBackward(Dispatcher& d, const OpView& op);

}  // namespace steelyard::ops::convolve
