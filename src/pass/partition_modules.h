// SPDX-License-Identifier: Apache-2.0
//
// A model whose modules gather their parameters as they are called, as stage 3 of DeepSpeed's ZeRO
// does.
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// Leaves of each parameter this process's part, and puts calls of the engine's hooks around those
// of modules. Refuses parameters that another module uses than has them.
Result<Program> PartitionModules(Program program, const TrainOptions& options);

}  // namespace steelyard
