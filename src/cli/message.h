// SPDX-License-Identifier: Apache-2.0
//
// What goes to standard error: always exactly one line.
#pragma once

#include <string>
#include <string_view>

#include "steelyard/error.h"

namespace steelyard::cli {

// Exit statuses, one for each kind of outcome.
inline constexpr int kDone = 0;
inline constexpr int kRefused = 1;  // The input.
inline constexpr int kMisused = 2;  // The question.
inline constexpr int kDefect = 70;  // Ours. As EX_SOFTWARE of sysexits.h.

int ExitStatusOf(ErrorCode code);

// Returns "steelyard: where: message. hint" and a newline. Names come from files and may hold
// anything: control characters become spaces, and what is absurdly long is cut. Of a hint that
// shows the place on further lines, the first line is told.
std::string ErrorLine(const Error& error);

}  // namespace steelyard::cli
