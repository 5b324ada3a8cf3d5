// SPDX-License-Identifier: Apache-2.0
//
// Rows of llama.cpp's word and transformers' (gguf-py, tensor_mapping.py; the modeling files).
// Types of models that have words of their own have rows of their own: which one is meant is told
// by the model, of whose parameters only one has such a name. Experts, which llama.cpp keeps in
// other tensors than transformers, and what no Linear layer or table of words is made of have none.
#include "import/gguf_names.h"

#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

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
};
constexpr std::array kOfModel{
    Word{"token_embd", "embed_tokens"},
    Word{"token_embd", "embed_in"},
    Word{"token_embd", "word_embeddings"},
    Word{"token_embd", "embeddings.word_embeddings"},
    Word{"output", "lm_head"},
};
constexpr std::array<std::string_view, 3> kBlocks{"layers.", "h.", "encoder.layer."};
// What a model is called within its head.
constexpr std::array<std::string_view, 6> kBases{"",         "model.", "gpt_neox.", "transformer.",
                                                 "roberta.", "bert."};
constexpr std::string_view kBlock = "blk.";

class Names {
 public:
  explicit Names(const Program& model) {
    for (const NamedTensor& parameter : model.parameters) known_.insert(model.text(parameter.name));
  }

  // Empty where the model has no such parameter.
  std::string Of(std::string_view gguf) const {
    if (!gguf.starts_with(kBlock)) {
      const std::size_t point = gguf.find('.');
      return point == std::string_view::npos ? "" : Found(kOfModel, gguf, point, {""}, "");
    }
    const std::size_t number = gguf.find('.', kBlock.size());
    if (number == std::string_view::npos) return "";
    const std::string_view rest = gguf.substr(number + 1);
    const std::size_t point = rest.find('.');
    if (point == std::string_view::npos) return "";
    return Found(kOfBlock, rest, point, kBlocks,
                 gguf.substr(kBlock.size(), number + 1 - kBlock.size()));
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
          std::string name(base);
          name.append(block).append(number).append(word.ours).append(gguf.substr(point));
          if (known_.contains(name)) return name;
        }
      }
    }
    return "";
  }

  std::unordered_set<std::string_view> known_;
};

}  // namespace

void NameAsIn(const Program& model, Program* weights) {
  const Names names(model);
  for (NamedTensor& stored : weights->parameters) {
    if (stored.packing == kNoId) continue;
    const std::string name = names.Of(weights->text(stored.name));
    if (!name.empty()) stored.name = weights->strings.Intern(name);
  }
}

}  // namespace steelyard
