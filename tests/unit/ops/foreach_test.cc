// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Foreach, IsALoopOverTheOperatorForOneTensor) {
  EXPECT_THAT(NodesOf("aten::_foreach_sqrt([f32[2,8], f32[3]])"), ElementsAre("sqrt", "sqrt"));
  EXPECT_THAT(EventsOf("aten::_foreach_sqrt([f32[2,8], f32[3]])"),
              ElementsAre(Line(2 * 8 * 4, "sqrt"), Line(3 * 4, "sqrt")));
  EXPECT_EQ(ResultOf("aten::_foreach_sqrt([f32[2,8], f32[3]])", 1), "f32[3]");
}

TEST(Foreach, OfEveryListItTakesTheElement) {
  EXPECT_THAT(NodesOf("aten::_foreach_addcdiv_.ScalarList([f32[2], f32[3]], [f32[2], f32[3]], "
                      "[f32[2], f32[3]], [0.5, 1.5])"),
              ElementsAre("addcdiv_", "addcdiv_", "drop", "drop"));
}

TEST(Foreach, BoxesItsNumberForEach) {
  EXPECT_THAT(
      EventsOf("aten::_foreach_mul_.Scalar([f32[2], f32[3]], 0.5)"),
      ElementsAre(Line(8, "mul_"), Line(4, "empty_strided"), Line(-4, "mul"), Line(-8, "mul_"),
                  Line(8, "mul_"), Line(4, "empty_strided"), Line(-4, "mul"), Line(-8, "mul_")));
}

TEST(Foreach, ListsAreOfOneLength) {
  EXPECT_THAT(RefusalOf("aten::_foreach_mul.List([f32[2], f32[3]], [f32[2]])"),
              HasSubstr("not of one length"));
  EXPECT_THAT(RefusalOf("aten::_foreach_sqrt([])"), HasSubstr("no tensors"));
}

TEST(Fused, AllocatesNothingAndWritesAllButTheGradients) {
  const std::string_view call =
      "aten::_fused_sgd_([f32[2,8]], [f32[2,8]], [f32[2,8]], weight_decay=0.0, momentum=0.9, "
      "lr=0.1, dampening=0.0, nesterov=False, maximize=False, is_first_step=False)";
  EXPECT_THAT(EventsOf(call), IsEmpty());
  EXPECT_EQ(TrafficOf(call).read, Count(3 * 2 * 8 * 4));
  EXPECT_EQ(TrafficOf(call).written, Count(2 * 2 * 8 * 4));
}

}  // namespace
}  // namespace steelyard
