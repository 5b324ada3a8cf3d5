// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

// Between, before and behind the symbols of the longest target there may be blanks.
TEST(CtcLoss, EveryTimeHasAChanceForEachPlace) {
  constexpr int kBatch = 2, kTimes = 10, kLongest = 3;
  EXPECT_EQ(EventsOf("aten::_ctc_loss(f32[10,2,5], i64[2,3], [10,10], [3,2])")[0],
            Line(kBatch * kTimes * (2 * kLongest + 1) * 4, "empty"));
}

// Tensors of lengths are not read: targets are as long as their matrix is wide.
TEST(CtcLoss, LengthsAmongTheDataAreTheMost) {
  constexpr int kBatch = 2, kTimes = 10, kWidth = 4;
  EXPECT_EQ(EventsOf("aten::ctc_loss.Tensor(f32[10,2,5], i64[2,4], i64[2], i64[2])")[0],
            Line(kBatch * kTimes * (2 * kWidth + 1) * 4, "empty"));
}

TEST(CtcLoss, EachSequenceHasALength) {
  EXPECT_THAT(RefusalOf("aten::_ctc_loss(f32[10,2,5], i64[2,3], [10], [3])"),
              HasSubstr("sequences and lengths"));
}

}  // namespace
}  // namespace steelyard
