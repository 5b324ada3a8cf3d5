// SPDX-License-Identifier: Apache-2.0
//
// Finds and loads libsteelyard_engine, which is built apart from Steelyard, against one PyTorch.
#pragma once

#include <string>

#include "execute/engine_abi.h"
#include "steelyard/error.h"

namespace steelyard {

// The engine at `path` or, if that is empty, beside the program or library that this code is in. It
// stays loaded as long as the process runs: PyTorch cannot be unloaded. The error says which
// command mends it.
Result<const SyEngine*> LoadEngine(const std::string& path);

// A function of the library that `engine` is in, by its name; an error where it has none such.
Result<void*> FindInEngine(const SyEngine& engine, const char* name);

}  // namespace steelyard
