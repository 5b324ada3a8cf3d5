// SPDX-License-Identifier: Apache-2.0
//
// The expected events are those of torch/_higher_order_ops/cond.py; tests/data/train has PyTorch's.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "calls.h"
#include "programs.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A step through a branch that is a product, or one that is a hyperbolic tangent.
constexpr std::string_view kStep =
    "parameter %p: f32[4,8]\ninput %x: f32[4,8]\ninput %c: bool[]\n"
    "%h = aten::mul.Tensor(%x, %p)\n"
    "%y: f32[4,8] = higher_order::cond(%c, @tangent, @product, [%h])\n"
    "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n"
    "graph @tangent(%a: f32[4,8]) {\n  %b: f32[4,8] = aten::tanh(%a)\n  return %b\n}\n"
    "graph @product(%a: f32[4,8]) {\n  %b: f32[4,8] = aten::sin(%a)\n"
    "  %c: f32[4,8] = aten::mul.Tensor(%a, %b)\n  return %c\n}\n";

TEST(Cond, ANumberTakesItsBranch) {
  for (const char* number : {"0", "3"}) {
    const std::string taken =
        std::string("%y: f32[4] = higher_order::cond(") + number + ", @sine, @cosine, [%x])\n";
    const Result<Program> kernels =
        RunText("input %x: f32[4]\n" + taken + "return %y\n" +
                "graph @sine(%a: f32[4]) {\n  %b: f32[4] = aten::sin(%a)\n  return %b\n}\n"
                "graph @cosine(%a: f32[4]) {\n  %b: f32[4] = aten::cos(%a)\n  return %b\n}\n");
    ASSERT_TRUE(kernels) << Describe(kernels.error());
    EXPECT_THAT(Notes(*kernels), ::testing::IsEmpty());
    EXPECT_EQ(kernels->op_name(kernels->main().nodes[0].op),
              number[0] == '0' ? "aten::cos" : "aten::sin");
  }
}

// Its operand is not kept, nor is anything computed again.
TEST(Cond, AnIfOfPythonIsWhatItRuns) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\ninput %x: f32[4,8]\n%h = aten::mul.Tensor(%x, %p)\n"
      "%y: f32[4,8] = steelyard::if(1, @sine, @cosine, [%h])\n"
      "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n"
      "graph @sine(%a: f32[4,8]) {\n  %b: f32[4,8] = aten::sin(%a)\n  return %b\n}\n"
      "graph @cosine(%a: f32[4,8]) {\n  %b: f32[4,8] = aten::cos(%a)\n  return %b\n}\n");
  EXPECT_EQ(kernels.op_name(kernels.main().nodes[1].op), "aten::sin");
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kRecompute), ::testing::IsEmpty());
}

// All of it, though nothing needs the last product.
TEST(Cond, TheBackwardPassRunsTheBranchAgain) {
  const Program kernels = KernelsOfProgram(std::string(kStep));
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kRecompute),
              ElementsAre("aten::sin", "aten::mul.Tensor"));
  EXPECT_THAT(Notes(kernels), ElementsAre(HasSubstr("the costlier is weighed")));
}

TEST(Cond, OperandsAreKeptAndWhatTheBranchComputesIsNot) {
  const std::vector<std::string> events = EventsOfProgram(std::string(kStep));
  const auto loss = std::ranges::find(events, Line(4, "aten::sum"));
  // The sine, before the loss is there.
  EXPECT_EQ(std::count(events.begin(), loss, Line(-kMatrix, "CondAutogradOp")), 1);
}

TEST(Cond, BothBranchesAreRecordedOnCopiesOfTheOperands) {
  const std::vector<std::string> events = EventsOfProgram(std::string(kStep));
  // In both passes; a gradient that is a number spread out is copied as one.
  EXPECT_EQ(std::ranges::count(events, Line(kMatrix, "aten::empty_strided")), 2 + 2);
}

}  // namespace
}  // namespace steelyard
