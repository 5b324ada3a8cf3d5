// SPDX-License-Identifier: Apache-2.0
#include "record/sequence_ranges.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(SequenceRanges, TheInnermostModuleHasTheNode) {
  SequenceRanges ranges;
  ranges.Begin(1, 10, 0);  // the model
  ranges.Begin(1, 12, 1);  // its child
  ranges.Begin(1, 15, 0);
  EXPECT_EQ(ranges.Find(1, 11), 0u);
  EXPECT_EQ(ranges.Find(1, 12), 1u);
  EXPECT_EQ(ranges.Find(1, 14), 1u);
  EXPECT_EQ(ranges.Find(1, 15), 0u);
}

TEST(SequenceRanges, AModuleThatMadeNothingHasNothing) {
  SequenceRanges ranges;
  ranges.Begin(1, 10, 0);
  ranges.Begin(1, 10, 1);
  ranges.Begin(1, 10, 2);
  EXPECT_EQ(ranges.Find(1, 10), 2u);
}

TEST(SequenceRanges, ThreadsNumberForThemselves) {
  SequenceRanges ranges;
  ranges.Begin(1, 10, 0);
  ranges.Begin(2, 10, 5);
  EXPECT_EQ(ranges.Find(2, 11), 5u);
  EXPECT_EQ(ranges.Find(3, 11), std::nullopt);
  EXPECT_EQ(ranges.Find(1, 9), std::nullopt);
}

}  // namespace
}  // namespace steelyard
