// SPDX-License-Identifier: Apache-2.0
#include "pass/causal_bias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "ir/text_printer.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// As transformers' create_position_bias_mask has it: a mask for one example, held until the bias is
// in one piece.
TEST(CausalBias, ACallMakesAMaskOfItsOwn) {
  Result<Program> program = ParseText(
      "input %m: bool[2,1,8,8]\ninput %b: f32[1,4,8,8]\n"
      "%w: f32[2,4,8,8] = aten::where.ScalarOther(%m, %b, -1e30)\n"
      "%c: f32[2,4,8,8] = aten::contiguous(%w)\nreturn %c\n",
      "");
  ASSERT_TRUE(program) << Describe(program.error());
  const std::vector<ValueId> masks = ReadCausalMasks(*program, std::array{NodeId{0}});
  ASSERT_EQ(masks.size(), 1U);
  EXPECT_EQ(program->sizes(masks[0])[0], 1);
  MakeCausalMasks(*program, masks);
  std::vector<std::string> ops;
  for (const Node& node : program->main().nodes) ops.emplace_back(program->op_name(node.op));
  EXPECT_THAT(ops, ::testing::ElementsAre("aten::arange", "aten::unsqueeze", "aten::arange",
                                          "aten::unsqueeze", "aten::ge.Tensor", "aten::view",
                                          "aten::where.ScalarOther", "aten::contiguous",
                                          "steelyard::leave"));
  EXPECT_THAT(Print(*program), HasSubstr("bool[1,1,8,8]"));
}

TEST(CausalBias, WithoutMasksNothingIsMade) {
  Result<Program> program = ParseText("input %x: f32[8]\n%y = aten::relu(%x)\nreturn %y\n", "");
  ASSERT_TRUE(program);
  MakeCausalMasks(*program, ReadCausalMasks(*program, {}));
  EXPECT_EQ(program->main().nodes.size(), 1U);
}

}  // namespace
}  // namespace steelyard
