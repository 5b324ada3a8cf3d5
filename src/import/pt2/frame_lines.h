// SPDX-License-Identifier: Apache-2.0
//
// The lines of Python that a node was made under, and what a line says of the names it assigns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
  // The number of a trace that has what these have in common, the outermost functions at the line
  // where all of them are.
  std::uint32_t Common(std::span<const std::uint32_t> traces);
  // Its lines, the outermost function's first.
  std::span<const Line> of(std::uint32_t trace) const;

 private:
  std::vector<Line> lines_;
  std::vector<std::size_t> begins_{0};  // by trace, and the end
};

// The names that a statement gives to what its right side computes, as far as its first line tells:
// "a, b" of "a, b = f(". A line of a dictionary, "\"a\": f(x),", gives what it computes to its key,
// which holds it as a variable does. Empty where it gives none.
std::vector<std::string_view> AssignedNames(std::string_view code);

// Whether what a statement gives to names speaks of `name`: "x = f(x)", "x += y".
bool ReadsName(std::string_view code, std::string_view name);

// Whether a statement says itself which of a list it takes: "self.layers[0](x)".
bool NamesElements(std::string_view code);

// Whether a function returns several things with it: "return a, b(c, d)".
bool ReturnsSeveral(std::string_view code);

// Whether a statement computes several things apart: "a, b = f(x), g(x)".
bool ComputesSeveral(std::string_view code);

}  // namespace steelyard::pt2
