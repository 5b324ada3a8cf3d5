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

TEST(GgufConfig, NumbersAreMadeOfOthers) {
  std::vector<std::string> pairs{Text("general.architecture") + U32(8) + Text("mamba2")};
  for (const auto& [key, number] : {std::pair("embedding_length", 32),
                                    {"block_count", 2},
                                    {"ssm.conv_kernel", 4},
                                    {"ssm.state_size", 16},
                                    {"ssm.group_count", 1},
                                    {"ssm.time_step_rank", 8},
                                    {"ssm.inner_size", 64}}) {
    pairs.push_back(NumberPair("mamba2." + std::string(key), static_cast<std::uint64_t>(number)));
  }
  const Result<std::string> config = ConfigOfPairs(pairs, WeightsCalled({"blk.0.ssm_conv1d.bias"}));
  ASSERT_TRUE(config) << Describe(config.error());
  EXPECT_THAT(*config, HasSubstr("\"expand\": 2, \"head_dim\": 8"));  // 64 / 32, 64 / 8
  EXPECT_THAT(*config, HasSubstr("\"use_bias\": false, \"use_conv_bias\": true"));
  pairs.back() = NumberPair("mamba2.ssm.inner_size", 60);
  EXPECT_THAT(Refusal(ConfigOfPairs(pairs, WeightsCalled({}))),
              HasSubstr("mamba2.ssm.inner_size: \"expand\" cannot be found of it"));
}

TEST(GgufConfig, OfDeepSeekTheRouterTellsWhichItIs) {
  std::vector<std::string> pairs{Text("general.architecture") + U32(8) + Text("deepseek2")};
  for (const auto& [key, number] : {std::pair("context_length", 64),
                                    {"embedding_length", 32},
                                    {"block_count", 2},
                                    {"feed_forward_length", 96},
                                    {"attention.head_count", 4},
                                    {"attention.q_lora_rank", 8},
                                    {"attention.layer_norm_rms_epsilon", 1},
                                    {"attention.kv_lora_rank", 8},
                                    {"rope.dimension_count", 4},
                                    {"leading_dense_block_count", 1},
                                    {"expert_used_count", 2},
                                    {"expert_feed_forward_length", 16},
                                    {"expert_shared_count", 1},
                                    {"expert_count", 8},
                                    {"attention.key_length", 12},
                                    {"attention.value_length", 6}}) {
    pairs.push_back(
        NumberPair("deepseek2." + std::string(key), static_cast<std::uint64_t>(number)));
  }
  EXPECT_THAT(Refusal(ConfigOfPairs(pairs, WeightsCalled({}))),
              HasSubstr("deepseek2.expert_gating_func: DeepSeek's models before the third"));
  pairs.push_back(NumberPair("deepseek2.expert_gating_func", 2));
  const Result<std::string> config = ConfigOfPairs(pairs, WeightsCalled({}));
  ASSERT_TRUE(config) << Describe(config.error());
  EXPECT_THAT(*config, HasSubstr("\"qk_nope_head_dim\": 8, \"v_head_dim\": 6"));  // 12 - 4
}

}  // namespace
}  // namespace steelyard::weights
