// SPDX-License-Identifier: Apache-2.0
//
// How large a model is that nobody has given sizes of inputs yet.
#pragma once

#include <cstdint>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

struct LearnedSize {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

// The floating-point numbers of a program's parameters, tied ones once, as an importer gave it.
Result<LearnedSize> LearnedSizeOf(const Program& program);

}  // namespace steelyard
