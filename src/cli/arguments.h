// SPDX-License-Identifier: Apache-2.0
//
// From words to the fields of a command's flags.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"
#include "steelyard/error.h"

namespace steelyard::cli {

enum class Asked : unsigned char { kRun, kHelp };

// Reads the words after the command's name into `flags`. Says whether help was asked for instead.
// Every error is a usage error.
Result<Asked> ReadArguments(const CommandInfo& command, std::span<const Flag> flags,
                            std::span<const std::string> words);

}  // namespace steelyard::cli
