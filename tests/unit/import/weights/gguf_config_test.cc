// SPDX-License-Identifier: Apache-2.0
#include "import/weights/gguf_config.h"

#include <gmock/gmock.h>

#include "gguf_pairs.h"
#include "headers.h"
#include "steelyard/builder.h"

namespace steelyard::weights {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string NumberPair(std::string_view key, std::uint64_t number) {
  return Text(key) + U32(4) + U32(number);
}

std::vector<std::string> LlamaPairs() {
  return {Text("general.architecture") + U32(8) + Text("llama"),
          NumberPair("llama.context_length", 64),
          NumberPair("llama.embedding_length", 32),
          NumberPair("llama.block_count", 2),
          NumberPair("llama.feed_forward_length", 96),
          NumberPair("llama.attention.head_count", 4)};
}

// Weights of those names, with a table of 50 tokens.
Program WeightsCalled(const std::vector<std::string_view>& names) {
  Builder b("Weights");
  b.Parameter("token_embd.weight", DType::kFloat16, {50, 32});
  for (const std::string_view name : names) b.Parameter(name, DType::kFloat16, {32});
  return *std::move(b).Build();
}

Result<std::string> ConfigOfPairs(const std::vector<std::string>& pairs, const Program& weights) {
  GgufMetadata metadata;
  EXPECT_TRUE(ReadPairs(pairs, &metadata));
  return ConfigOf(metadata, weights);
}

TEST(GgufConfig, IsInTheWordsOfTheConfig) {
  const Result<std::string> config = ConfigOfPairs(LlamaPairs(), WeightsCalled({}));
  ASSERT_TRUE(config) << Describe(config.error());
  EXPECT_EQ(*config,
            "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
            "\"max_position_embeddings\": 64, \"hidden_size\": 32, \"num_hidden_layers\": 2, "
            "\"intermediate_size\": 96, \"num_attention_heads\": 4, \"vocab_size\": 50, "
            "\"tie_word_embeddings\": true, \"attention_bias\": false, \"mlp_bias\": false, "
            "\"dtype\": \"float16\"}");
}

TEST(GgufConfig, AsksTheTensorsWhatTheMetadataLeaveOut) {
  const Result<std::string> config =
      ConfigOfPairs(LlamaPairs(), WeightsCalled({"output.weight", "blk.0.attn_q.bias",
                                                 "blk.0.ffn_up.bias", "rope_factors_long.weight"}));
  ASSERT_TRUE(config) << Describe(config.error());
  EXPECT_THAT(*config, HasSubstr("\"tie_word_embeddings\": false"));
  EXPECT_THAT(*config, HasSubstr("\"attention_bias\": true, \"mlp_bias\": true"));
  EXPECT_THAT(*config, HasSubstr("\"rope_scaling\": {\"rope_type\": \"longrope\"}"));
}

TEST(GgufConfig, AModelWithExpertsIsOfAnotherType) {
  std::vector<std::string> pairs = LlamaPairs();
  pairs.push_back(NumberPair("llama.expert_count", 8));
  const Result<std::string> config = ConfigOfPairs(pairs, WeightsCalled({}));
  ASSERT_TRUE(config) << Describe(config.error());
  EXPECT_THAT(*config, HasSubstr("\"model_type\": \"mixtral\""));
  EXPECT_THAT(*config, HasSubstr("\"num_local_experts\": 8"));
}

TEST(GgufConfig, AListOfEqualNumbersIsOneNumber) {
  std::vector<std::string> pairs = LlamaPairs();
  const std::string list = Text("llama.attention.head_count_kv") + U32(9) + U32(4) + U64(2);
  pairs.push_back(list + U32(2) + U32(2));
  Result<std::string> config = ConfigOfPairs(pairs, WeightsCalled({}));
  ASSERT_TRUE(config) << Describe(config.error());
  EXPECT_THAT(*config, HasSubstr("\"num_key_value_heads\": 2"));
  pairs.back() = list + U32(2) + U32(1);
  config = ConfigOfPairs(pairs, WeightsCalled({}));
  EXPECT_THAT(Refusal(config), HasSubstr("llama.attention.head_count_kv: it is not the same"));
}

TEST(GgufConfig, SaysWhatIsMissing) {
  std::vector<std::string> pairs = LlamaPairs();
  pairs.pop_back();
  EXPECT_THAT(Refusal(ConfigOfPairs(pairs, WeightsCalled({}))),
              HasSubstr("llama.attention.head_count: the file does not say it"));
  EXPECT_THAT(Refusal(ConfigOfPairs({}, WeightsCalled({}))),
              HasSubstr("general.architecture: the file does not say it"));
  pairs.front() = Text("general.architecture") + U32(8) + Text("rwkv6");
  EXPECT_THAT(Refusal(ConfigOfPairs(pairs, WeightsCalled({}))),
              HasSubstr("models of \"rwkv6\" are not built of their metadata"));
}

}  // namespace
}  // namespace steelyard::weights
