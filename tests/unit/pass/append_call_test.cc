// SPDX-License-Identifier: Apache-2.0

#include "pass/append_call.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parsed.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

TEST(AppendCall, AddsANodeAtTheEnd) {
  Program program = Parsed("input %x: f32[2,3]\nreturn %x\n");
  const ValueId result = AddResult(program, "y", DType::kFloat32, program.sizes(program.inputs[0]));
  const Argument x = Argument::OfValue(program.inputs[0]);
  AppendCall(program, "aten::tanh", {&x, 1}, {&result, 1}, Phase::kLoss);
  ASSERT_EQ(program.main().nodes.size(), 1u);
  const Node& node = program.main().nodes[0];
  EXPECT_EQ(program.op_name(node.op), "aten::tanh");
  EXPECT_EQ(node.phase, Phase::kLoss);
  EXPECT_EQ(program.text(program.values[program.results(node)[0]].name), "y");
}

}  // namespace
}  // namespace steelyard
