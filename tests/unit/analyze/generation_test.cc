// SPDX-License-Identifier: Apache-2.0
#include "analyze/generation.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

constexpr CacheLayer kLayer{.heads = 1, .key_width = 8, .value_width = 8};
constexpr std::int64_t kToken = (8 + 8) * 4;  // bytes in float32

Generation OfOneLayer() {
  Generation generation;
  generation.layers = GroupLayers(std::vector<CacheLayer>{kLayer});
  return generation;
}

TEST(GenerationTest, TheSlowerOfBothIsWaitedFor) {
  GenerationCall call{.flops = 100, .weights_read = 40, .cache_read = 8, .cache_written = 2};
  Time(0, 0, &call);
  EXPECT_EQ(call.seconds, 0) << "nobody asked";
  Time(1000, 100, &call);
  EXPECT_DOUBLE_EQ(call.seconds, (40 + 8 + 2) / 100.0);
  EXPECT_TRUE(call.waits_for_memory);
  Time(10, 100, &call);
  EXPECT_DOUBLE_EQ(call.seconds, 100 / 10.0);
  EXPECT_FALSE(call.waits_for_memory);
}

TEST(GenerationTest, CallsBetweenTheFirstAndTheLastTakeTheirMean) {
  Generation generation{.tokens = 5};
  EXPECT_EQ(TimeOfAll(generation), 0);
  generation.calls = {{.seconds = 8}, {.seconds = 1}, {.seconds = 3}};
  EXPECT_DOUBLE_EQ(TimeOfAll(generation), 8 + (5 - 1) * (1 + 3) / 2.0);
}

TEST(GenerationTest, LayersAreCounted) {
  Generation generation = OfOneLayer();
  const CacheUse end{.sequences = 3, .prompt = 5, .past = 6, .tokens = 1};
  ASSERT_TRUE(CountCache(*FindCacheStore("dynamic"), end, &generation));
  EXPECT_EQ(generation.bytes_per_token, kToken);
  EXPECT_EQ(generation.layers[0].bytes, 3 * 7 * kToken);
  EXPECT_EQ(generation.expanded_per_token, 0);
}

TEST(GenerationTest, LatentsStandForMore) {
  CacheLayer latent = kLayer;
  latent.expanded = 4 * (24 + 16);
  Generation generation;
  generation.layers = GroupLayers(std::vector<CacheLayer>{latent, latent});
  ASSERT_TRUE(CountCache(*FindCacheStore("dynamic"), {.tokens = 1}, &generation));
  EXPECT_EQ(generation.bytes_per_token, 2 * kToken);
  EXPECT_EQ(generation.expanded_per_token, 2 * 4 * (24 + 16) * 4);
}

TEST(GenerationTest, AsMuchAsThereIsRoomFor) {
  const Generation generation = OfOneLayer();
  const CacheStoreRow& store = *FindCacheStore("paged");
  const CacheUse end{.sequences = 1, .prompt = 6, .past = 6, .tokens = 1, .block = 4};
  const std::int64_t block = 4 * kToken;
  EXPECT_EQ(TokensWithin(5 * block + block / 2, generation, store, end), 5 * 4);
  EXPECT_EQ(SequencesWithin(5 * block, generation, store, end), 2) << "of two blocks each";
  EXPECT_EQ(TokensWithin(0, generation, store, end), 0);
}

}  // namespace
}  // namespace steelyard
