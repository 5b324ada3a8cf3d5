// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/out_overloads.h"

#include <gmock/gmock.h>

#include "../events.h"
#include "../programs.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OutOverloads, AKernelWritesWhereItIsTold) {
  EXPECT_THAT(EventsOf("aten::atan2.out(f32[2,8], f32[8], out=f32[2,8])"), IsEmpty());
  EXPECT_THAT(EventsOf("aten::topk.values(f32[2,8], 3, values=f32[2,3], indices=i64[2,3])"),
              IsEmpty());
}

TEST(OutOverloads, AnotherDtypeIsCopiedInto) {
  const auto events = EventsOf("aten::add.out(f32[2,8], f32[8], out=f64[2,8])");
  EXPECT_EQ(events.size(), 2) << "the sum, and its end";
}

TEST(OutOverloads, WhatHasNoKernelForItIsComputedApart) {
  EXPECT_EQ(EventsOf("aten::relu.out(f32[2,8], out=f32[2,8])").size(), 2);
  EXPECT_THAT(EventsOf("aten::tanh.out(f32[2,8], out=f32[2,8])"), IsEmpty());
}

// The arguments decide between overloads of one operator.
TEST(OutOverloads, TheRowTakesTheSameArguments) {
  const Result<Program> kernels = RunText(
      "input %x: f32[4,8]\ninput %o: f32[4]\ninput %p: f32[4,8]\n"
      "%a = aten::mean.out(%x, [1], out=%o)\n%b = aten::max.out(%x, %p, out=%p)\nreturn %a, %b\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(SizesOfOutput(*kernels), ElementsAre(4));
}

// A tensor that is too small is another one from then on.
TEST(OutOverloads, SizesAreTakenOver) {
  const Result<Program> kernels = RunText(
      "input %x: f32[4,8]\n%o = aten::empty.memory_format([0])\n"
      "%a = aten::tanh.out(%x, out=%o)\n%b = aten::tanh(%o)\nreturn %b\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(SizesOfOutput(*kernels), ElementsAre(4, 8));
}

TEST(OutOverloads, NothingIsDifferentiatedThroughThem) {
  const Result<Program> kernels = RunText(
      "parameter %x: f32[4]\ninput %o: f32[4]\n%a = aten::tanh.out(%x, out=%o)\n"
      "%l = aten::sum(%a)\nsteelyard::backward(%l) phase backward\nreturn %l\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("does not differentiate"));
}

}  // namespace
}  // namespace steelyard
