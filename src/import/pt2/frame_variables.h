// SPDX-License-Identifier: Apache-2.0
//
// How long the variables of a model's `forward` functions hold tensors. The file does not say; but
// it tells of each node under which lines of Python it was made, and these name what they assign.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "steelyard/import.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

// The lines of stack traces: "File "bert.py", line 84, in forward\n    x = self.embed(x)\n ...".
class FrameLines {
 public:
  // Of one function: `function` with its file tells it from others; `code` is the first line of the
  // statement that runs.
  struct Line {
    std::string_view file, function, code;
    std::uint32_t number = 0;
  };

  // The number of a trace, whose lines are read. `trace` must outlive this.
  std::uint32_t Read(std::string_view trace);
  // Its lines, the outermost function's first.
  std::span<const Line> of(std::uint32_t trace) const;

 private:
  std::vector<Line> lines_;
  std::vector<std::size_t> begins_{0};  // by trace, and the end
};

// The names that a statement gives to what its right side computes, as far as its first line tells:
// "a, b" of "a, b = f(". Empty where it gives none.
std::vector<std::string_view> AssignedNames(std::string_view code);

// Adds nodes to the main graph that hold what its functions' variables hold, where that is longer
// than it is used: until the name is given to something else, or the function returns. `traces` has
// the trace of each node, or kNoId. Where it is known what was let go when, that is what counts.
void HoldVariables(Program& program, const FrameLines& lines, std::span<const std::uint32_t> traces,
                   const ModuleFacts* module = nullptr);

}  // namespace steelyard::pt2
