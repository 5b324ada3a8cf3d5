// SPDX-License-Identifier: Apache-2.0
//
// What the options of a weighing ask of those who read the file and rewrite the program.
#pragma once

#include <string_view>

#include "steelyard/import.h"
#include "steelyard/pass.h"
#include "steelyard/weigh.h"

namespace steelyard {

// The first option that asks for a run; empty where none does.
std::string_view AskedOfRun(const WeighOptions& options);

ImportOptions ImportOf(const WeighOptions& options);
PassOptions PassesOf(const WeighOptions& options);

}  // namespace steelyard
