// SPDX-License-Identifier: Apache-2.0
//
// tests/differential/test_advice.py asks PyTorch which calls it lets overwrite their operands.

#include "ops/dispatch/overwriting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// Which of the calls of these lines may overwrite their operand; %x holds data, %p is trained.
std::vector<bool> MayOverwrite(std::string_view lines) {
  const std::string text =
      "parameter %p: f32[2,6]\ninput %x: f32[2,6]\n" + std::string(lines) +
      "%loss: f32[] = aten::sum(%last)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n";
  const Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  CallSet asked(1, std::vector<bool>(program->main().nodes.size(), true));
  asked[0].back() = false;  // the backward pass is no call of an operator's form
  Result<CallSet> calls = FindOverwriting(*program, {}, std::move(asked));
  EXPECT_TRUE(calls) << Describe(calls.error());
  (*calls)[0].resize(program->main().nodes.size() - 2);  // nor is the sum
  return (*calls)[0];
}

TEST(InPlaceForm, HasTheNameWithAnUnderscore) {
  EXPECT_EQ(InPlaceForm(*FindOp("aten::relu")), FindOp("aten::relu_"));
  EXPECT_EQ(InPlaceForm(*FindOp("aten::dropout")), FindOp("aten::dropout_"));
}

TEST(InPlaceForm, IsOfOneTensor) {
  ASSERT_NE(FindOp("aten::add_.Tensor"), nullptr);
  EXPECT_EQ(InPlaceForm(*FindOp("aten::add.Tensor")), nullptr);
  EXPECT_EQ(InPlaceForm(*FindOp("aten::relu_")), nullptr);
  EXPECT_EQ(InPlaceForm(*FindOp("aten::linear")), nullptr);
}

TEST(FindOverwriting, WhatTheCallerHasIsLeftAlone) {
  EXPECT_THAT(MayOverwrite("%y: f32[2,6] = aten::relu(%x)\n%last: f32[2,6] = "
                           "aten::mul.Tensor(%p, %y)\n"),
              ElementsAre(false, false));
}

// A product of a parameter saves its other operand only, a hyperbolic tangent its result.
TEST(FindOverwriting, WhatWasSavedIsLeftAlone) {
  EXPECT_THAT(MayOverwrite("%a: f32[2,6] = aten::mul.Tensor(%p, %x)\n"
                           "%b: f32[2,6] = aten::tanh(%a)\n%last: f32[2,6] = aten::relu(%b)\n"),
              ElementsAre(false, true, false));
}

TEST(FindOverwriting, WhatIsReadAgainIsLeftAlone) {
  EXPECT_THAT(MayOverwrite("%a: f32[2,6] = aten::mul.Tensor(%p, %x)\n"
                           "%b: f32[2,6] = aten::relu(%a)\n"
                           "%last: f32[2,6] = aten::sub.Tensor(%b, %a)\n"),
              ElementsAre(false, false, false));
}

// PyTorch gives the base of the only view a new history; one of several views it refuses.
TEST(FindOverwriting, AViewIsOverwrittenWhereItIsTheOnlyOne) {
  EXPECT_THAT(MayOverwrite("%a: f32[2,6] = aten::mul.Tensor(%p, %x)\n"
                           "%b: f32[12] = aten::view(%a, [12])\n%last: f32[12] = aten::relu(%b)\n"),
              ElementsAre(false, true, true));
  EXPECT_THAT(MayOverwrite("%a: f32[2,6] = aten::mul.Tensor(%p, %x)\n"
                           "%b: f32[2,3], %c: f32[2,3] = aten::chunk(%a, 2, 1)\n"
                           "%last: f32[2,3] = aten::relu(%b)\n"),
              ElementsAre(false, true, false));
}

}  // namespace
}  // namespace steelyard
