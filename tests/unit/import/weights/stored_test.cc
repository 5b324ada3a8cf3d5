// SPDX-License-Identifier: Apache-2.0
#include "import/weights/stored.h"

#include <gmock/gmock.h>

#include "headers.h"

namespace steelyard::weights {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Two tensors of 16 bytes, the second at `begin`.
std::string RefusalOfSecondAt(std::int64_t begin, std::int64_t data, PlaceRules rules) {
  StoredWeights weights;
  AddStored(&weights, "a", DType::kFloat32, {4});
  AddStored(&weights, "b", DType::kFloat32, {4}).begin = begin;
  return Refusal(CheckPlaces(weights, 0, data, rules));
}

TEST(StoredWeights, TakeANameOnce) {
  StoredWeights weights;
  EXPECT_TRUE(weights.TakeName("a"));
  EXPECT_TRUE(weights.IsTaken("a"));
  EXPECT_FALSE(weights.IsTaken("b"));
  EXPECT_THAT(Refusal(weights.TakeName("a")), HasSubstr("same name"));
  EXPECT_THAT(Refusal(weights.TakeName("")), HasSubstr("no name"));
}

TEST(Places, MayBeApartOrTheSame) {
  EXPECT_EQ(RefusalOfSecondAt(16, 32, {.gapless = true}), "");
  EXPECT_EQ(RefusalOfSecondAt(0, 16, {.gapless = true}), "");
  EXPECT_EQ(RefusalOfSecondAt(64, 80, {}), "");
}

TEST(Places, MayNotOverlapOrLieOutside) {
  EXPECT_THAT(RefusalOfSecondAt(8, 24, {}),
              AllOf(HasSubstr("\"b\""), HasSubstr("overlap those of \"a\"")));
  EXPECT_THAT(RefusalOfSecondAt(16, 31, {}), HasSubstr("bytes 16 to 32 lie beyond the 31 bytes"));
  EXPECT_THAT(RefusalOfSecondAt(100, 31, {}), HasSubstr("lie beyond"));
}

TEST(Places, LeaveNothingOutWhereTheFormatForbidsIt) {
  EXPECT_THAT(RefusalOfSecondAt(24, 40, {.gapless = true}), HasSubstr("bytes 16 to 24 before it"));
  EXPECT_THAT(RefusalOfSecondAt(16, 40, {.gapless = true}),
              HasSubstr("end at byte 32 of the data, which go on to 40"));
}

TEST(Places, OfEmptyTensorsDoNotMatter) {
  StoredWeights weights;
  AddStored(&weights, "a", DType::kFloat32, {4});
  AddStored(&weights, "none", DType::kFloat32, {0}).begin = 16;
  AddStored(&weights, "neither", DType::kFloat32, {0, 3}).begin = 16;
  EXPECT_EQ(Refusal(CheckPlaces(weights, 0, 16, {.gapless = true})), "");
}

}  // namespace
}  // namespace steelyard::weights
