// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/message.h"
#include "cli/program.h"

namespace {

// A failed assertion has said what is wrong, in one line; this gives it its exit status.
extern "C" void ExitAsDefect(int) { _exit(steelyard::cli::kDefect); }

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, ExitAsDefect);
  const int given = argc > 0 ? 1 : 0;  // Whoever started it may have left out even the name.
  return steelyard::cli::RunProgram(std::vector<std::string>(argv + given, argv + argc));
}
