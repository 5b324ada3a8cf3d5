// SPDX-License-Identifier: Apache-2.0

#include "pass/shared_values.h"

#include <gmock/gmock.h>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(SharedValues, PartsComeAsTheirPlacementSays) {
  EXPECT_TRUE(Fits({}, ops::kReplicate));
  EXPECT_TRUE(Fits({.is_part = true, .dim = 1}, ops::ShardOf(1)));
  EXPECT_FALSE(Fits({.is_part = true, .dim = -1}, ops::ShardOf(1)));
  EXPECT_FALSE(Fits({}, ops::ShardOf(0)));
}

TEST(SharedValues, SizesOfWholesAreKept) {
  Program program =
      ParseText("input %x: f32[2,8]\n%y: f32[2,8] = aten::relu(%x)\nreturn %y\n", "").value();
  SharedValues values(program);
  const Node& node = program.main().nodes[0];
  const ValueId x = program.main().inputs[0], y = program.results(node)[0];
  values.Mark(node, {.is_part = true, .dim = -1});
  EXPECT_FALSE(program.values[y].has_layout);
  EXPECT_THAT(values.WholeOf(y), ElementsAre(2, 8));
  EXPECT_TRUE(values.HeldOf(y).is_part);
  EXPECT_FALSE(values.HeldOf(x).is_part);
  EXPECT_EQ(values.FindWhole(x), nullptr);
  values.Replace(x, y);
  EXPECT_EQ(values.Now(x), y);
  EXPECT_EQ(values.Now(y), y);
}

}  // namespace
}  // namespace steelyard
