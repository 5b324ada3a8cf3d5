// SPDX-License-Identifier: Apache-2.0
#include "pass/set_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text_printer.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kDropoutAndNorm = R"(
input %x: f32[4,8,2,2]
parameter %w: f32[8]
buffer %m: f32[8]
%a: f32[4,8,2,2] = aten::dropout(%x, 0.1, False)
%b: f32[4,8,2,2] = aten::batch_norm(%a, %w, %w, %m, %m, training=False, momentum=0.1, eps=1e-05, cudnn_enabled=True)
%c: f32[4,8,2,2] = aten::dropout(%b, 0.1, True)
%d: f32[4,8,2,2] = my::own(%c, False)
return %d
)";

Program Set(ModelMode mode, std::string_view text = kDropoutAndNorm) {
  Result<Program> program = ParseText(text, "");
  EXPECT_TRUE(program) << Describe(program.error());
  Result<Program> set = SetMode(*std::move(program), mode, false);
  EXPECT_TRUE(set);
  return *std::move(set);
}

TEST(SetModeTest, TrainSwitchesWhatTheFileHasOff) {
  const Program p = Set(ModelMode::kTrain);
  const std::string text = Print(p);
  EXPECT_THAT(text, HasSubstr("aten::dropout(%x, 0.1, True)"));
  EXPECT_THAT(text, HasSubstr("training=True")) << "given by name";
  EXPECT_THAT(text, HasSubstr("my::own(%c, False)")) << "nobody knows what it means";
  ASSERT_EQ(p.notes.size(), 1u);
  EXPECT_EQ(p.text(p.notes[0]), "--mode train: 2 calls that the file has in the other mode");
}

TEST(SetModeTest, EvalSwitchesWhatTheFileHasOn) {
  const Program p = Set(ModelMode::kEval);
  EXPECT_THAT(Print(p), HasSubstr("aten::dropout(%b, 0.1, False)"));
  EXPECT_EQ(p.text(p.notes.at(0)), "--mode eval: 1 call that the file has in the other mode");
}

TEST(SetModeTest, ExportedLeavesEverything) {
  EXPECT_THAT(Set(ModelMode::kExported).notes, IsEmpty());
}

constexpr std::string_view kAttentionAndInstances = R"(
input %x: f32[2,4,8,8]
buffer %m: f32[4]
%a: f32[2,4,8,8] = aten::scaled_dot_product_attention(%x, %x, %x, None, 0.1)
%b: f32[2,4,8,8] = aten::instance_norm(%a, None, None, %m, %m, True, 0.1, 1e-05, True)
%c: f32[2,4,8,8] = aten::instance_norm(%b, None, None, None, None, True, 0.1, 1e-05, True)
return %c
)";

TEST(SetModeTest, EvalDropsNothingOutOfAttentionAndTakesRunningStatistics) {
  const Program p = Set(ModelMode::kEval, kAttentionAndInstances);
  const std::string text = Print(p);
  EXPECT_THAT(text, HasSubstr("aten::scaled_dot_product_attention(%x, %x, %x, None, 0.0)"));
  EXPECT_THAT(text, HasSubstr("(%a, None, None, %m, %m, False,"));
  EXPECT_THAT(text, HasSubstr("(%b, None, None, None, None, True,")) << "there are no statistics";
  EXPECT_EQ(p.text(p.notes.at(0)), "--mode eval: 2 calls that the file has in the other mode");
}

TEST(SetModeTest, BatchesWithoutRunningStatisticsAreNormalizedAlikeInBothModes) {
  constexpr std::string_view kText = R"(
input %x: f32[4,8]
%a: f32[4,8] = aten::batch_norm(%x, None, None, None, None, True, 0.1, 1e-05, True)
return %a
)";
  const Program p = Set(ModelMode::kEval, kText);
  EXPECT_THAT(Print(p), HasSubstr("(%x, None, None, None, None, True,"));
  EXPECT_THAT(p.notes, IsEmpty());
}

TEST(SetModeTest, ACallThatSaysNothingIsInTheModeOfItsSchema) {
  constexpr std::string_view kText = R"(
input %x: f32[4,8]
%a: f32[4,8] = aten::rrelu(%x)
return %a
)";
  const Program trains = Set(ModelMode::kTrain, kText);
  EXPECT_THAT(Print(trains), HasSubstr("aten::rrelu(%x, training=True)"));
  EXPECT_EQ(trains.text(trains.notes.at(0)),
            "--mode train: 1 call that the file has in the other mode");
  EXPECT_THAT(Set(ModelMode::kEval, kText).notes, IsEmpty());
}

TEST(SetModeTest, TrainFindsAttentionAsItIs) {
  EXPECT_THAT(Set(ModelMode::kTrain, kAttentionAndInstances).notes, IsEmpty());
}

constexpr std::string_view kAttentionOfNoDropout = R"(
input %x: f32[2,4,8,8]
%a: f32[2,4,8,8] = aten::scaled_dot_product_attention(%x, %x, %x)
%b: f32[2,4,8,8] = aten::scaled_dot_product_attention(%a, %x, %x, None, 0.0, True)
)";

TEST(SetModeTest, TrainSaysWhatAnExportForEvaluationLeftOutOfAttention) {
  for (const std::string_view rest : {"return %b", R"(
%c: f32[2,4,8,8] = aten::dropout(%b, 0.1, False)
return %c)"}) {
    const Program p = Set(ModelMode::kTrain, std::string(kAttentionOfNoDropout).append(rest));
    ASSERT_FALSE(p.notes.empty());
    EXPECT_THAT(p.text(p.notes.back()), HasSubstr("2 calls of attention have dropout_p 0"));
  }
}

TEST(SetModeTest, ModelThatWasExportedInTrainingHasTheDropoutOfItsAttention) {
  const std::string trains = std::string(kAttentionOfNoDropout) +
                             "%c: f32[2,4,8,8] = aten::dropout(%b, 0.1, True)\n" + "return %c";
  EXPECT_THAT(Set(ModelMode::kTrain, trains).notes, IsEmpty());
}

TEST(SetModeTest, ModelThatIsBuiltHasTheDropoutOfItsAttention) {
  const std::string built =
      R"(fact "built_from" "config.json")" + std::string(kAttentionOfNoDropout);
  EXPECT_THAT(Set(ModelMode::kTrain, built + "return %b").notes, IsEmpty());
}

TEST(SetModeTest, EvalNeedsNoDropoutOfAttention) {
  EXPECT_THAT(Set(ModelMode::kEval, std::string(kAttentionOfNoDropout) + "return %b").notes,
              IsEmpty());
}

}  // namespace
}  // namespace steelyard
