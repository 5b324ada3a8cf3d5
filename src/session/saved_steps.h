// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "execute/contents.h"
#include "execute/engine_abi.h"
#include "session/run.h"
#include "steelyard/error.h"

namespace steelyard {

// Runs the steps that `running` asks for and writes what they have computed to its file.
Status SaveSteps(const SyEngine& engine, const Sources& sources, const Running& running);

}  // namespace steelyard
