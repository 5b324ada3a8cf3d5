// SPDX-License-Identifier: Apache-2.0

#include "pass/fused_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text_reader.h"
#include "ir/verify.h"
#include "parsed.h"
#include "pass/append_loss.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// A body, and a head of which the last line is the scores.
Result<Program> Fused(std::string_view head, int chunks, std::string loss = "cross-entropy") {
  const std::string text =
      "parameter %w: f32[5,8] \"w\"\nparameter %b: f32[5] \"b\"\nparameter %m: f32[3,3] \"m\"\n"
      "input %x: f32[2,3,8]\n%h: f32[2,3,8] = aten::tanh(%x)\n" +
      std::string(head) + "return %scores, %h\n";
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  return AppendLoss(*std::move(program), {.loss = std::move(loss), .fused_loss = chunks});
}

constexpr std::string_view kLinear = "%scores: f32[2,3,5] = aten::linear(%h, %w, %b)\n";

TEST(FusedLoss, EachChunkIsARegionOfItsOwn) {
  const Result<Program> program = Fused(kLinear, 4);
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(Verify(*program));
  // 6 rows in chunks of 2: three of the four that were asked for, as torch.chunk does.
  EXPECT_THAT(
      Operators(*program, 0),
      ElementsAre("aten::tanh", "aten::reshape", "aten::zeros", "aten::chunk", "aten::chunk",
                  "steelyard::checkpoint", "steelyard::checkpoint", "steelyard::checkpoint",
                  "aten::stack", "aten::sum", "steelyard::scale_loss"));
  ASSERT_EQ(program->graphs.size(), 1u + 3u);
  EXPECT_THAT(Operators(*program, 1), ElementsAre("aten::linear", "aten::cross_entropy_loss"));
  const ValueId scores = program->results(program->graphs[1].nodes[0])[0];
  EXPECT_THAT(program->sizes(scores), ElementsAre(6 / 3, 5));
}

TEST(FusedLoss, TheScoresAreNoLongerReturned) {
  const Program program = Fused(kLinear, 2).value();
  ASSERT_EQ(program.main().outputs.size(), 2u);
  EXPECT_EQ(program.text(program.values[program.main().outputs[0].value].name), "h");
  EXPECT_EQ(program.main().outputs[1].value, program.loss);
}

TEST(FusedLoss, PointwiseFunctionsOfTheScoresGoWithThem) {
  const Result<Program> program =
      Fused("%y: f32[2,3,5] = aten::linear(%h, %w)\n%scores: f32[2,3,5] = aten::tanh(%y)\n", 2);
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_THAT(Operators(*program, 1),
              ElementsAre("aten::linear", "aten::tanh", "aten::cross_entropy_loss"));
}

TEST(FusedLoss, AHeadThatMixesRowsHasNoChunks) {
  EXPECT_FALSE(Fused("%scores: f32[2,3,8] = aten::softmax.int(%h, 1)\n", 2));
  EXPECT_FALSE(Fused("%scores: f32[2,3,8] = aten::matmul(%m, %h)\n", 2));
}

TEST(FusedLoss, ScoresThatAreUsedOtherwiseHaveNone) {
  const Result<Program> program =
      Fused("%scores: f32[2,3,5] = aten::linear(%h, %w)\n%z: f32[2,3,5] = aten::exp(%scores)\n", 2);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "the scores are not those of a linear layer alone");
}

TEST(FusedLoss, OnlyACrossEntropyHasChunks) {
  EXPECT_TRUE(Fused(kLinear, 2, "label-smoothing"));
  EXPECT_EQ(Fused(kLinear, 2, "mse").error().code, ErrorCode::kUsage);
  EXPECT_EQ(Fused(kLinear, 2, "").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace steelyard
