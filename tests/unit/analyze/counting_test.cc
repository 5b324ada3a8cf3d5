// SPDX-License-Identifier: Apache-2.0

#include "analyze/counting.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

// A linear of 32 rows, 768 -> 3072, with a bias and a gelu (4 alu + 1 special) behind it.
const Work kWork{
    .mac = Count(32) * 768 * 3072, .alu = Count(32) * 3072 * (1 + 4), .special = Count(32) * 3072};

TEST(Counting, TorchCountsContractionsTwice) {
  EXPECT_EQ(Weigh(kWork, Family::kContraction, *FindConvention("torch")).value(),
            2LL * 32 * 768 * 3072);
}

TEST(Counting, DeepSpeedCountsMultiplyAddsOnce) {
  EXPECT_EQ(Weigh(kWork, Family::kContraction, *FindConvention("deepspeed")).value(),
            32LL * 768 * 3072);
}

TEST(Counting, SpecialFunctionsAreFreeForRaf) {
  EXPECT_EQ(Weigh(kWork, Family::kElementwise, *FindConvention("raf")).value(),
            2LL * 32 * 768 * 3072 + 32 * 3072 * 5);
}

TEST(Counting, AllCountsThemOnce) {
  EXPECT_EQ(Weigh(kWork, Family::kElementwise, *FindConvention("all")).value(),
            2LL * 32 * 768 * 3072 + 32 * 3072 * 5 + 32 * 3072);
}

TEST(Counting, OverflowIsKept) {
  const Work work{.mac = Count(INT64_MAX / 2 + 1)};
  EXPECT_TRUE(Weigh(work, Family::kContraction, *FindConvention("torch")).overflowed());
}

TEST(Counting, ExactFarBeyondDoubles) {
  // 10^18 + 1 has no double.
  const Work work{.mac = Count(500'000'000'000'000'000), .alu = Count(1)};
  EXPECT_EQ(Weigh(work, Family::kContraction, *FindConvention("raf")).value(),
            1'000'000'000'000'000'001);
}

TEST(Counting, UnknownConvention) { EXPECT_EQ(FindConvention("thop"), nullptr); }

}  // namespace
}  // namespace steelyard
