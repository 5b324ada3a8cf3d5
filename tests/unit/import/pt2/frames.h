// SPDX-License-Identifier: Apache-2.0
//
// Lines of Python, as a trace in a file has them.
#pragma once

#include <string>
#include <string_view>

namespace steelyard::pt2 {

inline std::string Frame(int line, std::string_view code, std::string_view function = "forward") {
  return "File \"net.py\", line " + std::to_string(line) + ", in " + std::string(function) +
         "\n    " + std::string(code) + "\n  ";
}

}  // namespace steelyard::pt2
