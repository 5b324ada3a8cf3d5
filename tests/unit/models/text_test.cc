// SPDX-License-Identifier: Apache-2.0
#include "models/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Text, AWindowIsOneMoreCondition) {
  NetUnderTest t;
  t.builder.Return(CausalMask(t.net, Positions(t.net), 7));
  EXPECT_THAT(t.Text(), HasSubstr("aten::gt.Tensor"));
  NetUnderTest whole;
  whole.builder.Return(CausalMask(whole.net, Positions(whole.net)));
  EXPECT_THAT(whole.Text(), Not(HasSubstr("aten::gt.Tensor")));
}

TEST(Text, NearLayersSeeBothWaysAndAreNamedOrRuled) {
  NetUnderTest t;
  t.builder.Return(NearMask(t.net, 7));
  EXPECT_THAT(t.Text(), HasSubstr("aten::le.Scalar(%abs, 7)"));
  const auto every_second = [](std::int64_t layer) { return layer % 2 != 0; };
  EXPECT_EQ(NearLayers(t.config, 3, every_second), (std::vector<bool>{false, true, false}));
  Setting types{.kind = Setting::Kind::kList,
                .items = {{.kind = Setting::Kind::kText, .text = "sliding_attention"}}};
  const Setting root{.kind = Setting::Kind::kObject, .members = {{"layer_types", types}}};
  const Settings named(root);
  EXPECT_EQ(NearLayers(named, 1, every_second), (std::vector<bool>{true}));
  EXPECT_TRUE(named.status());
  NearLayers(named, 2, every_second);
  EXPECT_EQ(named.status().error().where, "layer_types");
}

TEST(Text, FrequenciesOfAKindOfLayersAreCheckedToo) {
  const Setting type{.kind = Setting::Kind::kText, .text = "dynamic"};
  const Setting kind{.kind = Setting::Kind::kObject, .members = {{"rope_type", type}}};
  const Setting rope{.kind = Setting::Kind::kObject, .members = {{"full_attention", kind}}};
  const Setting root{.kind = Setting::Kind::kObject, .members = {{"rope_parameters", rope}}};
  const Settings config(root);
  CheckRotary(config);
  EXPECT_EQ(config.status().error().where, "rope_parameters.full_attention.rope_type");
}

TEST(Text, MasksOfEagerAttentionAreAdded) {
  NetUnderTest t({.dtype = DType::kFloat16, .attention = Attention::kEager});
  t.builder.Return(CausalMask(t.net, Positions(t.net)));
  EXPECT_THAT(t.Text(), HasSubstr("-65504.0"));
}

TEST(Text, ABiasOfScoresIsPutIntoBoolMasks) {
  for (const Attention attention : {Attention::kSdpa, Attention::kEager}) {
    NetUnderTest t({.attention = attention});
    const auto input = [&](std::string_view name, Builder::Size queries, Builder::Size width) {
      return t.builder.Input(name, DType::kFloat32, {2, 4, queries, width});
    };
    const Tensor mask = CrossMask(t.net, 5);
    t.builder.Return(Attend(t.net, {.query = input("q", 3, 6),
                                    .key = input("k", 5, 6),
                                    .value = input("v", 5, 6),
                                    .mask = mask,
                                    .bias = input("bias", 3, 5),
                                    .heads = {.query = 4, .key = 4, .width = 6}}));
    const std::string text = t.Text();
    EXPECT_THAT(text, HasSubstr("[2, -1, 3, 5]"));
    EXPECT_THAT(text, attention == Attention::kSdpa
                          ? HasSubstr("aten::where.ScalarOther(%expand, %bias, ")
                          : HasSubstr("aten::add.Tensor(%mul, %bias)"));
  }
}

TEST(Text, HeadsOfKeysAreRepeatedForTheirGroups) {
  NetUnderTest t;
  const auto heads = [&](std::int64_t n) {
    return t.builder.Input("x", DType::kFloat32, {2, n, 3, 5});
  };
  t.builder.Return(Attend(t.net, {.query = heads(4),
                                  .key = heads(2),
                                  .value = heads(2),
                                  .heads = {.query = 4, .key = 2, .width = 5}}));
  EXPECT_THAT(t.Text(), HasSubstr("[2, 2, 2, 3, 5]"));
}

TEST(Text, WithoutLabelsOnlyLogitsAreReturned) {
  NetUnderTest t;
  ReturnNextToken(t.net, t.builder.Input("x", DType::kFloat32, {2, 3, 9}), TokenLabels(t.net), 9);
  EXPECT_THAT(t.Text(), HasSubstr("return %x\n"));
  NetUnderTest labelled({.labelled = true});
  const Tensor labels = TokenLabels(labelled.net);
  ReturnTokens(labelled.net, labelled.builder.Input("x", DType::kFloat32, {2, 3, 9}), labels, 9);
  EXPECT_THAT(labelled.Text(), HasSubstr("return %cross_entropy_loss, %x\n"));
}

TEST(Text, NoMoreTokensThanPositions) {
  NetUnderTest t;
  TokenInput(t.net, 128);
  const Program program = std::move(t.builder).Build().value();
  ASSERT_EQ(program.symbols.size(), 2u);
  EXPECT_EQ(program.symbols[1].max, 128);
  EXPECT_EQ(program.symbols[1].example, 128);
}

}  // namespace
}  // namespace steelyard::models
