// SPDX-License-Identifier: Apache-2.0
//
// What a user types to export a model once more, with a batch that is open.
#pragma once

#include <string>

#include "steelyard/program.h"

namespace steelyard {

// Two lines of Python for a model that was called with `args` and `kwargs`, in a sentence.
std::string ExportWithBatch(const Program& program);

}  // namespace steelyard
