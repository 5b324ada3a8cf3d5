// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(View, InfersOneSize) { EXPECT_EQ(ResultOf("aten::view(f32[2,6], [3,-1])"), "f32[3,4]"); }

TEST(View, RefusesWhatNeedsACopy) {
  EXPECT_THAT(RefusalOf("aten::view(f32[2,3]{1,2}, [6])"), HasSubstr("needs a copy"));
  EXPECT_THAT(RefusalOf("aten::view(f32[2,3], [4,-1])"),
              HasSubstr("6 elements cannot have the shape"));
}

TEST(View, AllocatesNothingAndSharesTheStorage) {
  const Program kernels = KernelsOf("aten::transpose.int(f32[2,3,4], 1, -1)");
  EXPECT_EQ(kernels.values[kernels.main().outputs[0].value].storage,
            kernels.values[kernels.inputs[0]].storage);
}

TEST(View, ExpandGivesStrideZero) {
  EXPECT_EQ(ResultOf("aten::expand(f32[3,1], [2,-1,4])"), "f32[2,3,4]{0,1,0}");
  EXPECT_THAT(RefusalOf("aten::expand(f32[3,2], [3,4])"), HasSubstr("does not expand"));
  EXPECT_THAT(RefusalOf("aten::expand(f32[3,2], [2])"), HasSubstr("too few dimensions"));
}

TEST(View, SliceCountsAsPythonDoes) {
  EXPECT_EQ(ResultOf("aten::slice.Tensor(f32[10], 0, 2, -1, 3)"), "f32[3]{3}");  // 2, 5, 8
  EXPECT_EQ(ResultOf("aten::slice.Tensor(f32[10], 0, 8, 4)"), "f32[0]");
  EXPECT_EQ(ResultOf("aten::slice.Tensor(f32[10], 0, None, 9223372036854775807)"), "f32[10]");
  EXPECT_THAT(RefusalOf("aten::slice.Tensor(f32[10], 0, 0, 4, 0)"), HasSubstr("positive step"));
}

TEST(View, ReshapeIsAViewIfStridesAllow) {
  EXPECT_THAT(NodesOf("aten::reshape(f32[2,6], [3,4])"), ElementsAre("view"));
  EXPECT_THAT(NodesOf("aten::reshape(f32[2,3]{1,2}, [6])"),
              ElementsAre("clone", "_unsafe_view", "drop"));
}

TEST(View, FlattenOfOneDimensionIsTheTensorItself) {
  EXPECT_THAT(NodesOf("aten::flatten.using_ints(f32[2,3], 1)"), ElementsAre());
  EXPECT_EQ(ResultOf("aten::flatten.using_ints(f32[2,3,4], 1)"), "f32[2,12]");
  EXPECT_THAT(RefusalOf("aten::flatten.using_ints(f32[0,4294967296,4294967296], 1)"),
              HasSubstr("more than 2^63"));
}

TEST(View, SqueezeKeepsOtherSizes) {
  EXPECT_EQ(ResultOf("aten::squeeze.dim(f32[4,1], 0)"), "f32[4,1]");
  EXPECT_EQ(ResultOf("aten::squeeze(f32[1,4,1])"), "f32[4]");
  EXPECT_EQ(ResultOf("aten::squeeze.dims(f32[1,4,1], [0])"), "f32[4,1]");
  // Of none asked for none goes.
  EXPECT_EQ(ResultOf("aten::squeeze.dims(f32[1,4,1], [])"), "f32[1,4,1]");
  EXPECT_EQ(ResultOf("aten::squeeze_.dims(f32[1,4,1], [0])"), "f32[4,1]");
}

TEST(View, WindowsOverlap) {
  // (8 - 3) / 2 + 1 windows of 3.
  EXPECT_EQ(ResultOf("aten::unfold(f32[8], 0, 3, 2)"), "f32[3,3]{2,1}");
  EXPECT_THAT(RefusalOf("aten::unfold(f32[8], 0, 9, 1)"), HasSubstr("windows of 9"));
}

}  // namespace
}  // namespace steelyard
