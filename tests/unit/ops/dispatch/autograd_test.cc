// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/autograd.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace steelyard
