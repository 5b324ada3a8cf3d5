// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "events.h"
#include "ops/parallel/layer_styles.h"
#include "ops/registry.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(PartSizes, AViewOfAPartHasItsShareOfTheOutermostDimension) {
  EXPECT_EQ(ResultOf("steelyard::view_part(f32[2,4], [2,8], [2,4,2])"), "f32[2,2,2]");
  EXPECT_EQ(ResultOf("steelyard::view_part(f32[2,4], [2,8], [2,-1,2])"), "f32[2,2,2]");
  EXPECT_EQ(ResultOf("steelyard::view_part(f32[2,4], [2,8], [2,1,8])"), "f32[2,1,4]");
  EXPECT_EQ(ResultOf("steelyard::reshape_part(f32[2,3,4], [2,3,8], [6,4,2])"), "f32[6,2,2]");
  EXPECT_EQ(ResultOf("steelyard::unsafe_view_part(f32[3,4], [6,4], [24])"), "f32[12]");
  EXPECT_EQ(ResultOf("steelyard::view_part(f32[2,8], [2,8], [16])"), "f32[16]") << "of the whole";
}

TEST(PartSizes, HeadsThatProcessesCannotShareAreRefused) {
  EXPECT_THAT(RefusalOf("steelyard::view_part(f32[2,3], [2,6], [2,3,2])"),
              HasSubstr("3 of 6 elements of a dimension cannot be viewed as a part of 3"));
  EXPECT_THAT(RefusalOf("steelyard::view_part(f32[2,4], [2,8], [16])"),
              HasSubstr("4 of 8 elements of a dimension cannot be viewed as a part of 16"));
  EXPECT_THAT(RefusalOf("steelyard::view_part(f32[1,4], [2,8], [16])"),
              HasSubstr("more than one dimension is shared"));
  EXPECT_THAT(RefusalOf("steelyard::view_part(f32[2,4], [2,8], [3,5])"),
              HasSubstr("do not fit the whole"));
}

TEST(PartSizes, APartIsSpreadAsTheWhole) {
  EXPECT_EQ(ResultOf("steelyard::expand_part(f32[1,4], [1,8], [3,8])"), "f32[3,4]{0,1}");
  EXPECT_EQ(ResultOf("steelyard::expand_part(f32[4], [8], [3,8])"), "f32[3,4]{0,1}");
  EXPECT_EQ(ResultOf("steelyard::expand_part(f32[1,4], [1,8], [3,-1])"), "f32[3,4]{0,1}");
}

TEST(PartSizes, WhatIsSharedIsNotCut) {
  EXPECT_EQ(ResultOf("steelyard::select_part(f32[2,4], [2,8], 0, 1)"), "f32[4]");
  EXPECT_EQ(ResultOf("steelyard::slice_part(f32[2,4], [2,8], 0, 1, 2)"), "f32[1,4]");
  EXPECT_EQ(ResultOf("steelyard::split_sizes_part(f32[3,4], [3,8], [1,2], 0)", 1), "f32[2,4]");
  for (const char* const call : {"steelyard::select_part(f32[2,4], [2,8], -1, 1)",
                                 "steelyard::slice_part(f32[2,4], [2,8], 1, 1, 2)",
                                 "steelyard::narrow_part(f32[2,4], [2,8], 1, 0, 1)",
                                 "steelyard::split_part(f32[2,4], [2,8], 2, 1)",
                                 "steelyard::split_sizes_part(f32[2,4], [2,8], [4,4], 1)"}) {
    EXPECT_THAT(RefusalOf(call), HasSubstr("cuts a dimension that the processes share")) << call;
  }
}

// The same arguments, with the sizes of the whole after the first.
TEST(PartSizes, ACallOfAPartIsOneOfTheWhole) {
  for (const ops::PartCall& call : ops::PartCalls()) {
    const OpDef* const whole = FindOp(OpName::FromRuntime(call.op));
    const OpDef* const part = FindOp(OpName::FromRuntime(call.replacement));
    ASSERT_NE(whole, nullptr) << call.op;
    ASSERT_NE(part, nullptr) << call.replacement;
    EXPECT_EQ((*part->signature).params().size(), (*whole->signature).params().size() + 1)
        << call.op;
  }
}

}  // namespace
}  // namespace steelyard
