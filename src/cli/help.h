// SPDX-License-Identifier: Apache-2.0
//
// What the program says of itself when asked, made from the rows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace steelyard::cli {

// All commands in one screen.
std::string Overview();

// One command with its flags.
std::string HelpOf(const CommandInfo& command, std::span<const Flag> flags);

// "steelyard weigh MODEL [OPTION...]".
std::string UsageOf(const CommandInfo& command, std::span<const Flag> flags);

// "-o, --output FILE".
std::string FlagText(const Flag& flag);

// The phrase of a flag with what it may be and what it is by default.
std::string FlagHelp(const Flag& flag);

}  // namespace steelyard::cli
