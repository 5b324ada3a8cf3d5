// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Factory, LabelsAreThoseOfTheInnermostFactory) {
  EXPECT_THAT(EventsOf("aten::zeros([2,8])"), ElementsAre(Line(2 * 8 * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::new_ones(f16[1], [2,8])"), ElementsAre(Line(2 * 8 * 2, "empty")));
  EXPECT_THAT(EventsOf("aten::ones_like(f32[2,8])"), ElementsAre(Line(2 * 8 * 4, "empty_strided")));
  EXPECT_THAT(EventsOf("aten::ones_like(f32[2,8], memory_format=0)"),
              ElementsAre(Line(2 * 8 * 4, "empty")));
  EXPECT_THAT(EventsOf("aten::arange(4)"), ElementsAre(Line(4 * 8, "resize_")));
  EXPECT_THAT(EventsOf("aten::scalar_tensor(1.0)"), ElementsAre(Line(4, "scalar_tensor")));
}

TEST(Factory, DTypesOfNumbers) {
  EXPECT_EQ(ResultOf("aten::full([2], 0.5)"), "f32[2]");
  EXPECT_EQ(ResultOf("aten::full([2], 5)"), "i64[2]");
  EXPECT_EQ(ResultOf("aten::full([2], True)"), "bool[2]");
  EXPECT_EQ(ResultOf("aten::arange(5)"), "i64[5]");
  EXPECT_EQ(ResultOf("aten::arange(5.5)"), "f32[6]");
}

TEST(Factory, LengthsOfRanges) {
  EXPECT_EQ(ResultOf("aten::arange.start(2, 8)"), "i64[6]");
  EXPECT_EQ(ResultOf("aten::arange.start_step(8, 1, -2)"), "i64[4]");               // 8, 6, 4, 2
  EXPECT_EQ(ResultOf("aten::arange.start_step(3, 9, 0.5, dtype=i64)"), "i64[12]");  // (9 - 3) / 0.5
  EXPECT_EQ(ResultOf("aten::arange.start(3, 3)"), "i64[0]");
}

TEST(Factory, RefusesRangesWithoutEnd) {
  EXPECT_THAT(RefusalOf("aten::arange.start_step(1, 5, 0)"), HasSubstr("step of a range is 0"));
  EXPECT_THAT(RefusalOf("aten::arange.start_step(5, 1, 2)"),
              HasSubstr("no range from 5 to 1 by 2"));
  EXPECT_THAT(RefusalOf("aten::arange.start(-4611686018427387904, 9223372036854775807)"),
              HasSubstr("no range"));
}

TEST(Factory, LikeKeepsDenseStrides) {
  EXPECT_EQ(ResultOf("aten::empty_like(f32[8,2]{1,8})"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::empty_like(f32[4,2,8]{8,0,1})"), "f32[4,2,8]");
  EXPECT_EQ(ResultOf("aten::zeros_like(f32[8,2]{1,8}, memory_format=0)"), "f32[8,2]");
  EXPECT_EQ(ResultOf("aten::full_like(f32[8,2], 1, dtype=i64)"), "i64[8,2]");
}

TEST(Factory, EmptyInChannelsLast) {
  EXPECT_EQ(ResultOf("aten::empty.memory_format([2,3,4,5], memory_format=2)"),
            "f32[2,3,4,5]{60,1,15,3}");
  EXPECT_THAT(RefusalOf("aten::empty.memory_format([2,3], memory_format=2)"),
              HasSubstr("4 or 5 dimensions"));
}

TEST(Factory, RefusesSizesThatCannotBe) {
  EXPECT_THAT(RefusalOf("aten::zeros([2,-1])"), HasSubstr("a size is negative: [2, -1]"));
  EXPECT_THAT(RefusalOf("aten::zeros([4294967296,4294967296])"), HasSubstr("too large"));
  EXPECT_THAT(RefusalOf("aten::empty_strided([2,8], [1])"), HasSubstr("differ: 2 vs 1"));
}

TEST(Factory, FillingNeedsNothing) {
  EXPECT_THAT(EventsOf("aten::fill_.Scalar(f32[2,8], 1)"), IsEmpty());
  EXPECT_EQ(TrafficOf("aten::zero_(f32[2,8])").written, Count(2 * 8 * 4));
  EXPECT_EQ(TrafficOf("aten::zero_(f32[2,8])").read, Count(0));
}

TEST(Factory, ABoxIsAsWideAsThePythonNumber) {
  EXPECT_THAT(EventsOf("steelyard::box(0.5)"), ElementsAre(Line(8, "")));
  EXPECT_EQ(ResultOf("steelyard::box(0.5)"), "f64[]");
  EXPECT_EQ(ResultOf("steelyard::box(1)"), "i64[]");
  EXPECT_EQ(ResultOf("steelyard::box(True)"), "bool[]");
}

}  // namespace
}  // namespace steelyard
