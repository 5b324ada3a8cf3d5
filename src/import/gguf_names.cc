// SPDX-License-Identifier: Apache-2.0
//
// Rows of llama.cpp's word and transformers' (gguf-py, tensor_mapping.py; the modeling files).
// Types of models that have words of their own have rows of their own: which one is meant is told
// by the model, of whose parameters only one has such a name. Experts' gates and ups, which
// llama.cpp keeps apart, are one parameter. What no Linear layer, expert or table of words is made
// of has none.
#include "import/gguf_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/layout.h"

namespace steelyard {
namespace {

struct Word {
  std::string_view gguf, ours;
};
constexpr std::array kOfBlock{
    // Llama and its relatives.
    Word{"attn_q", "self_attn.q_proj"},
    Word{"attn_k", "self_attn.k_proj"},
    Word{"attn_v", "self_attn.v_proj"},
    Word{"attn_qkv", "self_attn.qkv_proj"},
    Word{"attn_output", "self_attn.o_proj"},
    Word{"ffn_gate", "mlp.gate_proj"},
    Word{"ffn_up", "mlp.up_proj"},
    Word{"ffn_up", "mlp.gate_up_proj"},
    Word{"ffn_down", "mlp.down_proj"},
    // Experts.
    Word{"ffn_gate_exps", "mlp.experts.gate_up_proj"},
    Word{"ffn_up_exps", "mlp.experts.gate_up_proj"},
    Word{"ffn_gate_up_exps", "mlp.experts.gate_up_proj"},
    Word{"ffn_down_exps", "mlp.experts.down_proj"},
    Word{"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
    Word{"ffn_up_shexp", "mlp.shared_expert.up_proj"},
    Word{"ffn_down_shexp", "mlp.shared_expert.down_proj"},
    Word{"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
    Word{"ffn_up_shexp", "mlp.shared_experts.up_proj"},
    Word{"ffn_down_shexp", "mlp.shared_experts.down_proj"},
    // DeepSeek's latent keys and values, which newer files keep apart.
    Word{"attn_q_a", "self_attn.q_a_proj"},
    Word{"attn_q_b", "self_attn.q_b_proj"},
    Word{"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
    Word{"attn_kv_b", "self_attn.kv_b_proj"},
    Word{"attn_k_b", "self_attn.kv_b_proj"},
    Word{"attn_v_b", "self_attn.kv_b_proj"},
    // StarCoder 2, Phi and Mamba.
    Word{"ffn_up", "mlp.c_fc"},
    Word{"ffn_down", "mlp.c_proj"},
    Word{"attn_output", "self_attn.dense"},
    Word{"ffn_up", "mlp.fc1"},
    Word{"ffn_down", "mlp.fc2"},
    Word{"ssm_in", "mixer.in_proj"},
    Word{"ssm_out", "mixer.out_proj"},
    // GPT-NeoX and BLOOM.
    Word{"attn_qkv", "attention.query_key_value"},
    Word{"attn_qkv", "self_attention.query_key_value"},
    Word{"attn_output", "attention.dense"},
    Word{"attn_output", "self_attention.dense"},
    Word{"ffn_up", "mlp.dense_h_to_4h"},
    Word{"ffn_down", "mlp.dense_4h_to_h"},
    // BERT and its relatives.
    Word{"attn_q", "attention.self.query"},
    Word{"attn_k", "attention.self.key"},
    Word{"attn_v", "attention.self.value"},
    Word{"attn_output", "attention.output.dense"},
    Word{"ffn_up", "intermediate.dense"},
    Word{"ffn_down", "output.dense"},
    // T5, whose decoder has a sublayer more.
    Word{"attn_q", "layer.0.SelfAttention.q"},
    Word{"attn_k", "layer.0.SelfAttention.k"},
    Word{"attn_v", "layer.0.SelfAttention.v"},
    Word{"attn_o", "layer.0.SelfAttention.o"},
    Word{"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias"},
    Word{"cross_attn_q", "layer.1.EncDecAttention.q"},
    Word{"cross_attn_k", "layer.1.EncDecAttention.k"},
    Word{"cross_attn_v", "layer.1.EncDecAttention.v"},
    Word{"cross_attn_o", "layer.1.EncDecAttention.o"},
    Word{"ffn_gate", "layer.1.DenseReluDense.wi_0"},
    Word{"ffn_up", "layer.1.DenseReluDense.wi_1"},
    Word{"ffn_up", "layer.1.DenseReluDense.wi"},
    Word{"ffn_down", "layer.1.DenseReluDense.wo"},
    Word{"ffn_gate", "layer.2.DenseReluDense.wi_0"},
    Word{"ffn_up", "layer.2.DenseReluDense.wi_1"},
    Word{"ffn_up", "layer.2.DenseReluDense.wi"},
    Word{"ffn_down", "layer.2.DenseReluDense.wo"},
};
constexpr std::array kOfModel{
    Word{"token_embd", "embed_tokens"},
    Word{"token_embd", "embed_in"},
    Word{"token_embd", "word_embeddings"},
    Word{"token_embd", "embeddings"},
    Word{"token_embd", "embeddings.word_embeddings"},
    Word{"token_embd", "shared"},
    Word{"token_types", "embeddings.token_type_embeddings"},
    Word{"position_embd", "embeddings.position_embeddings"},
    Word{"output", "lm_head"},
};
// How blocks are counted there, and in our words.
struct Blocks {
  std::string_view gguf;
  std::array<std::string_view, 3> ours;
};
constexpr std::array kBlocks{
    Blocks{"blk.", {"layers.", "h.", "encoder.layer."}},
    Blocks{"enc.blk.", {"encoder.block."}},
    Blocks{"dec.blk.", {"decoder.block."}},
};
// What a model is called within its head.
constexpr std::array<std::string_view, 7> kBases{"",         "model.", "gpt_neox.", "transformer.",
                                                 "roberta.", "bert.",  "backbone."};

class Names {
 public:
  explicit Names(const Program& model) {
    for (const NamedTensor& parameter : model.parameters) {
      known_.emplace(model.text(parameter.name), model.values[parameter.value].rank);
    }
  }

  bool IsMatrix(std::string_view ours) const {
    const auto found = known_.find(ours);
    return found != known_.end() && found->second == 2;
  }

  // Empty where the model has no such parameter.
  std::string Of(std::string_view gguf) const {
    const auto* blocks = std::ranges::find_if(
        kBlocks, [&](const Blocks& row) { return gguf.starts_with(row.gguf); });
    if (blocks == kBlocks.end()) {
      const std::size_t point = gguf.find('.');
      return point == std::string_view::npos ? "" : Found(kOfModel, gguf, point, {""}, "");
    }
    const std::size_t begin = blocks->gguf.size();
    const std::size_t number = gguf.find('.', begin);
    if (number == std::string_view::npos) return "";
    const std::string_view rest = gguf.substr(number + 1);
    const std::size_t point = rest.find('.');
    if (point == std::string_view::npos) return "";
    return Found(kOfBlock, rest, point, blocks->ours, gguf.substr(begin, number + 1 - begin));
  }

 private:
  // The parameter that is made of a base, a block, its `number` and the word for what stands before
  // `point`, with what follows it.
  template <std::size_t kWords, std::size_t kCount = 1>
  std::string Found(const std::array<Word, kWords>& words, std::string_view gguf, std::size_t point,
                    const std::array<std::string_view, kCount>& blocks,
                    std::string_view number) const {
    for (const Word& word : words) {
      if (word.gguf != gguf.substr(0, point)) continue;
      for (const std::string_view base : kBases) {
        for (const std::string_view block : blocks) {
          if (block.empty() != number.empty()) continue;
          std::string name(base);
          name.append(block).append(number).append(word.ours);
          if (known_.contains(name)) return name;
          name.append(gguf.substr(point));
          if (known_.contains(name)) return name;
        }
      }
    }
    return "";
  }

  std::unordered_map<std::string_view, int> known_;  // ranks
};

constexpr int kExpertsRank = 3;  // experts, rows, columns
constexpr std::int64_t kMostRows = std::int64_t{1} << 31;

bool IsHalf(const Program& weights, const NamedTensor& stored) {
  if (stored.packing == kNoId || weights.values[stored.value].rank != kExpertsRank) return false;
  return std::ranges::all_of(weights.sizes(stored.value),
                             [](std::int64_t size) { return size > 0 && size < kMostRows; });
}

// Puts the rows of `second` behind those of `first`: of each expert; or, where the model has one
// matrix of both, of all heads, of which the first are turned (keys and values of a latent width).
void Append(Program* weights, NamedTensor* first, const NamedTensor& second, bool matrix) {
  const auto sizes = weights->sizes(first->value);
  const auto more = weights->sizes(second.value);
  const std::vector<std::int64_t> all =
      matrix ? std::vector<std::int64_t>{sizes[0] * (sizes[2] + more[1]), sizes[1]}
             : std::vector<std::int64_t>{sizes[0], sizes[1] + more[1], sizes[2]};
  const std::string as(weights->stored_as(*first)), other(weights->stored_as(second));
  const Packing packing{.name = weights->strings.Intern(as == other ? as : as + "+" + other),
                        .bytes = weights->stored_bytes(*first) + weights->stored_bytes(second)};
  first->value = weights->AddTensor(first->name, weights->values[first->value].dtype, all,
                                    ContiguousStrides(all), Role::kParameter);
  first->packing = static_cast<std::uint32_t>(weights->packings.size());
  weights->packings.push_back(packing);
}

// Experts whose gates and ups now have one name, and heads whose keys and values have.
void JoinHalves(const Names& names, Program* weights) {
  std::unordered_map<StringId, std::size_t> halves;
  std::vector<NamedTensor> joined;
  for (const NamedTensor& stored : weights->parameters) {
    if (IsHalf(*weights, stored)) {
      const auto [first, fresh] = halves.try_emplace(stored.name, joined.size());
      if (!fresh) {
        Append(weights, &joined[first->second], stored, names.IsMatrix(weights->text(stored.name)));
        continue;
      }
    }
    joined.push_back(stored);
  }
  weights->parameters = std::move(joined);
}

}  // namespace

void NameAsIn(const Program& model, Program* weights) {
  const Names names(model);
  for (NamedTensor& stored : weights->parameters) {
    if (stored.packing == kNoId) continue;
    const std::string name = names.Of(weights->text(stored.name));
    if (!name.empty()) stored.name = weights->strings.Intern(name);
  }
  JoinHalves(names, weights);
}

}  // namespace steelyard
