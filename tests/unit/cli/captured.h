// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steelyard::cli {

// What a run of the program did.
struct Captured {
  int status = 0;
  std::string out;
  std::string err;
};

// Runs the program within this process: `words` are those after its name.
Captured RunCaptured(const std::vector<std::string>& words);

}  // namespace steelyard::cli
