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
  const Program model = Having("model.layers.0.mlp.experts.gate_up_proj");
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

}  // namespace
}  // namespace steelyard
