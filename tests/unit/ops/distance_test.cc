// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Cdist, FewRowsAreComparedOneByOne) {
  constexpr std::string_view kCall = "aten::cdist(f32[5,4], f32[7,4])";
  EXPECT_EQ(ResultOf(kCall), "f32[5,7]");
  EXPECT_EQ(WorkOf(kCall).mac, Count(0));
  EXPECT_EQ(WorkOf(kCall).special, Count(5 * 7));
}

TEST(Cdist, ManyRowsAreMultiplied) {
  // [-2a, |a|^2, 1] with [b, 1, |b|^2]: two columns more.
  EXPECT_EQ(WorkOf("aten::cdist(f32[26,4], f32[7,4])").mac, Count(26 * 7 * (4 + 2)));
  EXPECT_THAT(RefusalOf("aten::cdist(f32[26,4], f32[7,3])"), HasSubstr("4 vs 3"));
}

TEST(Distances, ReduceTheLastDimension) {
  EXPECT_EQ(ResultOf("aten::pairwise_distance(f32[5,4], f32[4], keepdim=True)"), "f32[5,1]");
  EXPECT_EQ(ResultOf("aten::cosine_similarity(f32[2,8], f32[8])"), "f32[2]");
  EXPECT_THAT(RefusalOf("aten::cosine_similarity(i64[2,8], i64[8])"), HasSubstr("floating-point"));
}

TEST(Renorm, NormsOfHalfPrecisionAreCastTwice) {
  EXPECT_THAT(EventsOf("aten::renorm(f32[4,3,2], 2, 1, 1.0)"),
              ElementsAre(Line(4 * 3 * 2 * 4, "renorm"), Line(3 * 4, "linalg_vector_norm"),
                          Line(-3 * 4, "renorm")));
  EXPECT_EQ(EventsOf("aten::renorm(bf16[4,3,2], 2, 1, 1.0)").size(), 9U);
  EXPECT_THAT(RefusalOf("aten::renorm(f32[4], 2, 0, 1.0)"), HasSubstr("two dimensions"));
}

TEST(WeightNorm, KeepsTheNormOfTheFirstOrLastDimension) {
  EXPECT_THAT(EventsOf("aten::_weight_norm(f32[3,4,5], f32[3,1,1])"),
              ElementsAre(Line(3 * 4 * 5 * 4, "empty"), Line(3 * 4, "empty_strided"),
                          Line(-3 * 4, "_weight_norm")));
  EXPECT_EQ(ResultOf("aten::norm_except_dim(f32[3,4,5], 2, 1)"), "f32[1,4,1]");
}

}  // namespace
}  // namespace steelyard
