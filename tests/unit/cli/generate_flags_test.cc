// SPDX-License-Identifier: Apache-2.0
#include "cli/generate_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "given.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

TEST(GenerateFlagsTest, NothingIsWrittenUnlessItIsAsked) {
  EXPECT_FALSE(OptionsOf<GenerateFlags>({}).value());
  const auto alone = OptionsOf<GenerateFlags>({{"--beams", "4"}});
  ASSERT_FALSE(alone);
  EXPECT_THAT(Describe(alone.error()), HasSubstr("--beams"));
}

TEST(GenerateFlagsTest, APromptAndWhatFollows) {
  const auto options =
      OptionsOf<GenerateFlags>({{"--generate", "512+128"}, {"--beams", "4"}}).value();
  ASSERT_TRUE(options);
  EXPECT_EQ(options->prompt, 512);
  EXPECT_EQ(options->tokens, 128);
  EXPECT_EQ(options->beams, 4);
  EXPECT_EQ(options->store, "dynamic");
  for (const std::string_view text : {"512", "512+", "+128", "0+1", "1+0", "a+b", "-1+2"}) {
    EXPECT_FALSE(ReadGeneration(text)) << text;
  }
}

TEST(GenerateFlagsTest, OnlyAPagedCacheHasBlocks) {
  EXPECT_FALSE(OptionsOf<GenerateFlags>({{"--generate", "5+1"}, {"--block-size", "32"}}));
  const auto options = OptionsOf<GenerateFlags>(
                           {{"--generate", "5+1"}, {"--cache", "paged"}, {"--block-size", "32"}})
                           .value();
  EXPECT_EQ(options->block, 32);
}

TEST(GenerateFlagsTest, SpeedsAreReadWithTheirUnits) {
  EXPECT_DOUBLE_EQ(ReadSpeed("3.35TB/s", "").value(), 3.35e12);
  EXPECT_DOUBLE_EQ(ReadSpeed("989T", "").value(), 989e12);
  EXPECT_DOUBLE_EQ(ReadSpeed("1.5e15", "").value(), 1.5e15);
  EXPECT_DOUBLE_EQ(ReadSpeed("60 GB/s", "").value(), 60e9);
  EXPECT_DOUBLE_EQ(ReadSpeed("2 TFLOP/s", "").value(), 2e12);
  for (const std::string_view text : {"", "fast", "3.35XB/s", "-1T", "0", "1e30", "nan"}) {
    EXPECT_FALSE(ReadSpeed(text, "--bandwidth")) << text;
  }
}

TEST(GenerateFlagsTest, ATimeNeedsBothSpeeds) {
  const auto one = OptionsOf<GenerateFlags>({{"--generate", "5+1"}, {"--bandwidth", "1TB/s"}});
  ASSERT_FALSE(one);
  EXPECT_THAT(Describe(one.error()), HasSubstr("--peak-flops"));
}

}  // namespace
}  // namespace steelyard::cli
