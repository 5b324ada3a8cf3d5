// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "../programs.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string RefusalOfFirst(const Program& kernels) {
  return std::string(kernels.text(kernels.main().nodes[0].refusal));
}

TEST(Opaque, OperatorsWithoutARowKeepTheFilesSizes) {
  const Result<Program> kernels = RunText(
      "input %x: f32[4]\n"
      "%a: f32[7,3] = mylib::mystery(%x, mode=\"fast\")\n"
      "return %a\n");
  ASSERT_TRUE(kernels);
  EXPECT_THAT(Names(*kernels), ElementsAre("mylib::mystery"));
  EXPECT_THAT(SizesOfOutput(*kernels), ElementsAre(7, 3));
}

TEST(Opaque, ARefusedCallKeepsTheFilesSizesAndTheReason) {
  const Result<Program> kernels = RunText(
      "input %x: f32[2,3,4]\n"
      "%a: f32[4,3,2] = aten::t(%x)\n"
      "%b: f32[4,3,2] = aten::tanh(%a)\n"
      "return %b\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(Names(*kernels), ElementsAre("aten::t", "aten::tanh", "steelyard::drop"));
  EXPECT_EQ(RefusalOfFirst(*kernels), "t() takes at most 2 dimensions, not 3");
  EXPECT_EQ(kernels->main().nodes[1].refusal, kNoString);
  EXPECT_THAT(SizesOfOutput(*kernels), ElementsAre(4, 3, 2));
}

TEST(Opaque, WhatACompositeBeganIsTakenBack) {
  // Three kernels of the composite had run when its result turned out another.
  const Result<Program> kernels = RunText(
      "input %x: f32[2,3]\n"
      "%a: f32[2,3,9] = aten::stack([%x, %x], -1)\n"
      "return %a\n");
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_THAT(Names(*kernels), ElementsAre("aten::stack"));
  EXPECT_EQ(RefusalOfFirst(*kernels), "its result is f32[2,3,2], the file says f32[2,3,9]");
}

TEST(Opaque, ContradictionsAreErrors) {
  const auto refusal = [](std::string_view text) {
    const Result<Program> kernels = RunText(text);
    return kernels ? "" : Describe(kernels.error());
  };
  EXPECT_THAT(refusal("input %x: f32[2,3]\ninput %y: f32[4]\n"
                      "%z: f32[2,3] = aten::add.Tensor(%x, %y)\nreturn %z\n"),
              HasSubstr("the shapes do not broadcast: [2, 3] and [4]"));
  EXPECT_THAT(refusal("input %x: f32[2,3]\ninput %y: f32[4,5]\n"
                      "%z: f32[2,5] = aten::mm(%x, %y)\nreturn %z\n"),
              HasSubstr("inner dimensions differ: 3 vs 4"));
  // Without sizes from the file there is nothing to carry on with.
  EXPECT_THAT(refusal("input %x: f32[2,3,4]\n%z = aten::t(%x)\nreturn %z\n"),
              HasSubstr("at most 2 dimensions"));
}

TEST(Opaque, GradientsDoNotGoThroughWhatIsNotKnown) {
  const Result<Program> kernels = RunText(
      "parameter %w: f32[2,3,4]\n"
      "%a: f32[4,3,2] = aten::t(%w)\n"
      "%s: f32[] = aten::sum(%a)\n"
      "steelyard::backward(%s)\n"
      "return %s\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("at most 2 dimensions"));
}

}  // namespace
}  // namespace steelyard
