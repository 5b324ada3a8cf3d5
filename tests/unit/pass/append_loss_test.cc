// SPDX-License-Identifier: Apache-2.0

#include "pass/append_loss.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text_reader.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

Program Parsed(std::string_view text) {
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? *std::move(program) : Program();
}

constexpr std::string_view kScores =
    "parameter %w: f32[5,8]\ninput %x: f32[2,3,8]\n%y: f32[2,3,5] = aten::linear(%x, %w)\nreturn "
    "%y\n";

TEST(AppendLoss, AProgramMayReturnItsOwn) {
  const Result<Program> program =
      AppendLoss(Parsed("parameter %w: f32[4]\n%l: f32[] = aten::sum(%w)\nreturn %l\n"), {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->main().nodes.size(), 1u);
  EXPECT_EQ(program->text(program->values[program->loss].name), "l");
}

TEST(AppendLoss, ScoresOfALanguageModelAreFlattened) {
  const Result<Program> program = AppendLoss(Parsed(kScores), {.loss = "cross-entropy"});
  ASSERT_TRUE(program) << Describe(program.error());
  const std::vector<Node>& nodes = program->main().nodes;
  ASSERT_EQ(nodes.size(), 1u + 3u);
  EXPECT_EQ(program->op_name(nodes[1].op), "aten::reshape");
  EXPECT_EQ(program->op_name(nodes[2].op), "aten::zeros");
  EXPECT_EQ(program->op_name(nodes[3].op), "aten::cross_entropy_loss");
  // One class number for each of 2 x 3 positions.
  EXPECT_EQ(program->sizes(program->results(nodes[2])[0])[0], 2 * 3);
}

TEST(AppendLoss, EveryLossOfTheListFitsSomething) {
  for (const LossInfo& loss : Losses()) {
    const Result<Program> program = AppendLoss(Parsed(kScores), {.loss = std::string(loss.name)});
    EXPECT_TRUE(program) << loss.name;
  }
}

TEST(AppendLoss, WithoutOneTheChoicesAreNamed) {
  const Result<Program> none = AppendLoss(Parsed(kScores), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().hint.find("--loss"), std::string::npos);
  EXPECT_EQ(AppendLoss(Parsed(kScores), {.loss = "huber"}).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace steelyard
