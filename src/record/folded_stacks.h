// SPDX-License-Identifier: Apache-2.0
//
// Time by the functions around it, in the form from which flame graphs are drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/spans.h"

namespace steelyard {

struct FoldedStack {
  std::string frames;  // "train.py(3):_step;net.py(9):_forward;aten::mm": the outermost first
  std::int64_t microseconds = 0;
};

enum class StackTime : std::uint8_t {
  kProcessor,
  kDevice,  // of what was asked for
};

// What operators, nodes and ranges took themselves, by name and the functions around them; less
// than a microsecond is left out, and so is what no function is around. In the order of the text.
std::vector<FoldedStack> FoldStacks(const Spans& spans, StackTime time = StackTime::kProcessor);

}  // namespace steelyard
