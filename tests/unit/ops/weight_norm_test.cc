// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(WeightNorm, KeepsTheNormOfTheFirstOrLastDimension) {
  EXPECT_THAT(EventsOf("aten::_weight_norm(f32[3,4,5], f32[3,1,1])"),
              ElementsAre(Line(3 * 4 * 5 * 4, "empty"), Line(3 * 4, "empty_strided"),
                          Line(-3 * 4, "_weight_norm")));
  EXPECT_EQ(ResultOf("aten::norm_except_dim(f32[3,4,5], 2, 1)"), "f32[1,4,1]");
}

TEST(Renorm, NormsOfHalfPrecisionAreCastTwice) {
  EXPECT_THAT(EventsOf("aten::renorm(f32[4,3,2], 2, 1, 1.0)"),
              ElementsAre(Line(4 * 3 * 2 * 4, "renorm"), Line(3 * 4, "linalg_vector_norm"),
                          Line(-3 * 4, "renorm")));
  EXPECT_EQ(EventsOf("aten::renorm(bf16[4,3,2], 2, 1, 1.0)").size(), 9U);
  EXPECT_THAT(RefusalOf("aten::renorm(f32[4], 2, 0, 1.0)"), HasSubstr("two dimensions"));
}

}  // namespace
}  // namespace steelyard
