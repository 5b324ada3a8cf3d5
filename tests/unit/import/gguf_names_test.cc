// SPDX-License-Identifier: Apache-2.0
#include "import/gguf_names.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace steelyard
