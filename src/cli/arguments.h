// SPDX-License-Identifier: Apache-2.0
//
// From words to the fields of a command's flags.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "steelyard/error.h"

namespace steelyard::cli {

enum class Asked : unsigned char { kRun, kHelp };

// Reads the words after the command's name into `flags`. Says whether help was asked for instead,
// and puts the names of the flags that the words hold into `given` unless it is null. Every error
// is a usage error; a flag that takes one value is refused when it is given twice.
Result<Asked> ReadArguments(const CommandInfo& command, std::span<const Flag> flags,
                            std::span<const std::string> words,
                            std::vector<std::string_view>* given = nullptr);

}  // namespace steelyard::cli
