// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/window.h"

#include <gmock/gmock.h>

namespace steelyard::window {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dims Pass(Dims image, const Window& window) { return OutputSizes(image, window); }

std::string Refusal(Dims image, const Window& window) {
  try {
    OutputSizes(image, window);
  } catch (const RuleError& error) {
    return error.message;
  }
  return "";
}

TEST(Window, CountsThePlacesItFits) {
  // (224 + 2 * 3 - 7) / 2 + 1
  EXPECT_THAT(Pass({224}, {{7}, {2}, {3}, {1}}), ElementsAre(112));
  // A dilation of 2 makes three pixels reach over five.
  EXPECT_THAT(Pass({9, 8}, {{3, 3}, {1, 1}, {0, 0}, {2, 2}}), ElementsAre(5, 4));
}

TEST(Window, RoundingUpKeepsTheLastPartialWindow) {
  EXPECT_THAT(Pass({9}, {{2}, {2}, {0}, {1}}), ElementsAre(4));
  EXPECT_THAT(Pass({9}, {{2}, {2}, {0}, {1}, Rounding::kUp}), ElementsAre(5));
  // But not one that would start in the right padding: 4 + 2 * 1 pixels, windows start at 0, 3,
  // (6).
  EXPECT_THAT(Pass({4}, {{2}, {3}, {1}, {1}, Rounding::kUp}), ElementsAre(2));
}

TEST(Window, RefusesWhatDoesNotFit) {
  EXPECT_THAT(Refusal({2}, {{3}, {1}, {0}, {1}}),
              HasSubstr("a kernel of 3 is larger than the padded image: 2 + 2 * 0"));
  EXPECT_THAT(Refusal({8}, {{0}, {1}, {0}, {1}}), HasSubstr("a kernel size of 0"));
  EXPECT_THAT(Refusal({8}, {{3}, {1}, {-1}, {1}}), HasSubstr("a padding of -1"));
  EXPECT_THAT(Refusal({8}, {{3}, {1}, {0}, {INT64_MAX}}), HasSubstr("a dilation of"));
  EXPECT_THAT(Refusal({0}, {{1}, {1}, {0}, {1}}), HasSubstr("larger than the padded image"));
}

TEST(Window, OneNumberStandsForAllDimensions) {
  EXPECT_THAT(PerDimension("stride", {2}, 3), ElementsAre(2, 2, 2));
  EXPECT_THAT(PerDimension("stride", {2, 3}, 2), ElementsAre(2, 3));
  EXPECT_THROW(PerDimension("stride", {2, 3}, 3), RuleError);
  EXPECT_THROW(PerDimension("stride", {}, 2), RuleError);
}

TEST(Window, ElementsAndSpatialSizes) {
  EXPECT_EQ(Elements({{3, 5}, {1, 1}, {0, 0}, {1, 1}}), Count(15));
  const Dims image{2, 3, 8, 9};
  EXPECT_THAT(Spatial(image), ElementsAre(8, 9));
  const Dims row{7};
  EXPECT_TRUE(Spatial(row).empty());
}

}  // namespace
}  // namespace steelyard::window
