// SPDX-License-Identifier: Apache-2.0

#include "ops/convolution_tbc.h"

#include <gmock/gmock.h>

#include "steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(ConvolutionOverTime, EachPlaceOfTheKernelIsAProduct) {
  // 7 + 2 * 1 - 3 + 1 steps
  EXPECT_EQ(ResultOf("aten::conv_tbc(f32[7,2,3], f32[3,3,4], f32[4], 1)"), "f32[7,2,4]");
  EXPECT_EQ(ResultOf("aten::conv_tbc(f32[7,2,3], f32[3,3,4], f32[4])"), "f32[5,2,4]");
  EXPECT_THAT(NodesOf("aten::conv_tbc(f32[7,2,3], f32[3,3,4], f32[4], 1)"),
              Contains("addmm_").Times(3));
}

TEST(ConvolutionOverTime, PlacesThatReachNoStepAreLeftOut) {
  // The first and the last of five see only padding of a single step.
  EXPECT_THAT(NodesOf("aten::conv_tbc(f32[1,2,3], f32[5,3,4], f32[4], 2)"),
              Contains("addmm_").Times(1));
}

TEST(ConvolutionOverTime, IsRefusedWhereChannelsDiffer) {
  EXPECT_THAT(RefusalOf("aten::conv_tbc(f32[7,2,3], f32[3,5,4], f32[4])"), HasSubstr("channels"));
  EXPECT_THAT(RefusalOf("aten::conv_tbc(f32[1,2,3], f32[3,3,4], f32[4])"),
              HasSubstr("longer than the sequence"));
}

TEST(ConvolutionOverTime, TheGradientsAreTwoProductsAPlace) {
  EXPECT_THAT(NodesOf("aten::conv_tbc_backward(f32[7,2,4], f32[7,2,3], f32[3,3,4], f32[4], 1)"),
              Contains("addmm_").Times(2 * 3));
}

}  // namespace
}  // namespace steelyard
