// SPDX-License-Identifier: Apache-2.0
//
// A step of one of several processes that each have a part of every parameter, as
// torch.distributed.fsdp.fully_shard (FSDP2) makes it.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Applies fully_shard to the modules that `parallel.units` names, or else to those of the model's
// lists of like modules, and to the model. Parameters become what the first process has of them: of
// their first dimension an even part, rounded up. An error for patterns without modules, for units
// within units, and for parameters that are used outside of their unit.
Result<Program> FullyShard(Program program, const TrainOptions& options);

}  // namespace steelyard
