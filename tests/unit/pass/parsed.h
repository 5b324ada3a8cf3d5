// SPDX-License-Identifier: Apache-2.0
//
// Programs to run passes on, and what is in them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/text_reader.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// A program in its text form. Fails the test if it is refused.
inline Program Parsed(std::string_view text) {
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? *std::move(program) : Program();
}

inline std::vector<std::string> Operators(const Program& program, GraphId graph) {
  std::vector<std::string> out;
  for (const Node& node : program.graphs[graph].nodes) out.emplace_back(program.op_name(node.op));
  return out;
}

}  // namespace steelyard
