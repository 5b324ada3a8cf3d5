// SPDX-License-Identifier: Apache-2.0
//
// What a program in text form becomes, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {

inline Result<Program> RunText(std::string_view text) {
  Result<Program> program = ParseText(text, "test.syt");
  EXPECT_TRUE(program) << Describe(program.error());
  return Dispatcher(*program, Target{}).Run();
}

inline std::vector<std::string> Names(const Program& program) {
  std::vector<std::string> out;
  for (const Node& node : program.main().nodes) out.emplace_back(program.op_name(node.op));
  return out;
}

// Of the i-th output.
inline std::vector<std::int64_t> SizesOfOutput(const Program& program, std::size_t i = 0) {
  const auto sizes = program.sizes(program.main().outputs[i].value);
  return {sizes.begin(), sizes.end()};
}

inline std::vector<std::string> Notes(const Program& program) {
  std::vector<std::string> out;
  for (const StringId note : program.notes) out.emplace_back(program.text(note));
  return out;
}

}  // namespace steelyard
