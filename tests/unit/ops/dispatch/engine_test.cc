// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/engine.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Engine, SecondGradientsAreAddedInPlaceWhereNobodyElseHasTheFirst) {
  // Both uses of the product give fresh gradients.
  EXPECT_THAT(BackwardOf("aten::mul.Tensor(%p, %p)"),
              ElementsAre("mul.Tensor", "mul.Tensor", "add_.Tensor"));
}

TEST(Engine, AGradientThatIsAViewIsNeverAddedInto) {
  const std::vector<std::string> kernels = BackwardOf("aten::cat([%p, %p], 0)");
  EXPECT_THAT(kernels, Contains("add.Tensor"));
  EXPECT_THAT(kernels, Not(Contains("add_.Tensor")));
}

TEST(Engine, TheSumForATensorWithoutDimensionsIsNoView) {
  const Program kernels = KernelsOfProgram(
      "parameter %n: f32[]\ninput %x: f32[4,8]\n%y = aten::mul.Tensor(%x, %n)\n"
      "%z = aten::mul.Tensor(%y, %n)\n%loss = aten::sum(%z)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string_view> backward;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) backward.push_back(kernels.op_name(node.op));
  }
  EXPECT_THAT(backward, Contains("aten::add_.Tensor"));
  EXPECT_THAT(backward, Not(Contains("aten::add.Tensor")));
}

TEST(Engine, AFreshGradientIsTakenOver) {
  EXPECT_THAT(BackwardOf("aten::exp(%p)"), ElementsAre("mul.Tensor"));
}

TEST(Engine, AnExpandedGradientIsCopied) {
  const std::vector<std::string> events = EventsOfProgram(StepOf("aten::alias(%p)"));
  EXPECT_THAT(events, Contains(Line(kMatrix, "aten::empty_strided")));
}

TEST(Engine, AProgramWithoutParametersIsRefused) {
  const Result<Program> program = ParseText(
      "input %x: f32[2]\n%loss = aten::sum(%x)\nsteelyard::backward(%loss)\nreturn %loss\n", "");
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_FALSE(Dispatcher(*program, Target{}).Run());
}

TEST(Engine, WhatPassesNoGradientOnIsNamed) {
  const Result<Program> program = ParseText(StepOf("aten::argmax(%p)"), "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("aten::argmax passes no gradient on"));
}

TEST(Engine, AnExpandedGradientOfOneElementIsCopiedToo) {
  // A parameter of one element: its gradient would be a view of the seed's.
  constexpr std::string_view kStep =
      "parameter %p: f32[1]\n%y = aten::alias(%p)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n";
  // The sum, the seed, the gradient.
  EXPECT_THAT(EventsOfProgram(std::string(kStep)),
              Contains(Line(4, "aten::empty_strided")).Times(2));
}

}  // namespace
}  // namespace steelyard
