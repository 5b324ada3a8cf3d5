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
  EXPECT_THAT(NodesOf("aten::dist(f32[3,4], f32[3,4])"),
              ElementsAre("sub.Tensor", "norm.ScalarOpt_dim", "drop"));
  EXPECT_THAT(RefusalOf("aten::cosine_similarity(i64[2,8], i64[8])"), HasSubstr("floating-point"));
}

}  // namespace
}  // namespace steelyard
