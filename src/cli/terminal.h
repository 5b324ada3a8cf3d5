// SPDX-License-Identifier: Apache-2.0
//
// What the place can show to which standard output goes.
#pragma once

#include "steelyard/report.h"

namespace steelyard::cli {

// The terminal's width, colour unless NO_COLOR or TERM=dumb forbids it, and block characters unless
// the locale has none. For a file or a pipe: no colour, no limit of width.
report::RenderOptions StandardOutputLook();

// The same from what the environment says, for tests. Null stands for a variable that is not set.
struct Environment {
  const char* no_color = nullptr;
  const char* term = nullptr;
  const char* columns = nullptr;
  const char* locale = nullptr;  // The first set one of LC_ALL, LC_CTYPE and LANG.
};
// `columns`: of the terminal as it says itself; 0 where it does not.
report::RenderOptions TerminalLook(const Environment& environment, int columns);

}  // namespace steelyard::cli
