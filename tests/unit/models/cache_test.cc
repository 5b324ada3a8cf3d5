// SPDX-License-Identifier: Apache-2.0
#include "models/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr CacheLayer kLayer{.heads = 2, .key_width = 8, .value_width = 4};

// The program of one layer that is given new keys and values.
std::string TextOf(const CacheStep& step, const CacheLayer& layer) {
  NetUnderTest test({.cache = step});
  Net& net = test.net;
  const Tensor key = net.b.Input("k", DType::kFloat32, {net.batch, 2, step.tokens, 8});
  const Tensor value = net.b.Input("v", DType::kFloat32, {net.batch, 2, step.tokens, 4});
  Updated(net, {.key = key, .value = value}, layer);
  KeepCaches(net);
  return Print(std::move(test.builder).Build().value());
}

TEST(CacheTest, WithoutAGenerationStatesStayAsTheyAre) {
  NetUnderTest test;
  const Tensor key = test.builder.Input("k", DType::kFloat32, {2});
  const States states = Updated(test.net, {.key = key, .value = key}, kLayer);
  EXPECT_EQ(states.key.id, key.id);
  EXPECT_EQ(KeysGiven(test.net, kLayer), 0);
  KeepCaches(test.net);
  Leave(test.net, {key});
  EXPECT_EQ(test.builder.Here().calls, 0U);
}

TEST(CacheTest, APromptIsCopiedIntoTheCache) {
  const std::string text = TextOf({.tokens = 5}, kLayer);
  EXPECT_THAT(text, HasSubstr("aten::cat([%k], -2)"));
  EXPECT_THAT(text, Not(HasSubstr("past_key_values")));
}

TEST(CacheTest, ATokenIsAppendedToWhatWasKept) {
  const std::string text = TextOf({.past = 7, .tokens = 1}, kLayer);
  EXPECT_THAT(text, HasSubstr("%past_key_values.0.key: "));
  EXPECT_THAT(text, HasSubstr("f32[2,2,7,8]"));
  EXPECT_THAT(text, HasSubstr("f32[2,2,7,4]"));
  EXPECT_THAT(text, HasSubstr(" cache"));
}

TEST(CacheTest, BeamsHoldCopiesOfAWindow) {
  CacheLayer layer = kLayer;
  layer.window = 4;
  for (const bool after_prompt : {true, false}) {
    const std::string text =
        TextOf({.past = 9, .tokens = 1, .after_prompt = after_prompt, .reorders = true}, layer);
    EXPECT_THAT(text, HasSubstr("%past_key_values.0.key: f32[2,2,3,8]")) << text;
  }
}

TEST(CacheTest, AWindowIsAViewOfWhatWasGiven) {
  CacheLayer layer = kLayer;
  layer.window = 4;
  EXPECT_THAT(TextOf({.past = 9, .tokens = 1, .after_prompt = true}, layer),
              HasSubstr("f32[2,2,9,8]"))
      << "the prompt is there";
  const std::string later = TextOf({.past = 9, .tokens = 1}, layer);
  EXPECT_THAT(later, HasSubstr("f32[2,2,4,8]")) << "three tokens and the last one's";
  EXPECT_THAT(later, HasSubstr("aten::slice.Tensor(%past_key_values.0.key, 2, 1,"));
}

TEST(CacheTest, BeamsTakeOverTheCachesOfOthers) {
  const std::string text = TextOf({.past = 3, .tokens = 1, .reorders = true}, kLayer);
  EXPECT_THAT(text, HasSubstr("aten::index_select"));
  EXPECT_THAT(text, HasSubstr("beam_idx"));
}

}  // namespace
}  // namespace steelyard::models
