// SPDX-License-Identifier: Apache-2.0

#include "analyze/counting.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace steelyard {
namespace {

// A linear of 32 rows, 768 -> 3072, with a bias and a gelu (4 alu + 1 special) behind it.
const Work kWork{
    .mac = Count(32) * 768 * 3072, .alu = Count(32) * 3072 * (1 + 4), .special = Count(32) * 3072};

Count As(std::string_view convention, const Work& work = kWork) {
  return Weigh(work, FindConvention(convention)->measure.weights);
}

TEST(Counting, TorchCountsContractionsTwice) {
  EXPECT_EQ(As("torch").value(), 2LL * 32 * 768 * 3072);
}

TEST(Counting, SpecialFunctionsAreFreeForRaf) {
  EXPECT_EQ(As("raf").value(), 2LL * 32 * 768 * 3072 + 32 * 3072 * 5);
}

TEST(Counting, XlaCountsSpecialFunctionsApart) {
  const Work work{.alu = Count(3), .special = Count(5), .compare = Count(7)};
  EXPECT_EQ(As("xla", work).value(), 3 + 7);
  EXPECT_EQ(Weigh(work, FindConvention("xla")->beside->weights).value(), 5);
}

TEST(Counting, AllCountsThemOnce) {
  EXPECT_EQ(As("all").value(), 2LL * 32 * 768 * 3072 + 32 * 3072 * 5 + 32 * 3072);
}

TEST(Counting, OverflowIsKept) {
  EXPECT_TRUE(As("torch", {.mac = Count(INT64_MAX / 2 + 1)}).overflowed());
}

TEST(Counting, ExactFarBeyondDoubles) {
  // 10^18 + 1 has no double.
  const Work work{.mac = Count(500'000'000'000'000'000), .alu = Count(1)};
  EXPECT_EQ(As("raf", work).value(), 1'000'000'000'000'000'001);
}

TEST(Counting, UnknownConvention) { EXPECT_EQ(FindConvention("thop"), nullptr); }

TEST(Counting, RulesOfOneCallStandTogether) {
  for (const Convention& convention : Conventions()) {
    for (const Measure* measure : {&convention.measure, convention.beside}) {
      if (measure == nullptr) continue;
      std::set<std::string_view> seen;
      std::string_view last;
      for (const CallRule& rule : measure->calls) {
        if (rule.op != last) {
          EXPECT_TRUE(seen.insert(rule.op).second) << rule.op;
        }
        last = rule.op;
      }
    }
  }
}

TEST(Counting, TheLastRuleOfACallFitsAlways) {
  const Convention& deepspeed = *FindConvention("deepspeed");
  for (std::size_t i = 0; i < deepspeed.beside->calls.size(); ++i) {
    const CallRule& rule = deepspeed.beside->calls[i];
    const bool last =
        i + 1 == deepspeed.beside->calls.size() || deepspeed.beside->calls[i + 1].op != rule.op;
    if (last) {
      EXPECT_TRUE(rule.given < 0 && rule.truth < 0) << rule.op;
    }
  }
}

}  // namespace
}  // namespace steelyard
