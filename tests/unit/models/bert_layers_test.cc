// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/bert.h"
#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr BertKind kPlain{.module = "m.", .prefix = "Plain", .hidden = 24, .heads = 3};
constexpr BertKind kCounting{
    .module = "m.", .prefix = "Counting", .hidden = 24, .heads = 3, .counts_tokens = true};

std::string TextOf(NetUnderTest& t, const BertKind& kind) {
  const BertConfig c = ReadBert(t.config, kind);
  const Layer root(t.net);
  const BertEmbeddings embeddings(root, c);
  t.net.b.Return(embeddings(TokenInput(t.net, c.positions)));
  return t.Text();
}

TEST(BertLayers, AKindSaysWhatTheConfigDoesNot) {
  NetUnderTest t;
  const BertConfig c = ReadBert(t.config, kPlain);
  EXPECT_EQ(c.heads.width, 24 / 3);
  EXPECT_EQ(c.embedding, c.hidden);
  EXPECT_EQ(c.ClassOf("Layer"), "m.PlainLayer");
}

TEST(BertLayers, PositionsAreOfTheBufferOrCountedFromPadding) {
  NetUnderTest plain;
  EXPECT_THAT(TextOf(plain, kPlain), Not(HasSubstr("aten::cumsum")));
  NetUnderTest counting;
  EXPECT_THAT(TextOf(counting, kCounting), HasSubstr("aten::cumsum"));
}

TEST(BertLayers, CountedPositionsBeginBehindThePadding) {
  NetUnderTest t;
  EXPECT_EQ(PlanOf(ReadBert(t.config, kPlain), "base").positions, 512);
  EXPECT_EQ(PlanOf(ReadBert(t.config, kCounting), "base").positions, 512 - (0 + 1));
}

TEST(BertLayers, HeadsDivideTheWidth) {
  NetUnderTest t;
  ReadBert(t.config, {.module = "m.", .prefix = "Odd", .hidden = 24, .heads = 5});
  EXPECT_EQ(t.config.status().error().where, "num_attention_heads");
}

}  // namespace
}  // namespace steelyard::models
