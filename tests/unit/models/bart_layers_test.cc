// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/bart.h"
#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr BartKind kBehind{.module = "m.", .prefix = "Behind", .hidden = 24, .heads = 3};
constexpr BartKind kBefore{.module = "m.",
                           .prefix = "Before",
                           .hidden = 24,
                           .heads = 3,
                           .norm_before = true,
                           .scaled_queries = true};

std::string TextOf(NetUnderTest& t, const BartKind& kind, BartLayer::Sees sees) {
  const BartConfig c = ReadBart(t.net, kind);
  const BartLayer layer(Layer(t.net), "layer", c, sees);
  const auto input = [&](std::string_view name, Dim seq) {
    return t.builder.Input(name, DType::kFloat32, {t.net.batch, seq, c.hidden});
  };
  const Tensor x = input("x", t.net.seq);
  const Source source{.hidden = input("source", Dim(5)), .seq = Dim(5)};
  t.builder.Return(layer(x, {}, source));
  return t.Text();
}

TEST(BartLayers, NormsStandBehindOrBefore) {
  NetUnderTest behind;
  EXPECT_THAT(TextOf(behind, kBehind, BartLayer::Sees::kItself),
              HasSubstr("return %layer_norm_1\n"));
  NetUnderTest before;
  EXPECT_THAT(TextOf(before, kBefore, BartLayer::Sees::kItself),
              HasSubstr("%layer_norm = aten::layer_norm(%x, "));
}

TEST(BartLayers, ScaledQueriesAreScaledOnce) {
  NetUnderTest t;
  const std::string text = TextOf(t, kBefore, BartLayer::Sees::kItself);
  EXPECT_THAT(text, HasSubstr("None, 0.0, False, 1.0)"));
  EXPECT_THAT(text, HasSubstr("aten::contiguous"));
  EXPECT_THAT(text, Not(HasSubstr("k_proj.bias")));
}

TEST(BartLayers, ADecoderSeesTheSourceInItsLength) {
  NetUnderTest alone;
  EXPECT_THAT(TextOf(alone, kBehind, BartLayer::Sees::kItself),
              Not(HasSubstr("aten::linear(%source")));
  NetUnderTest t;
  const std::string text = TextOf(t, kBehind, BartLayer::Sees::kSourceToo);
  EXPECT_THAT(text, HasSubstr("aten::linear(%source, %layer.encoder_attn.k_proj.weight"));
  EXPECT_THAT(text, HasSubstr("[2, 5, -1, 8]"));
}

TEST(BartLayers, LayersThatChanceLeavesOutAreRefusedInTraining) {
  const Setting root{
      .kind = Setting::Kind::kObject,
      .members = {{"decoder_layerdrop", {.kind = Setting::Kind::kReal, .real = 0.1}}}};
  for (const bool training : {false, true}) {
    NetUnderTest t({.training = training});
    const Settings config(root);
    ReadBart({.b = t.builder, .config = config, .options = t.options}, kBehind);
    EXPECT_EQ(config.status().has_value(), !training);
  }
}

}  // namespace
}  // namespace steelyard::models
