// SPDX-License-Identifier: Apache-2.0

#include "pass/outline.h"

#include <gmock/gmock.h>

#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "ir/verify.h"
#include "parsed.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// A block of two operators, one of no block, and a block again.
Program TwoCalls() {
  return ParseText(R"(module "": Net
module block: Block
parameter %v: f32[8,8] "block.weight"
input %x: f32[2,8]
%a: f32[2,8] = aten::linear(%x, %v) in block
%b: f32[2,8] = aten::tanh(%a) in block
%c: f32[2,8] = aten::relu(%b)
%d: f32[2,8] = aten::linear(%c, %v) in block
return %d
)",
                   "")
      .value();
}

std::vector<CallNodes> CallsOfBlock(const Program& program) {
  return CallNodesOf(program, {false, true}, "--of").value();
}

TEST(Outline, ARegionIsACallOfAModule) {
  const std::vector<CallNodes> regions = CallsOfBlock(TwoCalls());
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].module, 1u);
  EXPECT_EQ(regions[0].first, 0u);
  EXPECT_EQ(regions[0].last, 1u);
  EXPECT_EQ(regions[1].first, 3u);
}

TEST(Outline, AnOperatorRunsTheGraphWithItsOption) {
  Program program = TwoCalls();
  const std::vector<CallNodes> regions = CallsOfBlock(program);
  Outline(program, regions, "steelyard::run_shard_unit", [](const CallNodes& region) {
    return Argument::OfInt(static_cast<std::int64_t>(region.first));
  });
  EXPECT_TRUE(Verify(program));
  EXPECT_THAT(Operators(program, 0),
              ElementsAre("steelyard::run_shard_unit", "aten::relu", "steelyard::run_shard_unit"));
  EXPECT_THAT(Operators(program, 1), ElementsAre("aten::linear", "aten::tanh"));
  const std::span<const Argument> args = program.args(program.main().nodes.back());
  ASSERT_EQ(args.size(), 5u);  // graph, inputs, option, %c, %v
  EXPECT_EQ(args[1].dim.number(), 1);
  EXPECT_EQ(args[2].dim.number(), 3);
}

}  // namespace
}  // namespace steelyard
