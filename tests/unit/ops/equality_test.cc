// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Both are compared in a common dtype if their sizes are alike.
TEST(Equality, OnlyTensorsOfOneSizeAreCompared) {
  EXPECT_THAT(EventsOf("aten::equal(f32[2,8], f64[2,8])"),
              ElementsAre(Line(2 * 8 * 8, "empty_strided"), Line(-2 * 8 * 8, "equal")));
  EXPECT_THAT(EventsOf("aten::equal(f32[2,8], f64[8])"), IsEmpty());
}

// Few are compared with each; many are sorted together, as if all were distinct.
TEST(Equality, ManyAreSortedToBeFound) {
  EXPECT_THAT(EventsOf("aten::isin.Tensor_Tensor(i64[2,8], i64[3])"),
              ElementsAre(Line(2 * 8, "isin")));
  constexpr int kBoth = (16 + 30) * 8;
  EXPECT_THAT(EventsOf("aten::isin.Tensor_Tensor(i64[2,8], i64[30], assume_unique=True)"),
              ::testing::Contains(Line(kBoth, "cat")));
}

}  // namespace
}  // namespace steelyard
