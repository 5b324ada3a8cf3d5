// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Logical, GivesBoolInTheOrderOfTheOperand) {
  EXPECT_EQ(ResultOf("aten::logical_not(f32[8,2]{1,8})"), "bool[8,2]{1,8}");
  EXPECT_EQ(WorkOf("aten::logical_and(bool[8], bool[8])").alu, Count(8));
}

// The operator that writes into an argument frees what it was computed in.
TEST(Logical, ANarrowerTensorGetsTheResultThroughABuffer) {
  constexpr int kWide = 2 * 8 * 4;
  EXPECT_THAT(EventsOf("aten::logical_or_(i32[2,8], f32[2,8])"),
              ElementsAre(Line(kWide, "empty"), Line(kWide, "empty_strided"),
                          Line(-kWide, "logical_or"), Line(-kWide, "logical_or")));
  EXPECT_THAT(EventsOf("aten::logical_or_(bool[2,8], bool[8])"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
