// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Histogram, HasOneLimitMoreThanBins) {
  EXPECT_EQ(ResultOf("aten::histogram.bin_ct(f32[3,4], 8)", 1), "f32[9]");
  EXPECT_THAT(EventsOf("aten::histogram.bins_tensor(f32[3,4], f32[5])"),
              ElementsAre(Line(5 * 4, "histogram"), Line(4 * 4, "histogram"), Line(4 * 4, "empty"),
                          Line(-4 * 4, "histogram")));
}

// Without a size in the file there are as many bins as the call asks for.
TEST(Bincount, BinsAreAsManyAsAskedFor) {
  EXPECT_EQ(ResultOf("aten::bincount(i64[8], None, 5)"), "i64[5]");
  EXPECT_EQ(ResultOf("aten::bincount(i64[8], f32[8], 5)"), "f32[5]");
}

TEST(Histc, NeedsEdgesAndCounts) {
  EXPECT_THAT(EventsOf("aten::histc(f32[100], 8, 0, 7)"),
              ElementsAre(Line(9 * 4, "histc"), Line(8 * 4, "histc"), Line(8 * 4, "empty"),
                          Line(-8 * 4, "histc"), Line(-9 * 4, "histc")));
  // Equal limits stand for the least and the largest element.
  EXPECT_THAT(EventsOf("aten::histc(f32[100], 8)"), Contains(Line(4, "aminmax")));
  EXPECT_THAT(RefusalOf("aten::histc(f32[100], 0)"), HasSubstr("0 bins"));
}

}  // namespace
}  // namespace steelyard
