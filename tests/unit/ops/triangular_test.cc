// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Triangular, TrianglesHaveRowsAndColumns) {
  EXPECT_EQ(ResultOf("aten::tril_indices(4, 3)"), "i64[2,9]");      // 1 + 2 + 3 + 3
  EXPECT_EQ(ResultOf("aten::triu_indices(4, 3, 1)"), "i64[2,3]");   // 2 + 1
  EXPECT_EQ(ResultOf("aten::tril_indices(2, 5, -1)"), "i64[2,1]");  // 0 + 1
}

TEST(Triangular, BatchesWithGapsAreCopied) {
  EXPECT_THAT(EventsOf("aten::tril(f32[2,3,3])"), ElementsAre(Line(2 * 9 * 4, "tril")));
  EXPECT_THAT(
      EventsOf("aten::tril(f32[2,3,3]{18,3,1})"),
      ElementsAre(Line(2 * 9 * 4, "tril"), Line(2 * 9 * 4, "empty"), Line(-2 * 9 * 4, "tril")));
  EXPECT_THAT(RefusalOf("aten::triu_(f32[3])"), HasSubstr("a matrix is needed"));
}

}  // namespace
}  // namespace steelyard
