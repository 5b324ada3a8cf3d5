// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/autograd.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(Autograd, WhatNobodyNeedsIsNotSaved) {
  EXPECT_THAT(SavedIn("aten::mul.Tensor(%p, %x)"), ElementsAre("x by MulBackward0"));
  EXPECT_THAT(SavedIn("aten::add.Tensor(%p, %x)"), IsEmpty());
}

TEST(Autograd, ASavedResultOutlivesItsName) {
  // tanh is saved; the sum is the last to use it, and it dies only when its node has run.
  const std::vector<std::string> events = EventsOfProgram(StepOf("aten::tanh(%p)"));
  const std::string freed = Line(-kMatrix, "autograd::engine::evaluate_function: TanhBackward0");
  EXPECT_THAT(events, Contains(freed));
}

TEST(Autograd, ArgumentsThatAreNotSavedDieInTheForward) {
  const std::vector<std::string> events = EventsOfProgram(StepOf("aten::add.Tensor(%p, %q)"));
  // The sum of the two dies as soon as it has been added up.
  EXPECT_THAT(events[2], Line(-kMatrix, ""));
}

// What a step frees that computes `%y`, which nothing of the loss needs, up to the loss.
std::vector<std::string> FreedWith(const std::string& unused) {
  const std::vector<std::string> events = EventsOfProgram(
      "parameter %p: f32[4]\nparameter %q: f32[5,1]\n" + unused +
      "%loss = aten::sum(%p)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> freed;
  for (const std::string& event : events) {
    if (event.ends_with("aten::sum")) break;
    if (event.starts_with("-")) freed.push_back(event);
  }
  return freed;
}

// Measured with PyTorch 2.15: `other` is a member before `self`, and a node that dies is destroyed
// from its last member on. One behind it is cleared first, as after it ran.
TEST(Autograd, ANodeThatNeverRunsDiesFromItsLastMember) {
  const std::string product =
      "%a = aten::neg(%p)\n%b = aten::neg(%q)\n%m = aten::mul.Tensor(%a, %b)\n";
  EXPECT_THAT(FreedWith(product), ElementsAre(Line(-16, ""), Line(-20, ""), Line(-80, "")));
  EXPECT_THAT(FreedWith(product + "%n = aten::neg(%m)\n"),
              ElementsAre(Line(-80, ""), Line(-20, ""), Line(-16, ""), Line(-80, "")));
}

std::string RefusalOfStep(const std::string& lines) {
  const Result<Program> program = ParseText(
      "parameter %p: f32[4,8]\n" + lines +
          "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n",
      "");
  EXPECT_TRUE(program);
  if (!program) return {};
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  return kernels ? "" : Describe(kernels.error());
}

// Nor a view of it; without gradients it may be, as optimizers do.
TEST(Autograd, AParameterIsNotOverwritten) {
  EXPECT_THAT(RefusalOfStep("%y = aten::mul_.Tensor(%p, 2)\n"), HasSubstr("cannot be overwritten"));
  EXPECT_THAT(RefusalOfStep("%v = aten::select.int(%p, 0, 0)\n%w = aten::mul_.Tensor(%v, 2)\n"
                            "%y = aten::neg(%p)\n"),
              HasSubstr("cannot be overwritten"));
}

// A view is overwritten with its base; what is said to be no view is not.
TEST(Autograd, WhatIsSavedMayNotBeOverwritten) {
  constexpr const char* kSaved = "%a = aten::sigmoid(%p)\n";
  const std::string itself = RefusalOfStep(std::string(kSaved) + "%y = aten::mul_.Tensor(%a, 2)\n");
  EXPECT_THAT(itself, HasSubstr("SigmoidBackward0 needs f32[4,8] as it was"));
  EXPECT_THAT(itself, HasSubstr("aten::mul_.Tensor has overwritten it"));
  EXPECT_THAT(
      RefusalOfStep(std::string(kSaved) + "%v = aten::select.int(%a, 0, 0)\n%w = aten::zero_(%v)\n"
                                          "%y = aten::alias(%a)\n"),
      HasSubstr("aten::zero_ has overwritten it"));
  EXPECT_THAT(RefusalOfStep("%a = aten::sigmoid(%p)\n%v = aten::select.int(%a, 0, 0)\n"
                            "%u = aten::unsqueeze_(%v, 0)\n%y = aten::alias(%a)\n"),
              HasSubstr("aten::unsqueeze_ has overwritten it"));
  EXPECT_EQ(RefusalOfStep("%a = aten::neg(%p)\n%y = aten::mul_.Tensor(%a, 2)\n"), "");
  EXPECT_EQ(RefusalOfStep("%n = aten::neg(%p)\n%a, %b = aten::unsafe_chunk(%n, 2)\n"
                          "%s = aten::sigmoid_(%a)\n%t = aten::tanh_(%b)\n"
                          "%y = aten::mul.Tensor(%s, %t)\n"),
            "");
}

// What was saved for the history goes with it, and the step goes around it.
TEST(Autograd, ADetachedTensorHasNoHistory) {
  const std::vector<std::string> events = EventsOfProgram(
      "parameter %p: f32[4,8]\n%a = aten::sigmoid(%p)\n%b = aten::detach_(%a)\n"
      "%y = aten::add.Tensor(%b, %p)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  EXPECT_THAT(events, Not(Contains(HasSubstr("SigmoidBackward0"))));
  EXPECT_THAT(events, Contains(Line(-kMatrix, "")));
  EXPECT_THAT(RefusalOfStep("%a = aten::neg(%p)\n%v = aten::select.int(%a, 0, 0)\n"
                            "%b = aten::detach_(%v)\n%y = aten::alias(%a)\n"),
              HasSubstr("views cannot be detached in place"));
  EXPECT_THAT(RefusalOfStep("%a = aten::neg(%p)\n%s = aten::sin(%a)\n%b = aten::detach_(%a)\n"
                            "%y = aten::mul.Tensor(%s, %p)\n"),
              HasSubstr("SinBackward0 needs f32[4,8] and its history, which aten::detach_ has"));
}

// --- requires_grad_()
// ------------------------------------------------------------------------------

std::string OfRequired(const std::string& lines) {
  return "parameter %f: f32[4,8] frozen\nparameter %p: f32[4,8]\n%h = aten::neg(%f)\n" + lines +
         "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n";
}

TEST(Autograd, WhatBeginsToRequireAGradientGetsOne) {
  const std::string use = "%y = aten::mul.Tensor(%h, %p)\n";
  const auto backward = [&](const std::string& lines) {
    return KernelsOfPhase(KernelsOfProgram(OfRequired(lines)), Phase::kBackward);
  };
  const std::string require = "steelyard::require_gradient(%h)\n";
  // One product for each factor.
  EXPECT_EQ(std::ranges::count(backward(use), "aten::mul.Tensor"), 1);
  EXPECT_EQ(std::ranges::count(backward(require + use), "aten::mul.Tensor"), 2);
  EXPECT_EQ(std::ranges::count(backward(require + require + use), "aten::mul.Tensor"), 2);
}

// The graph has the leaf, and the leaf its gradient, until the loss goes.
TEST(Autograd, SuchALeafAndItsGradientGoWithTheGraph) {
  const std::vector<std::string> events = EventsOfProgram(OfRequired(
      "steelyard::require_gradient(%h)\n%s = aten::sin(%h)\n%y = aten::add.Tensor(%s, %p)\n"));
  ASSERT_GE(events.size(), 2U);
  EXPECT_THAT(std::vector(events.end() - 3, events.end()),
              UnorderedElementsAre(Line(-4, ""), Line(-kMatrix, ""), Line(-kMatrix, "")));
}

TEST(Autograd, SuchALeafIsNotOverwritten) {
  EXPECT_THAT(RefusalOfStep("%h = aten::exp(%p)\n%d = aten::detach(%h)\n%e = aten::neg(%d)\n"
                            "steelyard::require_gradient(%e)\n%y = aten::mul_.Tensor(%e, 2)\n"),
              HasSubstr("cannot be overwritten"));
}

TEST(Autograd, OnlyNumbersWithFractionsRequireGradients) {
  EXPECT_THAT(RefusalOfStep("%i = aten::argmax(%p)\nsteelyard::require_gradient(%i)\n"
                            "%y = aten::neg(%p)\n"),
              HasSubstr("only floating point and complex numbers"));
}

}  // namespace
}  // namespace steelyard
