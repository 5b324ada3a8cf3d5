// SPDX-License-Identifier: Apache-2.0
//
// Where the outcome of a command goes.
#pragma once

#include <string>
#include <string_view>

#include "steelyard/error.h"

namespace steelyard::cli {

// Writes all of `text` to standard output. An error when it does not take it (a full disk).
Status WriteOutput(std::string_view text);

// Writes the file at `path`, which holds `text` and nothing else afterwards.
Status WriteFile(const std::string& path, std::string_view text);

}  // namespace steelyard::cli
