// SPDX-License-Identifier: Apache-2.0

#include "pass/freeze.h"

#include <gtest/gtest.h>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

Program TwoParameters() {
  return ParseText(
             "parameter %w: f32[4] \"fc.weight\"\nparameter %b: f32[4] \"fc.bias\"\nreturn "
             "%w\n",
             "")
      .value();
}

TEST(Freeze, WhatAPatternNamesRequiresNoGradient) {
  const Result<Program> program = Freeze(TwoParameters(), {.freeze = {"*.bias"}});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(program->values[program->parameters[0].value].requires_grad);
  EXPECT_FALSE(program->values[program->parameters[1].value].requires_grad);
}

TEST(Freeze, APatternNamesSomething) {
  const Result<Program> program = Freeze(TwoParameters(), {.freeze = {"fc", "decoder"}});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "no parameter is called \"decoder\"");
  EXPECT_EQ(program.error().code, ErrorCode::kNotFound);
}

TEST(Freeze, SomethingIsLeftToTrain) {
  const Result<Program> program = Freeze(TwoParameters(), {.freeze = {"*.bias", "fc.weight"}});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().where, "--freeze");
  EXPECT_EQ(program.error().message, "every parameter is frozen, so there is nothing to train");
}

}  // namespace
}  // namespace steelyard
