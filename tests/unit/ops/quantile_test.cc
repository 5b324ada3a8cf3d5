// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Quantile, FewRanksArePickedOutAndManyAreSorted) {
  // Of 8 elements two ranks are picked, as 2 * 2 <= 8; of 3 none.
  EXPECT_THAT(NodesOf("aten::quantile.scalar(f32[2,8], 0.5, 1)"), Not(Contains("sort")));
  EXPECT_THAT(NodesOf("aten::quantile.scalar(f32[2,3], 0.5, 1)"), Contains("sort"));
  EXPECT_EQ(ResultOf("aten::quantile(f32[2,8], f32[3], 1)"), "f32[3,2]{1,3}");
  EXPECT_THAT(RefusalOf("aten::quantile(f16[2,8], f16[3], 1)"), HasSubstr("float32 or float64"));
}

TEST(Quantile, RowsAreAViewAlsoWhereTheyLieAsTheyAre) {
  const auto views = [](std::string_view call) {
    const std::vector<std::string> nodes = NodesOf(call);
    return std::count(nodes.begin(), nodes.end(), "view");
  };
  EXPECT_EQ(views("aten::quantile.scalar(f32[2,8], 0.5, 1)"),
            views("aten::quantile.scalar(f32[2,8], 0.5, 0)") + 1)
      << "rows of another dimension are a view already";
}

}  // namespace
}  // namespace steelyard
