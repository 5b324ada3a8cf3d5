// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/graph_tracer.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Of a branch, recorded with its backward pass.
std::string Step(std::string_view body) {
  return "parameter %p: f32[4,8]\ninput %x: f32[4,8]\ninput %c: bool[]\n"
         "%h = aten::mul.Tensor(%x, %p)\n"
         "%y: f32[4,8] = higher_order::cond(%c, @g, @g, [%h])\n"
         "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n"
         "graph @g(%a: f32[4,8]) {\n" +
         std::string(body) + "}\n";
}

std::vector<std::string> BackwardOfBranch(std::string_view body) {
  return KernelsOfPhase(KernelsOfProgram(Step(body)), Phase::kBackward);
}

TEST(GraphTracer, AGradientThatIsAnInputIsCloned) {
  EXPECT_THAT(BackwardOfBranch("  %b: f32[4,8] = aten::add.Scalar(%a, 1.0)\n  return %b\n"),
              Contains("aten::clone"));
  EXPECT_THAT(BackwardOfBranch("  %b: f32[4,8] = aten::sin(%a)\n  return %b\n"),
              Not(Contains("aten::clone")));
}

TEST(GraphTracer, AnOperandWithoutAGradientGetsZeros) {
  EXPECT_THAT(BackwardOfBranch("  %b: f32[4,8] = aten::ones([4, 8])\n  return %b\n"),
              Contains("aten::zeros_like"));
}

TEST(GraphTracer, WhatHasNoGradientIsRefused) {
  const std::string step =
      "parameter %p: f32[4,8]\ninput %x: f32[4,8]\ninput %c: bool[]\n"
      "%h = aten::mul.Tensor(%x, %p)\n"
      "%y: f32[4,8], %i: i64[4] = higher_order::cond(%c, @g, @g, [%h])\n"
      "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n"
      "graph @g(%a: f32[4,8]) {\n  %b: f32[4,8] = aten::sin(%a)\n"
      "  %j: i64[4] = aten::argmax(%a, 1)\n  return %b, %j\n}\n";
  const Result<Program> program = ParseText(step, "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), ::testing::HasSubstr("has no gradient"));
}

}  // namespace
}  // namespace steelyard
