// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace steelyard::cli {

// Does what the words after the program's name ask for; returns the exit status. What cannot be
// done is told in one line on standard error.
int RunProgram(std::span<const std::string> words);

}  // namespace steelyard::cli
