// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/clamp.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ClampGradients, AClampPassesTheGradientBetweenItsLimits) {
  EXPECT_THAT(BackwardOf("aten::clamp(%p, -1.0, 1.0)"),
              ElementsAre("scalar_tensor", "gt.Scalar", "lt.Scalar", "logical_and_", "where.self"));
  EXPECT_THAT(BackwardOf("aten::clamp_max(%p, 1.0)"),
              ElementsAre("scalar_tensor", "lt.Scalar", "where.self"));
}

TEST(ClampGradients, OneBoundSharesWhatItIsEqualTo) {
  // Of the bound first: none where it is passed, half where it is met.
  const std::vector<std::string> of_one = {"gt.Tensor", "box",        "div.Tensor",
                                           "eq.Tensor", "where.self", "masked_fill_.Scalar"};
  EXPECT_EQ(BackwardOf("aten::clamp.Tensor(%x, %p)"), of_one);
}

TEST(ClampGradients, TwoBoundsAreComparedWithEachOther) {
  const std::vector<std::string> steps = BackwardOf("aten::clamp.Tensor(%p, %x, %x)");
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0], "lt.Tensor");
  EXPECT_THAT(steps, Contains("logical_or"));
  EXPECT_THAT(SavedIn("aten::clamp.Tensor(%p, %x, %q)"),
              ElementsAre("q by ClampBackward0", "x by ClampBackward0", "p by ClampBackward0"));
}

}  // namespace
}  // namespace steelyard
