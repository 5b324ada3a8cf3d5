// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

TEST(Random, DropoutMultipliesByAScaledMask) {
  const std::int64_t bytes = 2 * 8 * 4;
  EXPECT_THAT(
      EventsOf("aten::dropout(f32[2,8], 0.1, True)"),
      ElementsAre(Line(bytes, "empty_strided"), Line(8, "div_"), Line(4, "empty_strided"),
                  Line(-4, "div_"), Line(-8, "div_"), Line(bytes, "mul"), Line(-bytes, "dropout")));
}

// Gamma distributed numbers in double precision, a row's sum of them, and the shares.
TEST(Random, SharesOfAWholeAreDrawnInDoublePrecision) {
  EXPECT_THAT(
      EventsOf("aten::_sample_dirichlet(f32[2,8])"),
      ElementsAre(Line(2 * 8 * 4, "empty"), Line(2 * 8 * 8, "empty"), Line(2 * 8, "sum"),
                  Line(-2 * 8, "_sample_dirichlet"), Line(-2 * 8 * 8, "_sample_dirichlet")));
}

TEST(Random, DropoutThatDropsNothingIsTheTensorItself) {
  EXPECT_THAT(NodesOf("aten::dropout(f32[2,8], 0.1, False)"), IsEmpty());
  EXPECT_THAT(NodesOf("aten::dropout(f32[2,8], 0, True)"), IsEmpty());
  EXPECT_THAT(NodesOf("aten::dropout(f32[0,8], 0.1, True)"), IsEmpty());
}

TEST(Random, DropoutThatDropsAllMultipliesByZero) {
  EXPECT_THAT(EventsOf("aten::dropout(f32[2,8], 1, True)"),
              ElementsAre(Line(4, "empty"), Line(2 * 8 * 4, "mul"), Line(-4, "dropout")));
}

TEST(Random, DropoutInPlaceOnlyNeedsTheMask) {
  const std::int64_t bytes = 2 * 8 * 2;
  EXPECT_THAT(EventsOf("aten::dropout_(bf16[2,8], 0.1, True)"),
              ElementsAre(Line(bytes, "empty_strided"), Line(8, "div_"), Line(2, "empty_strided"),
                          Line(-2, "div_"), Line(-8, "div_"), Line(-bytes, "dropout_")));
}

TEST(Random, FeatureDropoutDrawsOneNumberForEachChannel) {
  EXPECT_THAT(EventsOf("aten::feature_dropout(f32[2,3,8], 0.1, True)"),
              ElementsAre(Line(2 * 3 * 4, "empty"), Line(8, "div_"), Line(4, "empty_strided"),
                          Line(-4, "div_"), Line(-8, "div_"), Line(2 * 3 * 8 * 4, "mul"),
                          Line(-2 * 3 * 4, "feature_dropout")));
}

TEST(Random, RefusesOtherProbabilities) {
  EXPECT_THAT(RefusalOf("aten::dropout(f32[2,8], 1.5, True)"), HasSubstr("between 0 and 1"));
}

TEST(Random, FreshNumbers) {
  EXPECT_EQ(ResultOf("aten::randint(5, [2,8])"), "i64[2,8]");
  EXPECT_EQ(ResultOf("aten::randn([2,8], dtype=bf16)"), "bf16[2,8]");
  EXPECT_THAT(EventsOf("aten::rand([2,8])"), ElementsAre(Line(2 * 8 * 4, "empty")));
  EXPECT_EQ(ResultOf("aten::rand_like(f32[8,2]{1,8})"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::bernoulli.p(f32[8,2]{1,8}, 0.5)"), "f32[8,2]");
}

TEST(Random, PlacesAreDrawnFromRows) {
  EXPECT_EQ(ResultOf("aten::multinomial(f32[2,8], 3)"), "i64[2,3]");
  EXPECT_EQ(ResultOf("aten::multinomial(f32[8], 9, True)"), "i64[9]");
  EXPECT_THAT(RefusalOf("aten::multinomial(f32[2,8], 9)"), HasSubstr("9 different places of 8"));
  EXPECT_EQ(ResultOf("aten::randperm(8)"), "i64[8]");
}

// A boolean for each element, and the mask as numbers for as long as they are multiplied.
TEST(Random, DropoutThatTellsItsMaskMakesItOfBooleans) {
  EXPECT_THAT(EventsOf("aten::native_dropout(f32[2,8], 0.1, True)"),
              IsSupersetOf({Line(2 * 8, "empty_strided"), Line(2 * 8 * 4, "mul")}));
}

}  // namespace
}  // namespace steelyard
