// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FakeQuantize, ChannelsHaveOneScaleEach) {
  constexpr std::string_view kCall =
      "aten::fake_quantize_per_channel_affine(f32[2,8], f32[8], i32[8], 1, -128, 127)";
  EXPECT_EQ(ResultOf(kCall), "f32[2,8]");
  EXPECT_THAT(RefusalOf("aten::fake_quantize_per_channel_affine(f32[2,8], f32[2], i32[8], 1, -128, "
                        "127)"),
              HasSubstr("scales and channels"));
  EXPECT_THAT(RefusalOf("aten::fake_quantize_per_channel_affine(f32[2,8], f32[8], i64[8], 1, -128, "
                        "127)"),
              HasSubstr("zero points are int32"));
}

TEST(FakeQuantize, OneScaleIsOneNumber) {
  EXPECT_THAT(RefusalOf("aten::fake_quantize_per_tensor_affine.tensor_qparams(f32[2,8], f32[8], "
                        "i32[1], -128, 127)"),
              HasSubstr("one number"));
}

TEST(FakeQuantize, WhatWasInRangeIsSaved) {
  EXPECT_THAT(SavedIn("aten::fake_quantize_per_tensor_affine(%p, 0.1, 0, -128, 127)"),
              ElementsAre(HasSubstr("FakeQuantizePerTensorAffineCachemaskBackward0")));
}

TEST(FakeQuantize, ObservedChannelsAreTheFirstDimension) {
  EXPECT_THAT(RefusalOf("aten::fused_moving_avg_obs_fake_quant(f32[2,8], i64[1], i64[1], f32[8], "
                        "f32[8], f32[8], i32[8], 0.01, -128, 127, 1, True)"),
              HasSubstr("the first dimension"));
}

}  // namespace
}  // namespace steelyard
