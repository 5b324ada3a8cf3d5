// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DataMovement, NothingToDoIsTheTensorItself) {
  EXPECT_THAT(NodesOf("aten::contiguous(f32[3,4])"), IsEmpty());
  EXPECT_THAT(NodesOf("aten::to.dtype(f32[3,4], f32)"), IsEmpty());
  EXPECT_THAT(NodesOf("aten::to.dtype_layout(f32[3,4])"), IsEmpty());
  EXPECT_THAT(NodesOf("aten::type_as(f32[3,4], f32[1])"), IsEmpty());
}

TEST(DataMovement, AnotherDTypeIsOneCopy) {
  EXPECT_THAT(NodesOf("aten::to.dtype(f32[3,4], bf16)"), ElementsAre("_to_copy"));
  EXPECT_EQ(ResultOf("aten::to.dtype(f32[3,4]{1,3}, bf16)"), "bf16[3,4]{1,3}");
  EXPECT_THAT(NodesOf("aten::to.dtype(f32[3,4], f32, False, True)"), ElementsAre("_to_copy"));
}

TEST(DataMovement, CloneKeepsDenseStrides) {
  EXPECT_EQ(ResultOf("aten::clone(f32[3,4]{1,3})"), "f32[3,4]{1,3}");
  EXPECT_EQ(ResultOf("aten::clone(f32[3,4]{0,1})"), "f32[3,4]");
  EXPECT_EQ(ResultOf("aten::contiguous(f32[3,4]{1,3})"), "f32[3,4]");
}

TEST(DataMovement, ChannelsLast) {
  EXPECT_EQ(ResultOf("aten::contiguous(f32[2,3,4,5], memory_format='channels_last')"),
            "f32[2,3,4,5]{60,1,15,3}");
}

TEST(DataMovement, AnImageOfOnePixelIsCopiedIntoTheOtherFormat) {
  EXPECT_THAT(NodesOf("aten::to.dtype(f32[2,3,1,1], f32, False, False, 'channels_last')"),
              ElementsAre("_to_copy"));
  // It lies in that format already, which is all that contiguous() asks.
  EXPECT_THAT(NodesOf("aten::contiguous(f32[2,3,1,1], memory_format='channels_last')"), IsEmpty());
}

TEST(DataMovement, CopyReturnsItsTarget) {
  const Program kernels = KernelsOf("aten::copy_(f32[3,4], f32[4])");
  EXPECT_EQ(kernels.values[kernels.main().outputs[0].value].storage,
            kernels.values[kernels.inputs[0]].storage);
}

}  // namespace
}  // namespace steelyard
