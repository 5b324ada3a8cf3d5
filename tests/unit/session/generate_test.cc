// SPDX-License-Identifier: Apache-2.0
//
// What calls allocate is held against PyTorch by tests/oracle/test_generation.py.
#include "session/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "../temporary.h"
#include "session/analyses.h"
#include "session/device_memory.h"
#include "steelyard/weigh.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kFloat = 4;
// One layer with one head of keys and one of values, each eight wide.
constexpr std::int64_t kToken = (8 + 8) * kFloat;

std::string Model() {
  const std::string path = TemporaryPath("generate_config.json");
  std::ofstream(path) << R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
      "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1,
      "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 32,
      "max_position_embeddings": 64})";
  return path;
}

Result<Weighing> Generated(const GenerateOptions& generate, WeighOptions options = {}) {
  options.path = Model();
  options.generate = generate;
  return Weigh(options);
}

TEST(GenerateTest, TheCacheHoldsAllTokensButTheLast) {
  const Result<Weighing> w = Generated({.prompt = 5, .tokens = 4}, {.bind = {.batch = 3}});
  ASSERT_TRUE(w) << Describe(w.error());
  const Generation& told = *w->generation;
  ASSERT_EQ(told.calls.size(), 3U);
  EXPECT_EQ(told.calls[0].cache, 3 * 5 * kToken);
  EXPECT_EQ(told.calls[1].cache, 3 * 6 * kToken);
  EXPECT_EQ(told.calls[2].cache, 3 * 8 * kToken);
  EXPECT_EQ(told.calls[2].past, 7);
  EXPECT_EQ(told.calls[2].cache_read, 3 * 7 * kToken);
  EXPECT_EQ(told.calls[2].cache_written, 3 * kToken);
  EXPECT_EQ(told.bytes_per_token, kToken);
}

TEST(GenerateTest, OneTokenIsThePromptsCall) {
  const Result<Weighing> w = Generated({.prompt = 5, .tokens = 1});
  ASSERT_TRUE(w) << Describe(w.error());
  ASSERT_EQ(w->generation->calls.size(), 1U);
  EXPECT_EQ(LastCall({.prompt = 5, .tokens = 1}).tokens, 5);
  EXPECT_EQ(LastCall({.prompt = 5, .tokens = 2}).past, 5);
  EXPECT_TRUE(LastCall({.prompt = 5, .tokens = 2}).after_prompt);
  EXPECT_FALSE(LastCall({.prompt = 5, .tokens = 3}).after_prompt);
}

TEST(GenerateTest, BeamsAreSequencesOfTheirOwn) {
  const Result<Weighing> w =
      Generated({.prompt = 5, .tokens = 3, .beams = 4}, {.bind = {.batch = 2}});
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->generation->sequences, 2 * 4);
  EXPECT_EQ(w->generation->calls.back().cache, 2 * 4 * 7 * kToken);
}

TEST(GenerateTest, ACallTakesTheLongerOfWhatItMovesAndComputes) {
  GenerateOptions generate{.prompt = 5, .tokens = 3, .bandwidth = 1e9, .operations = 1e12};
  const Result<Weighing> w = Generated(generate);
  ASSERT_TRUE(w) << Describe(w.error());
  const GenerationCall& last = w->generation->calls.back();
  EXPECT_TRUE(last.waits_for_memory);
  EXPECT_DOUBLE_EQ(last.seconds, static_cast<double>(last.moved()) / 1e9);
}

TEST(GenerateTest, TheLargestBatchOfAllCallsIsFound) {
  const Result<Weighing> one = Generated({.prompt = 5, .tokens = 4}, {.bind = {.batch = 3}});
  ASSERT_TRUE(one) << Describe(one.error());
  const Result<Weighing> w = Generated({.prompt = 5, .tokens = 4}, {.fit = one->generation->peak});
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->fit->size, 3);
  EXPECT_EQ(w->generation->fit->limit, one->generation->peak);
}

TEST(GenerateTest, TheCallThatDecidesWhatFitsIsExplained) {
  const GenerateOptions generate{.prompt = 40, .tokens = 4};
  const Result<Weighing> last = Generated(generate, {.bind = {.batch = 3}});
  ASSERT_TRUE(last) << Describe(last.error());
  EXPECT_EQ(last->generation->explained, 2U);
  const std::vector<GenerationCall>& calls = last->generation->calls;
  ASSERT_GT(calls[0].peak, calls[2].peak) << "the prompt is long";
  const Result<Weighing> w = Generated(generate, {.at = "linear", .fit = calls[0].peak});
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->generation->explained, 0U);
  EXPECT_EQ(w->analyses->peak.peak, calls[0].peak);
  EXPECT_TRUE(w->analyses->moment);
}

TEST(GenerateTest, OnADeviceTheSearchHearsOfEveryCall) {
  const GenerateOptions generate{.prompt = 40, .tokens = 4};
  const Target h100 = *TargetNamed("h100");
  const auto needed = [&](int batch) {
    // A prompt without a token after it is the call that needs most.
    return NeededBytes(
        *Generated({.prompt = 40, .tokens = 1}, {.bind = {.batch = batch}, .target = h100}));
  };
  const std::int64_t three = needed(3);
  ASSERT_GT(needed(4096), three);
  const Result<Weighing> w = Generated(generate, {.target = h100, .fit = three});
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_LE(needed(static_cast<int>(w->fit->size)), three);
}

TEST(GenerateTest, WhatAnotherStoreTakesIsCounted) {
  const Result<Weighing> w = Generated({.prompt = 5, .tokens = 4, .store = "paged", .block = 4});
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_EQ(w->generation->calls.back().cache, 2 * 4 * kToken);
  EXPECT_EQ(w->generation->peak, 0) << "its calls are not modelled";
}

TEST(GenerateTest, AMomentIsOfTheLastCall) {
  const Result<Weighing> w =
      Generated({.prompt = 5, .tokens = 3, .beams = 2}, {.at = "beam_idx_is_no_call"});
  EXPECT_FALSE(w);
  EXPECT_TRUE(Generated({.prompt = 5, .tokens = 3, .beams = 2}, {.at = "index_select"}));
}

TEST(GenerateTest, WhatMakesNoSenseIsRefused) {
  const auto message = [](const GenerateOptions& generate, const WeighOptions& options = {}) {
    const Result<Weighing> w = Generated(generate, options);
    return w ? std::string("weighed") : Describe(w.error());
  };
  EXPECT_THAT(message({.prompt = 0}), HasSubstr("--generate"));
  EXPECT_THAT(message({.prompt = 5, .beams = 0}), HasSubstr("--beams"));
  EXPECT_THAT(message({.prompt = 5, .store = "heap"}), HasSubstr("there is no store"));
  EXPECT_THAT(message({.prompt = 5, .numbers = "int3"}), HasSubstr("there is no number"));
  EXPECT_THAT(message({.prompt = 5, .store = "static", .numbers = "int4"}),
              HasSubstr("--cache-dtype"));
  EXPECT_THAT(message({.prompt = 5, .shared_prefix = 2}), HasSubstr("--shared-prefix"));
  EXPECT_THAT(message({.prompt = 5, .store = "paged", .shared_prefix = 6}),
              HasSubstr("--shared-prefix"));
  EXPECT_THAT(message({.prompt = 5, .store = "paged", .block = 0}), HasSubstr("--block-size"));
  EXPECT_THAT(message({.prompt = 5}, {.bind = {.seq = 4}}), HasSubstr("--seq"));
  EXPECT_THAT(message({.prompt = 5}, {.train = {.optimizer = "sgd"}}), HasSubstr("--train"));
  EXPECT_THAT(message({.prompt = 5}, {.runtime = "graph"}), HasSubstr("--runtime"));
  EXPECT_THAT(message({.prompt = 5}, {.advise = true}), HasSubstr("--advise"));
  EXPECT_THAT(message({.prompt = 60, .tokens = 9}), HasSubstr("positions for 64"));
}

}  // namespace
}  // namespace steelyard
