// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sums of whole rows need not know the bag of each: the result and two lists of bags.
TEST(Bags, SumsNeedNoListOfIndices) {
  constexpr int kSums = 3 * 4 * 4, kBags = 3 * 8;
  EXPECT_THAT(EventsOf("aten::embedding_bag(f32[10,4], i64[6], i64[3])"),
              ElementsAre(Line(kSums, "empty"), Line(kBags, "empty"), Line(kBags, "empty")));
}

// The others do: as many as there are indices, and one more.
TEST(Bags, MeansKnowTheBagOfEach) {
  constexpr int kIndices = (6 + 1) * 8;
  EXPECT_THAT(EventsOf("aten::embedding_bag(f32[10,4], i64[6], i64[3], False, 1)"),
              Contains(Line(kIndices, "_embedding_bag_forward_only")));
}

TEST(Bags, RowsOfAllBagsAreAddedUp) {
  constexpr int kElements = 6 * 4;
  EXPECT_EQ(WorkOf("aten::embedding_bag(f32[10,4], i64[6], i64[3])").alu, kElements);
}

TEST(Bags, OnlySumsAreWeighted) {
  EXPECT_THAT(RefusalOf("aten::embedding_bag(f32[10,4], i64[6], i64[3], False, 1, False, f32[6])"),
              HasSubstr("only sums"));
}

// The gradients of maxima are added column by column.
TEST(Bags, MaximaAreTakenColumnByColumn) {
  const std::vector<std::string> events = EventsOf(
      "aten::_embedding_bag_dense_backward(f32[3,4], i64[6], i64[6], i64[3], i64[3,4], 10, False, "
      "2, None)");
  EXPECT_THAT(events, Contains(Line(3 * 8, "empty")).Times(4));
}

}  // namespace
}  // namespace steelyard
