// SPDX-License-Identifier: Apache-2.0
//
// What every reader says of a file that the system does not give it.
#pragma once

#include <string>

#include "steelyard/error.h"

namespace steelyard {

// `what` is the system's own reason, where it gives one.
inline Error CannotBeRead(const std::string& path, const std::string& what = {}) {
  return InvalidInput(
      "the file cannot be read" + (what.empty() ? "" : ": " + what), path,
      "Is it still there, on a disk that answers, and may you read it (chmod u+r)?");
}

}  // namespace steelyard
