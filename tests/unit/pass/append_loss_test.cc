// SPDX-License-Identifier: Apache-2.0

#include "pass/append_loss.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parsed.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

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

// The sizes of the target of a loss of scores `type`, "2x7", and what makes the scores.
std::string TargetOf(std::string_view loss, std::string_view type) {
  const std::string t(type);
  const Result<Program> program =
      AppendLoss(Parsed("parameter %w: " + t + "\ninput %x: " + t + "\n%y: " + t +
                        " = aten::mul.Tensor(%x, %w)\nreturn %y\n"),
                 {.loss = std::string(loss)});
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return "";
  std::string out;
  const std::vector<Node>& nodes = program->main().nodes;
  const Node& zeros = nodes[nodes.size() - 2];
  EXPECT_EQ(program->op_name(zeros.op), "aten::zeros");
  for (const std::int64_t size : program->sizes(program->results(zeros)[0])) {
    out += (out.empty() ? "" : "x") + std::to_string(size);
  }
  return out;
}

TEST(AppendLoss, ClassesOfThreeDimensionsAreTheLastOrTheSecond) {
  EXPECT_EQ(TargetOf("cross-entropy", "f32[2,5,7]"), std::to_string(2 * 5));
  EXPECT_EQ(TargetOf("cross-entropy-dim1", "f32[2,5,7]"), "2x7");
  EXPECT_EQ(TargetOf("nll", "f32[2,5,7]"), std::to_string(2 * 5));
  EXPECT_EQ(TargetOf("nll-dim1", "f32[2,5,7]"), "2x7");
}

TEST(AppendLoss, ClassesOfImagesAndVolumesAreTheSecondDimension) {
  EXPECT_EQ(TargetOf("cross-entropy", "f32[2,5,3,4]"), "2x3x4");
  EXPECT_EQ(TargetOf("cross-entropy", "f32[2,5,3,4,6]"), "2x3x4x6");
  EXPECT_EQ(TargetOf("cross-entropy-dim1", "f32[2,5]"), "2");
}

TEST(AppendLoss, ABatchOfOneScoreIsNoLoss) {
  EXPECT_EQ(TargetOf("mse", "f32[1]"), "1");
  EXPECT_EQ(TargetOf("mse", "f32[1,1]"), "1x1");
  EXPECT_EQ(TargetOf("bce-with-logits", "f32[1,1]"), "1x1");
  EXPECT_EQ(TargetOf("cross-entropy", "f32[1,1]"), "1");
}

TEST(AppendLoss, WhatIsALossAlreadyHasNoOther) {
  Program named = Parsed("parameter %w: f32[1]\n%l: f32[1] = aten::relu(%w)\nreturn %l\n");
  named.loss = named.main().outputs[0].value;
  EXPECT_FALSE(AppendLoss(named, {.loss = "mse"})) << "the file calls it so";
  EXPECT_FALSE(AppendLoss(Parsed("parameter %w: f32[4]\n%l: f32[] = aten::sum(%w)\nreturn %l\n"),
                          {.loss = "mse"}));
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
