// SPDX-License-Identifier: Apache-2.0
#include "models/heads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;

// The program of a head over hidden states of width 8, of a vocabulary of 11 words.
std::string HeadText(NetUnderTest& t, const HeadPlan& plan) {
  const Layer root(t.net);
  const Embedding embed(root, "embed", 11, 8);
  const TextHead head(root, plan, embed.weight);
  head.Run(t.net, [&](Tensor tokens) { return embed(tokens); });
  return t.Text();
}

constexpr HeadPlan kHeadPlan{.hidden = 8, .vocabulary = 11, .positions = 64};

TEST(Heads, AModelAloneReturnsItsStates) {
  NetUnderTest t({.head = "Model", .labelled = true});
  EXPECT_EQ(BaseName(t.net, kHeadPlan), "");
  EXPECT_THAT(HeadText(t, kHeadPlan), HasSubstr("return %embedding\n"));
}

TEST(Heads, ATiedHeadHasNoParameterOfItsOwn) {
  HeadPlan tied = kHeadPlan;
  tied.tied = true;
  NetUnderTest t({.head = "ForCausalLM"});
  EXPECT_EQ(BaseName(t.net, tied), "model");
  EXPECT_THAT(HeadText(t, tied),
              HasSubstr("aten::linear(%embedding, %embed.weight, None) in lm_head"));
}

TEST(Heads, SpansHaveTwoLosses) {
  NetUnderTest t({.head = "ForQuestionAnswering", .labelled = true});
  const std::string text = HeadText(t, kHeadPlan);
  EXPECT_THAT(text, HasSubstr("aten::cross_entropy_loss(%contiguous_1, %clamp_1, None, 1, seq)"));
  EXPECT_THAT(text, HasSubstr("return %div, %contiguous, %contiguous_1\n"));
}

TEST(Heads, SequencesNeedAPaddingToken) {
  NetUnderTest t({.head = "ForSequenceClassification"});
  HeadText(t, kHeadPlan);
  EXPECT_EQ(t.config.status().error().where, "pad_token_id");
}

TEST(Heads, LabelsAreCountedByTheirNames) {
  Setting names{.kind = Setting::Kind::kObject};
  for (const char* key : {"0", "1", "2"}) names.members.emplace_back(key, Setting{});
  const Setting root{.kind = Setting::Kind::kObject, .members = {{"id2label", names}}};
  EXPECT_EQ(LabelCount(Settings(root)), 3);
  const Setting none{.kind = Setting::Kind::kObject};
  EXPECT_EQ(LabelCount(Settings(none)), 2);
}

}  // namespace
}  // namespace steelyard::models
