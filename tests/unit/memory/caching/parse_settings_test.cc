// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "allocators.h"
#include "memory/caching/settings.h"

namespace steelyard {
namespace {

using testing::HasSubstr;

std::string Refusal(std::string_view text) {
  const Result<AllocatorSettings> settings = ParseAllocatorSettings(text);
  return settings ? "it was taken" : Describe(settings.error());
}

TEST(ParseAllocatorSettings, KnowsTheKeys) {
  const AllocatorSettings settings = Parsed(
      " max_split_size_mb:128, max_non_split_rounding_mb:40,garbage_collection_threshold:0.8,"
      "expandable_segments:True,per_process_memory_fraction:0.5,throw_on_cudamalloc_oom:True,"
      "expandable_segments_reserve:40G,pinned_use_background_threads:True,backend:native");
  EXPECT_EQ(settings.max_split_size, 128 * kMiB);
  EXPECT_EQ(settings.max_non_split_rounding, 40 * kMiB);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.8);
  EXPECT_EQ(settings.memory_fraction, 0.5);
  EXPECT_TRUE(settings.expandable_segments);
  EXPECT_TRUE(settings.refuse_early);
  EXPECT_FALSE(settings.expandable_reserve.is_share);
  EXPECT_EQ(settings.expandable_reserve.bytes, 40 * kGiB);
  EXPECT_EQ(Parsed("large_segment_size_mb:64").large_segment_size, 64 * kMiB);
  EXPECT_EQ(Parsed("expandable_segments_reserve:0.25").expandable_reserve.share, 0.25);
}

TEST(ParseAllocatorSettings, TakesNothingForTheDefaults) {
  const AllocatorSettings settings = Parsed("");
  EXPECT_EQ(settings.max_split_size, AllocatorSettings::kUnlimited);
  EXPECT_EQ(settings.large_segment_size, 20 * kMiB);
  EXPECT_FALSE(settings.memory_fraction);
}

TEST(ParseAllocatorSettings, NamesTheKeyThatIsWrong) {
  EXPECT_THAT(Refusal("expandable_segment:True"), HasSubstr("Did you mean expandable_segments?"));
  EXPECT_EQ(Refusal("max_split_size_mb:19"),
            "max_split_size_mb: it is \"19\". Give a whole number from 20 on, in MiB.");
  EXPECT_EQ(Refusal("large_segment_size_mb:64,max_split_size_mb:32"),
            "max_split_size_mb: it is \"32\". Give a whole number from 64 on, in MiB.");
  EXPECT_EQ(Refusal("large_segment_size_mb:10"),
            "large_segment_size_mb: it is \"10\". Give a whole number from 11 on, in MiB.");
  EXPECT_EQ(Refusal("expandable_segments:true"),
            "expandable_segments: it is \"true\". Give True or False.");
  EXPECT_EQ(Refusal("garbage_collection_threshold:1.0"),
            "garbage_collection_threshold: it is \"1.0\". Give a number between 0 and 1.");
  EXPECT_EQ(Refusal("per_process_memory_fraction:1.5"),
            "per_process_memory_fraction: it is \"1.5\". Give a number from 0 to 1.");
  EXPECT_THAT(Refusal("backend:cudaMallocAsync"), HasSubstr("Give native"));
  EXPECT_THAT(Refusal("roundup_power2_divisions:3"), HasSubstr("Give a power of two or a list"));
  EXPECT_THAT(Refusal("roundup_power2_divisions:[3:8]"), HasSubstr("Give a list such as [64:8"));
  EXPECT_THAT(Refusal("roundup_power2_divisions:[64:8"), HasSubstr("Give a list such as [64:8"));
  EXPECT_THAT(Refusal("max_split_size_mb"), HasSubstr("max_split_size_mb: it is \"\""));
  EXPECT_THAT(Refusal("max_split_size_mb:x"), HasSubstr("max_split_size_mb: it is \"x\""));
  EXPECT_THAT(Refusal("expandable_segments_reserve:0"),
              HasSubstr("a share of the device's memory"));
}

}  // namespace
}  // namespace steelyard
