// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(SegmentReduce, EachSegmentIsReducedToOneRow) {
  EXPECT_EQ(ResultOf("aten::segment_reduce(f32[10,3], 'mean', offsets=i64[5])"), "f32[4,3]");
  EXPECT_EQ(ResultOf("aten::segment_reduce(f32[2,10,3], 'max', lengths=i32[2,4], axis=1)"),
            "f32[2,4,3]");
}

// The least length and the sums of lengths are read before anything is reduced.
TEST(SegmentReduce, LengthsAreChecked) {
  EXPECT_EQ(EventsOf("aten::segment_reduce(f32[10,3], 'mean', lengths=i64[4])").front(),
            Line(8, "empty"));
  EXPECT_EQ(
      EventsOf("aten::segment_reduce(f32[10,3], 'mean', lengths=i64[4], unsafe=True)").front(),
      Line(4 * 3 * 4, "empty"));
}

TEST(SegmentReduce, WrongOperandsAreRefused) {
  EXPECT_THAT(RefusalOf("aten::segment_reduce(f32[10,3], 'mean')"), HasSubstr("neither"));
  EXPECT_THAT(RefusalOf("aten::segment_reduce(f32[10,3], 'amax', offsets=i64[5])"),
              HasSubstr("no reduction is called amax"));
  EXPECT_THAT(RefusalOf("aten::segment_reduce(f32[10,3], 'max', offsets=i64[5], axis=1)"),
              HasSubstr("not in dimension 1"));
  EXPECT_THAT(RefusalOf("aten::segment_reduce(f32[10,3], 'max', offsets=i64[0])"),
              HasSubstr("offsets have an end"));
}

}  // namespace
}  // namespace steelyard
