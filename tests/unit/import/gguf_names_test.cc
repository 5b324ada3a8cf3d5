// SPDX-License-Identifier: Apache-2.0
#include "import/gguf_names.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "steelyard/builder.h"

namespace steelyard {
namespace {

Program Having(std::string_view name) {
  Builder b("Model");
  b.Parameter(name, DType::kFloat16, {8, 16});
  Program program = *std::move(b).Build();
  program.has_graph = false;
  return program;
}

// What `gguf` is called when a model has a parameter called `ours`.
std::string NameFor(std::string_view gguf, std::string_view ours, bool packed = true) {
  const Program model = Having(ours);
  Program weights = Having(gguf);
  if (packed) {
    weights.packings.push_back({.name = weights.strings.Intern("q8_0"), .bytes = 100});
    weights.parameters[0].packing = 0;
  }
  NameAsIn(model, &weights);
  return std::string(weights.text(weights.parameters[0].name));
}

TEST(GgufNamesTest, WeightsHaveTheNameThatTheModelKnows) {
  for (const auto& [gguf, ours] : {
           std::pair("token_embd.weight", "model.embed_tokens.weight"),
           std::pair("token_embd.weight", "transformer.word_embeddings.weight"),
           std::pair("output.weight", "lm_head.weight"),
           std::pair("blk.12.attn_q.weight", "model.layers.12.self_attn.q_proj.weight"),
           std::pair("blk.0.attn_output.weight", "layers.0.self_attn.o_proj.weight"),
           std::pair("blk.3.ffn_up.weight", "model.layers.3.mlp.up_proj.weight"),
           std::pair("blk.3.ffn_up.weight", "model.layers.3.mlp.gate_up_proj.weight"),
           std::pair("blk.1.attn_qkv.weight",
                     "transformer.h.1.self_attention.query_key_value.weight"),
           std::pair("blk.1.ffn_down.weight", "gpt_neox.layers.1.mlp.dense_4h_to_h.weight"),
           std::pair("blk.2.attn_k.weight", "bert.encoder.layer.2.attention.self.key.weight"),
       }) {
    EXPECT_EQ(NameFor(gguf, ours), ours);
  }
}

TEST(GgufNamesTest, OthersKeepTheirName) {
  // Of another layer, of experts, of no layer, no tensor of llama.cpp's, not quantised.
  EXPECT_EQ(NameFor("blk.1.attn_q.weight", "model.layers.0.self_attn.q_proj.weight"),
            "blk.1.attn_q.weight");
  EXPECT_EQ(NameFor("blk.0.ffn_up_exps.weight", "model.layers.0.mlp.up_proj.weight"),
            "blk.0.ffn_up_exps.weight");
  EXPECT_EQ(NameFor("blk.attn_q", "model.layers.0.self_attn.q_proj.weight"), "blk.attn_q");
  EXPECT_EQ(NameFor("fc", "fc.weight"), "fc");
  EXPECT_EQ(NameFor("output.weight", "lm_head.weight", false), "output.weight");
}

TEST(GgufNamesTest, GatesAndUpsOfExpertsAreOneParameter) {
  Builder experts("Model");
  experts.Parameter("model.layers.0.mlp.experts.gate_up_proj", DType::kFloat32, {4, 12, 8});
  const Program model = *std::move(experts).Build();
  Builder b("Weights");
  b.Parameter("blk.0.ffn_gate_exps.weight", DType::kFloat32, {4, 6, 8});
  b.Parameter("blk.0.ffn_up_exps.weight", DType::kFloat32, {4, 6, 8});
  Program weights = *std::move(b).Build();
  const std::array<std::string_view, 2> types{"q4_k", "q6_k"};
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    weights.packings.push_back({.name = weights.strings.Intern(types[i]), .bytes = 100 + i});
    weights.parameters[i].packing = i;
  }
  NameAsIn(model, &weights);
  ASSERT_EQ(weights.parameters.size(), 1U);
  const NamedTensor& both = weights.parameters[0];
  EXPECT_EQ(weights.text(both.name), "model.layers.0.mlp.experts.gate_up_proj");
  EXPECT_EQ(weights.sizes(both.value)[1], 6 + 6);
  EXPECT_EQ(weights.stored_as(both), "q4_k+q6_k");
  EXPECT_EQ(weights.stored_bytes(both), 100 + 101);
}

TEST(GgufNamesTest, LatentKeysAndValuesAreOneMatrix) {
  // 2 heads of keys of 4 and values of 3, of a latent width of 5.
  Builder latent("Model");
  latent.Parameter("model.layers.0.self_attn.kv_b_proj.weight", DType::kFloat32, {2 * (4 + 3), 5});
  const Program model = *std::move(latent).Build();
  Builder b("Weights");
  b.Parameter("blk.0.attn_k_b.weight", DType::kFloat32, {2, 5, 4});
  b.Parameter("blk.0.attn_v_b.weight", DType::kFloat32, {2, 3, 5});
  Program weights = *std::move(b).Build();
  for (std::uint32_t i = 0; i < 2; ++i) {
    weights.packings.push_back({.name = weights.strings.Intern("q8_0"), .bytes = 10});
    weights.parameters[i].packing = i;
  }
  NameAsIn(model, &weights);
  ASSERT_EQ(weights.parameters.size(), 1U);
  const std::uint32_t value = weights.parameters[0].value;
  EXPECT_EQ(weights.values[value].rank, 2);
  EXPECT_EQ(weights.sizes(value)[0], 2 * (4 + 3));
  EXPECT_EQ(weights.stored_bytes(weights.parameters[0]), 10 + 10);
}

}  // namespace
}  // namespace steelyard
