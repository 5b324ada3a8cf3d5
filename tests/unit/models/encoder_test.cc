// SPDX-License-Identifier: Apache-2.0
#include "models/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;

// An embedding as a model; it pools by taking the first token.
struct Model : Layer {
  Model(const Layer& parent, std::string_view name, std::int64_t width, Pooling how)
      : Layer(parent, name, "Model"), embed(*this, "embed", 11, width), pooling(how) {}
  Encoded operator()(Tensor tokens) const {
    const Tensor hidden = embed(tokens);
    if (pooling == Pooling::kNone) return {.hidden = hidden};
    return {.hidden = hidden, .pooled = FirstToken(net(), hidden)};
  }
  Tensor words() const { return embed.weight; }
  Embedding embed;
  Pooling pooling;
};

struct WordHead : Linear {
  WordHead(const Layer& root, std::int64_t width, Tensor words)
      : Linear(root, "words", width, 11, Ties{.weight = words}) {}
};

struct ClassHead : Linear {
  ClassHead(const Layer& root, std::int64_t width, std::int64_t classes)
      : Linear(root, "classes", width, classes) {}
  Tensor operator()(const Encoded& encoded) const { return Linear::operator()(encoded.pooled); }
};

std::string TextOf(NetUnderTest& t, std::optional<double> span_dropout = {}) {
  const std::int64_t width = 8;
  BuildEncoder<Model, WordHead, ClassHead>(t.net, width,
                                           {.base = "base",
                                            .hidden = width,
                                            .vocabulary = 11,
                                            .positions = 64,
                                            .span_dropout = span_dropout,
                                            .alone = Pooling::kFirst,
                                            .classified = Pooling::kFirst});
  return t.Text();
}

TEST(Encoder, AModelAloneReturnsWhatItPooledBehindItsStates) {
  NetUnderTest t({.head = "Model", .labelled = true});
  EXPECT_THAT(TextOf(t), HasSubstr("return %embedding, %select\n"));
}

TEST(Encoder, HiddenWordsAreFoundWithTheEmbeddingsOfWords) {
  NetUnderTest t({.head = "ForMaskedLM", .labelled = true});
  const std::string text = TextOf(t);
  EXPECT_THAT(text, HasSubstr("aten::linear(%embedding, %base.embed.weight, %words.bias)"));
  EXPECT_THAT(text, HasSubstr("return %cross_entropy_loss, %linear\n"));
}

TEST(Encoder, ClassesOfSequencesAreOfThePooledToken) {
  NetUnderTest t({.head = "ForSequenceClassification"});
  EXPECT_THAT(TextOf(t), HasSubstr("aten::linear(%select, %classes.weight"));
}

TEST(Encoder, SpansMayHaveADropoutBeforeThem) {
  NetUnderTest plain({.head = "ForQuestionAnswering"});
  EXPECT_THAT(TextOf(plain), HasSubstr("aten::linear(%embedding, %qa_outputs.weight"));
  NetUnderTest dropped({.head = "ForQuestionAnswering"});
  EXPECT_THAT(TextOf(dropped, 0.1), HasSubstr("aten::linear(%dropout, %qa_outputs.weight"));
}

TEST(Encoder, CrossAttentionIsRefused) {
  const Setting root{
      .kind = Setting::Kind::kObject,
      .members = {{"add_cross_attention", {.kind = Setting::Kind::kFlag, .flag = true}}}};
  const Settings config(root);
  RefuseOddEncoders(config);
  EXPECT_EQ(config.status().error().where, "add_cross_attention");
}

}  // namespace
}  // namespace steelyard::models
