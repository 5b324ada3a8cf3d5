// SPDX-License-Identifier: Apache-2.0
#include "analyze/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed.h"

namespace steelyard {
namespace {

constexpr CacheLayer kAll{.heads = 2, .key_width = 64, .value_width = 32};
constexpr CacheLayer kWindow{.heads = 2, .key_width = 64, .value_width = 32, .window = 100};

std::int64_t Bytes(std::string_view store, const CacheLayer& layer, const CacheUse& use) {
  return FindCacheStore(store)->bytes(layer, use).all.value();
}

TEST(CacheTest, KeysAndValuesOfEachHeadAreKept) {
  EXPECT_EQ(BytesPerToken(kAll, DType::kFloat32, nullptr).value(), 2 * (64 + 32) * kFloat);
  EXPECT_EQ(BytesPerToken(kAll, DType::kBFloat16, nullptr).value(), 2 * (64 + 32) * 2);
}

TEST(CacheTest, ADynamicCacheHoldsWhatWasSeen) {
  const std::int64_t token = 2 * (64 + 32) * kFloat;
  EXPECT_EQ(Bytes("dynamic", kAll, {.sequences = 3, .prompt = 50, .past = 59, .tokens = 1}),
            3 * 60 * token);
  EXPECT_EQ(Bytes("dynamic", kWindow, {.prompt = 500, .tokens = 500}), 500 * token);
  EXPECT_EQ(Bytes("dynamic", kWindow, {.prompt = 500, .past = 500, .tokens = 1}), 100 * token);
}

TEST(CacheTest, AStaticCacheIsThereFromTheStart) {
  const std::int64_t token = 2 * (64 + 32) * kFloat;
  const CacheUse use{.prompt = 50, .tokens = 50, .most = 640};
  EXPECT_EQ(Bytes("static", kAll, use), 640 * token);
  EXPECT_EQ(Bytes("static", kWindow, use), 100 * token);
  EXPECT_EQ(FindCacheStore("static")->bytes(kAll, use).unused.value(), (640 - 50) * token);
}

TEST(CacheTest, BlocksAreRoundedUpAndSharedOnes) {
  const std::int64_t block = 16 * 2 * (64 + 32) * kFloat;
  CacheUse use{.sequences = 4, .prompt = 50, .past = 50, .tokens = 1, .block = 16};
  EXPECT_EQ(Bytes("paged", kAll, use), 4 * 4 * block) << "51 tokens take 4 blocks";
  EXPECT_EQ(FindCacheStore("paged")->bytes(kAll, use).unused.value(),
            4 * (4 * 16 - 51) * block / 16);
  use.shared = 40;  // of which 2 blocks are full
  EXPECT_EQ(Bytes("paged", kAll, use), (2 + 4 * (4 - 2)) * block);
  EXPECT_EQ(FindCacheStore("paged")->bytes(kAll, use).shared.value(), 3 * 2 * block);
}

TEST(CacheTest, AWindowLiesInTheBlocksThatItMayTouch) {
  const std::int64_t block = 16 * 2 * (64 + 32) * kFloat;
  const CacheUse use{.prompt = 500, .past = 500, .tokens = 1, .block = 16};
  EXPECT_EQ(Bytes("paged", kWindow, use), (7 + 1) * block) << "99 tokens take 7 blocks, one more";
}

TEST(CacheTest, GroupsHaveScales) {
  const std::int64_t keys = 2 * 64, values = 2 * 32;  // numbers of a token
  const CacheNumberRow* q8 = FindCacheNumbers("q8_0");
  EXPECT_EQ(BytesPerToken(kAll, DType::kFloat16, q8).value(),
            keys + keys / 32 * 2 + values + values / 32 * 2);
  const CacheNumberRow* int4 = FindCacheNumbers("int4");
  EXPECT_EQ(BytesPerToken(kAll, DType::kFloat16, int4).value(),
            keys / 2 + keys / 64 * 4 + values / 2 + values / 64 * 4)
      << "scale and zero of two bytes each";
}

TEST(CacheTest, TheNewestTokensAreKeptWhole) {
  const std::int64_t whole = 2 * (64 + 32) * 2;  // bytes of a token in float16
  const CacheNumberRow* int8 = FindCacheNumbers("int8");
  const std::int64_t narrow = BytesPerToken(kAll, DType::kFloat16, int8).value();
  CacheUse use{.prompt = 300, .tokens = 300, .dtype = DType::kFloat16, .numbers = int8};
  EXPECT_EQ(Bytes("dynamic", kAll, use), 300 * narrow) << "a prompt is not";
  use.past = 309;
  use.tokens = 1;
  EXPECT_EQ(Bytes("dynamic", kAll, use), 300 * narrow + 10 * whole);
  use.past = 300 + 127;
  EXPECT_EQ(Bytes("dynamic", kAll, use), (300 + 128) * narrow);
}

TEST(CacheTest, AlikeLayersAreOneGroup) {
  const std::vector<CacheLayer> layers{kAll, kWindow, kAll, kAll};
  const std::vector<CacheGroup> groups = GroupLayers(layers);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].layers, 3);
  EXPECT_EQ(groups[1].layer.window, 100);
}

TEST(CacheTest, TooManyBytesAreRefused) {
  const std::vector<CacheGroup> groups = GroupLayers(std::vector<CacheLayer>{kAll});
  const std::int64_t most = std::int64_t{1} << 31;
  const Result<CacheBytes> bytes =
      BytesOf(groups, *FindCacheStore("dynamic"),
              {.sequences = most * 1024, .prompt = most, .tokens = most});
  EXPECT_FALSE(bytes);
}

}  // namespace
}  // namespace steelyard
