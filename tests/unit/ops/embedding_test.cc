// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Embedding, FlattensItsIds) {
  EXPECT_EQ(ResultOf("aten::embedding(f32[100,16], i64[3,4])"), "f32[3,4,16]");
  EXPECT_THAT(NodesOf("aten::embedding(f32[100,16], i64[4])"), ElementsAre("index_select"));
  EXPECT_THAT(EventsOf("aten::embedding(f32[100,16], i64[3,4]{0,1})"),
              ElementsAre(Line(3 * 4 * 8, "empty"), Line(3 * 4 * 16 * 4, "index_select"),
                          Line(-3 * 4 * 8, "embedding")));
  EXPECT_THAT(RefusalOf("aten::embedding(f32[100], i64[3,4])"),
              HasSubstr("weight has 1 dimensions, not 2"));
}

TEST(OneHot, NeedsTheNumberOfClasses) {
  EXPECT_EQ(ResultOf("aten::one_hot(i64[2,4], 5)"), "i64[2,4,5]");
  EXPECT_THAT(RefusalOf("aten::one_hot(i64[2,4])"), HasSubstr("must be given"));
}

TEST(Embedding, RowsAreScaledOneAfterTheOther) {
  EXPECT_THAT(EventsOf("aten::embedding_renorm_(f32[20,8], i64[5], 1.0, 2.0)"),
              ElementsAre(Line(4, "norm"), Line(-4, "embedding_renorm_")));
  EXPECT_EQ(WorkOf("aten::embedding_renorm_(f32[20,8], i64[5], 1.0, 2.0)").alu, Count(2 * 5 * 8));
}

}  // namespace
}  // namespace steelyard
