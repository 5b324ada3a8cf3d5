// SPDX-License-Identifier: Apache-2.0

#include "pass/parameter_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

TEST(ParameterPattern, IsANameOrAModuleAroundIt) {
  EXPECT_TRUE(MatchesParameter("bert.layer.0.weight", "bert.layer.0.weight"));
  EXPECT_TRUE(MatchesParameter("bert.layer", "bert.layer.0.weight"));
  EXPECT_TRUE(MatchesParameter("bert", "bert.layer.0.weight"));
  EXPECT_FALSE(MatchesParameter("bert.lay", "bert.layer.0.weight"));
  EXPECT_FALSE(MatchesParameter("layer", "bert.layer.0.weight"));
  EXPECT_FALSE(MatchesParameter("", "weight"));
}

TEST(ParameterPattern, StarsStandForAnyLettersAndPoints) {
  EXPECT_TRUE(MatchesParameter("*.bias", "bert.layer.0.bias"));
  EXPECT_TRUE(MatchesParameter("bert.layer.?.*", "bert.layer.0.weight"));
  EXPECT_TRUE(MatchesParameter("*norm*", "layer.norm1.weight"));
  EXPECT_TRUE(MatchesParameter("*", "weight"));
  EXPECT_FALSE(MatchesParameter("*.bias", "bert.layer.0.weight"));
  EXPECT_FALSE(MatchesParameter("bert.layer.?.weight", "bert.layer.10.weight"));
}

TEST(ParameterPattern, AModuleInsideOfAnotherIsGuessed) {
  const Result<Program> program =
      ParseText("module bert.encoder.layer.0: Layer\ninput %x: f32[4]\nreturn %x\n", "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Error error = NoModuleMatches(*program, "encoder.layer.*", "--recompute");
  EXPECT_EQ(error.hint, "Did you mean 'bert.encoder.layer.*'?");
  EXPECT_EQ(NoModuleMatches(*program, "decoder.*", "--recompute").hint,
            "A pattern is the path of a module, with * and ?.");
}

TEST(ParameterPattern, FindsTheValuesOfAProgram) {
  const Result<Program> program = ParseText(
      "parameter %w: f32[4] \"fc.weight\"\nparameter %b: f32[4] \"fc.bias\"\nreturn %w\n", "");
  ASSERT_TRUE(program) << Describe(program.error());
  const std::vector<bool> found = ParametersMatching(*program, "*.bias");
  EXPECT_EQ(std::ranges::count(found, true), 1);
  EXPECT_TRUE(found[program->parameters[1].value]);
}

}  // namespace
}  // namespace steelyard
