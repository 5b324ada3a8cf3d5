// SPDX-License-Identifier: Apache-2.0
#include "present/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steelyard/units.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Generation TwoCalls() {
  Generation generation{
      .prompt = 6, .tokens = 2, .sequences = 3, .store = "dynamic", .peak = 5 * kKiB};
  generation.layers = {{.layer = {.heads = 2, .key_width = 8, .value_width = 8, .window = 4},
                        .layers = 7,
                        .bytes_per_token = kKiB,
                        .bytes = 2 * kKiB}};
  generation.bytes_per_token = kKiB;
  generation.calls = {{.name = "prompt", .tokens = 6, .peak = 4 * kKiB, .cache = kKiB},
                      {.name = "first",
                       .past = 6,
                       .peak = 5 * kKiB,
                       .cache = 2 * kKiB,
                       .flops = 600,
                       .weights_read = 200,
                       .cache_read = 90,
                       .cache_written = 10}};
  return generation;
}

TEST(GenerationTest, CallsAndLayersAreTold) {
  const WeighedModel model;
  Findings findings = model.findings();
  const Generation generation = TwoCalls();
  findings.generation = &generation;
  report::Document document;
  AppendGeneration(findings, &document);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, HasSubstr("6 + 2 tokens of 3 sequences"));
  EXPECT_THAT(text, HasSubstr("7 layers"));
  EXPECT_THAT(text, HasSubstr("a window of 4"));
  EXPECT_THAT(text, HasSubstr("2 heads × (8 + 8) float32"));
  EXPECT_THAT(text, HasSubstr("2.0 FLOP/B")) << "600 / (200 + 90 + 10)";
  report::Data data;
  AddGenerationData(findings, &data);
  EXPECT_EQ(At(data, "generation.cache.bytes_per_token").AsInt(), kKiB);
}

TEST(GenerationTest, ThereIsNoneWithoutAGeneration) {
  const WeighedModel model;
  report::Document document;
  AppendGeneration(model.findings(), &document);
  EXPECT_TRUE(document.body.empty());
}

TEST(GenerationTest, RemarksSayWhatIsSpecial) {
  const WeighedModel model;
  Findings findings = model.findings();
  Generation generation = TwoCalls();
  generation.peak = 0;
  generation.block = 16;
  generation.unused = 3 * kKiB;
  generation.shared = 9 * kKiB;
  generation.expanded_per_token = 8 * kKiB;
  generation.fit = GenerationFit{.limit = 80'000, .tokens = 70, .sequences = 12};
  findings.generation = &generation;
  report::Document document;
  AppendGeneration(findings, &document);
  const std::string text = TextOf(document);
  EXPECT_THAT(text, HasSubstr("3.0 KiB hold no token, and sharing a prefix saves 9.0 KiB"));
  EXPECT_THAT(text, HasSubstr("would take 8.0 KiB a token instead of 1.0 KiB"));
  EXPECT_THAT(text, HasSubstr("one sequence of 70 tokens, or of 12 sequences"));
  EXPECT_THAT(text, HasSubstr("is not modelled"));
}

}  // namespace
}  // namespace steelyard::present
