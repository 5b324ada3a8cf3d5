// SPDX-License-Identifier: Apache-2.0
//
// Rows of the architectures that llama.cpp and transformers both know (gguf-py, constants.py;
// convert_hf_to_gguf.py; transformers' configuration files): keys of the one, in words of the
// other. What metadata leave to the tensors is asked of these: how many tokens there are, whether
// layers have biases, whether the output is the table of tokens. In the file of a quantised model
// all but the matrices is float32, and so is what is computed of it.

#include "import/weights/gguf_config.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "import/weights/stored.h"

namespace steelyard::weights {
namespace {

enum class Needed : std::uint8_t { kYes, kNo };

// How a number is written.
enum class As : std::uint8_t { kNumber, kFlag };

struct Word {
  std::string_view gguf, config;
  Needed needed = Needed::kYes;
  As as = As::kNumber;
};

constexpr std::string_view kHeads = "attention.head_count";
constexpr std::string_view kHidden = "embedding_length";
constexpr std::string_view kHeadWidth = "attention.key_length";
constexpr std::string_view kRotated = "rope.dimension_count";
constexpr std::string_view kExperts = "expert_count";

constexpr std::array kLikeLlama{
    Word{"context_length", "max_position_embeddings"},
    Word{kHidden, "hidden_size"},
    Word{"block_count", "num_hidden_layers"},
    Word{"feed_forward_length", "intermediate_size"},
    Word{kHeads, "num_attention_heads"},
    Word{"attention.head_count_kv", "num_key_value_heads", Needed::kNo},
    Word{kHeadWidth, "head_dim", Needed::kNo},
    Word{"attention.layer_norm_rms_epsilon", "rms_norm_eps", Needed::kNo},
    Word{"attention.sliding_window", "sliding_window", Needed::kNo},
    Word{"attn_logit_softcapping", "attn_logit_softcapping", Needed::kNo},
    Word{"final_logit_softcapping", "final_logit_softcapping", Needed::kNo},
    Word{"expert_used_count", "num_experts_per_tok", Needed::kNo},
    Word{"expert_feed_forward_length", "moe_intermediate_size", Needed::kNo},
    Word{"expert_shared_feed_forward_length", "shared_expert_intermediate_size", Needed::kNo},
};
constexpr std::array kLikeGpt2{
    Word{"context_length", "n_positions"},  Word{kHidden, "n_embd"}, Word{"block_count", "n_layer"},
    Word{"feed_forward_length", "n_inner"}, Word{kHeads, "n_head"},
};
constexpr std::array kLikeBloom{
    Word{kHidden, "hidden_size"},
    Word{"block_count", "n_layer"},
    Word{kHeads, "n_head"},
};
constexpr std::array kLikeNeoX{
    Word{"context_length", "max_position_embeddings"},
    Word{kHidden, "hidden_size"},
    Word{"block_count", "num_hidden_layers"},
    Word{"feed_forward_length", "intermediate_size"},
    Word{kHeads, "num_attention_heads"},
};

constexpr std::array kGranite{
    Word{"attention.scale", "attention_multiplier", Needed::kNo},
    Word{"embedding_scale", "embedding_multiplier", Needed::kNo},
    Word{"residual_scale", "residual_multiplier", Needed::kNo},
    Word{"logit_scale", "logits_scaling", Needed::kNo},
};
constexpr std::string_view kMeanEpsilon = "attention.layer_norm_epsilon";
constexpr std::array kCohere{Word{kMeanEpsilon, "layer_norm_eps"},
                             Word{"logit_scale", "logit_scale", Needed::kNo}};
constexpr std::array kStableLm{
    Word{kMeanEpsilon, "layer_norm_eps"},
    Word{"use_parallel_residual", "use_parallel_residual", Needed::kNo, As::kFlag}};
constexpr std::array kPhi{Word{kMeanEpsilon, "layer_norm_eps"}};
constexpr std::array kStarcoder{Word{kMeanEpsilon, "norm_epsilon"}};
constexpr std::array kLikeDeepseek{
    Word{"context_length", "max_position_embeddings"},
    Word{kHidden, "hidden_size"},
    Word{"block_count", "num_hidden_layers"},
    Word{"feed_forward_length", "intermediate_size"},
    Word{kHeads, "num_attention_heads"},
    Word{"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    Word{"attention.q_lora_rank", "q_lora_rank"},
    Word{"attention.kv_lora_rank", "kv_lora_rank"},
    Word{kRotated, "qk_rope_head_dim"},
    Word{"leading_dense_block_count", "first_k_dense_replace"},
    Word{"expert_used_count", "num_experts_per_tok"},
    Word{"expert_feed_forward_length", "moe_intermediate_size"},
    Word{"expert_shared_count", "n_shared_experts"},
    Word{"expert_weights_scale", "routed_scaling_factor", Needed::kNo},
    Word{"expert_weights_norm", "norm_topk_prob", Needed::kNo, As::kFlag},
    Word{"expert_group_count", "n_group", Needed::kNo},
    Word{"expert_group_used_count", "topk_group", Needed::kNo},
};
constexpr std::array kLikeBert{
    Word{"context_length", "max_position_embeddings"},
    Word{kHidden, "hidden_size"},
    Word{"block_count", "num_hidden_layers"},
    Word{"feed_forward_length", "intermediate_size"},
    Word{kHeads, "num_attention_heads"},
    Word{"attention.layer_norm_epsilon", "layer_norm_eps", Needed::kNo},
};
constexpr std::array kLikeT5{
    Word{kHidden, "d_model"},
    Word{"feed_forward_length", "d_ff"},
    Word{"block_count", "num_layers"},
    Word{"decoder_block_count", "num_decoder_layers", Needed::kNo},
    Word{kHeads, "num_heads"},
    Word{kHeadWidth, "d_kv"},
    Word{"attention.relative_buckets_count", "relative_attention_num_buckets"},
    Word{"attention.layer_norm_rms_epsilon", "layer_norm_epsilon", Needed::kNo},
    Word{"decoder_start_token_id", "decoder_start_token_id", Needed::kNo},
};
constexpr std::array kLikeMamba{
    Word{kHidden, "hidden_size"},
    Word{"block_count", "num_hidden_layers"},
    Word{"attention.layer_norm_rms_epsilon", "layer_norm_epsilon", Needed::kNo},
    Word{"ssm.conv_kernel", "conv_kernel"},
    Word{"ssm.state_size", "state_size"},
    Word{"ssm.time_step_rank", "num_heads"},
    Word{"ssm.group_count", "n_groups"},
};

// A number that is made of two: `a` by `b`, or `a` less `b`. Of `a` the words are tried in turn;
// without `b` it is that number.
struct Made {
  std::string_view config;
  std::array<std::string_view, 2> a;
  std::string_view b = {};
  bool by = false;
};
constexpr std::array kMadeOfDeepseek{
    Made{"qk_nope_head_dim", {"attention.key_length_mla", kHeadWidth}, kRotated},
    Made{"v_head_dim", {"attention.value_length_mla", "attention.value_length"}}};
constexpr std::array kMadeOfMamba{
    Made{"expand", {"ssm.inner_size", "ssm.inner_size"}, kHidden, true},
    Made{"head_dim", {"ssm.inner_size", "ssm.inner_size"}, "ssm.time_step_rank", true}};

// What a tensor says by being there, and by not being there.
struct Told {
  std::string_view config, tensor;
  std::string_view there = "true", missing = "false";
};
// What the number of a tensor's rows is.
struct Rows {
  std::string_view config, tensor;
};
constexpr std::array kToldOfCohere{Told{"use_qk_norm", "blk.0.attn_q_norm.weight"}};
constexpr std::array kToldOfStableLm{Told{"use_qkv_bias", "blk.0.attn_q.bias"},
                                     Told{"qk_layernorm", "blk.0.attn_q_norm.weight"}};
constexpr std::array kToldOfStarcoder{Told{"use_bias", "blk.0.attn_q.bias"}};
constexpr std::array kToldOfMamba{Told{"use_bias", "blk.0.ssm_in.bias"},
                                  Told{"use_conv_bias", "blk.0.ssm_conv1d.bias"}};

constexpr std::array kToldOfT5{
    Told{"feed_forward_proj", "enc.blk.0.ffn_gate.weight", R"("gated-gelu")", R"("relu")"}};
constexpr std::array kRowsOfBert{Rows{"type_vocab_size", "token_types.weight"}};

struct Kind {
  std::string_view gguf, type, head;
  std::span<const Word> words;
  std::string_view experts = {};  // the key of their number; empty: it has none
  std::string_view rotary = {};   // of the share of a head that is turned by its place
  std::string_view besides = {};  // members that llama.cpp has for settled
  std::span<const Word> own = {};
  std::span<const Made> made = {};
  std::span<const Told> told = {};
  std::span<const Rows> rows = {};
  std::optional<bool> windowed =
      {};  // whether it is the type with a window, where two share a word
};
constexpr std::string_view kPartlyTurned = "partial_rotary_factor";
constexpr std::string_view kNumExperts = "num_experts";
constexpr std::array kKinds{
    Kind{"llama", "llama", "LlamaForCausalLM", kLikeLlama},
    Kind{"llama", "mixtral", "MixtralForCausalLM", kLikeLlama, "num_local_experts"},
    Kind{"qwen2", "qwen2", "Qwen2ForCausalLM", kLikeLlama},
    Kind{"qwen2moe", "qwen2_moe", "Qwen2MoeForCausalLM", kLikeLlama, kNumExperts},
    Kind{"qwen3", "qwen3", "Qwen3ForCausalLM", kLikeLlama},
    Kind{"qwen3moe",
         "qwen3_moe",
         "Qwen3MoeForCausalLM",
         kLikeLlama,
         kNumExperts,
         {},
         R"("norm_topk_prob": true)"},
    Kind{"gemma", "gemma", "GemmaForCausalLM", kLikeLlama},
    Kind{"gemma2", "gemma2", "Gemma2ForCausalLM", kLikeLlama},
    Kind{"gemma3", "gemma3_text", "Gemma3ForCausalLM", kLikeLlama},
    Kind{"phi3", "phi3", "Phi3ForCausalLM", kLikeLlama, {}, kPartlyTurned},
    Kind{.gguf = "granite",
         .type = "granite",
         .head = "GraniteForCausalLM",
         .words = kLikeLlama,
         .own = kGranite},
    Kind{"smollm3", "smollm3", "SmolLM3ForCausalLM", kLikeLlama},
    Kind{.gguf = "olmo2",
         .type = "olmo2",
         .head = "Olmo2ForCausalLM",
         .words = kLikeLlama,
         .windowed = false},
    Kind{.gguf = "olmo2",
         .type = "olmo3",
         .head = "Olmo3ForCausalLM",
         .words = kLikeLlama,
         .windowed = true},
    Kind{.gguf = "cohere2",
         .type = "cohere2",
         .head = "Cohere2ForCausalLM",
         .words = kLikeLlama,
         .own = kCohere},
    Kind{"glm4", "glm4", "Glm4ForCausalLM", kLikeLlama, {}, kPartlyTurned},
    Kind{.gguf = "command-r",
         .type = "cohere",
         .head = "CohereForCausalLM",
         .words = kLikeLlama,
         .own = kCohere,
         .told = kToldOfCohere},
    Kind{.gguf = "starcoder2",
         .type = "starcoder2",
         .head = "Starcoder2ForCausalLM",
         .words = kLikeLlama,
         .own = kStarcoder,
         .told = kToldOfStarcoder},
    Kind{.gguf = "stablelm",
         .type = "stablelm",
         .head = "StableLmForCausalLM",
         .words = kLikeLlama,
         .rotary = kPartlyTurned,
         .own = kStableLm,
         .told = kToldOfStableLm},
    Kind{.gguf = "phi2",
         .type = "phi",
         .head = "PhiForCausalLM",
         .words = kLikeLlama,
         .rotary = kPartlyTurned,
         .own = kPhi},
    Kind{.gguf = "deepseek2",
         .type = "deepseek_v3",
         .head = "DeepseekV3ForCausalLM",
         .words = kLikeDeepseek,
         .experts = "n_routed_experts",
         .made = kMadeOfDeepseek},
    Kind{.gguf = "bert",
         .type = "bert",
         .head = "BertModel",
         .words = kLikeBert,
         .besides = R"("add_pooling_layer": false)",
         .rows = kRowsOfBert},
    Kind{.gguf = "t5",
         .type = "t5",
         .head = "T5ForConditionalGeneration",
         .words = kLikeT5,
         .told = kToldOfT5},
    Kind{.gguf = "mamba2",
         .type = "mamba2",
         .head = "Mamba2ForCausalLM",
         .words = kLikeMamba,
         .made = kMadeOfMamba,
         .told = kToldOfMamba},
    Kind{"gpt2", "gpt2", "GPT2LMHeadModel", kLikeGpt2},
    Kind{"bloom", "bloom", "BloomForCausalLM", kLikeBloom},
    Kind{"gptneox", "gpt_neox", "GPTNeoXForCausalLM", kLikeNeoX, {}, "rotary_pct"},
};

constexpr std::string_view kHint =
    "Put the config.json of the model into a folder with it, and name the folder.";

class Writer {
 public:
  Writer(const GgufMetadata& metadata, const Program& weights)
      : metadata_(metadata), weights_(weights) {}

  Result<std::string> Write() {
    SY_ASSIGN_OR_RETURN(const Kind* kind, FindKind());
    Add("model_type", Quoted(kind->type));
    Add("architectures", fmt::format("[{}]", Quoted(kind->head)));
    for (const Word& word : kind->words) SY_RETURN_IF_ERROR(AddWord(word));
    for (const Word& word : kind->own) SY_RETURN_IF_ERROR(AddWord(word));
    if (!kind->experts.empty()) SY_RETURN_IF_ERROR(AddWord({kExperts, kind->experts}));
    for (const Made& made : kind->made) SY_RETURN_IF_ERROR(AddMade(made));
    SY_RETURN_IF_ERROR(CheckRouter(*kind));
    AddShareThatTurns(*kind);
    SY_RETURN_IF_ERROR(AddOfTensors());
    for (const Told& told : kind->told) {
      Add(told.config, FindTensor(told.tensor) ? told.there : told.missing);
    }
    for (const Rows& rows : kind->rows) SY_RETURN_IF_ERROR(AddRows(rows));
    if (!kind->besides.empty()) members_.emplace_back(kind->besides);
    return fmt::format("{{{}}}", fmt::join(members_, ", "));
  }

 private:
  static std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", text); }
  void Add(std::string_view key, std::string_view value) {
    members_.push_back(fmt::format("\"{}\": {}", key, value));
  }
  std::int64_t NumberOr(std::string_view key, std::int64_t missing) const {
    const GgufValue* found = metadata_.Find(key);
    return found == nullptr ? missing : found->number.value_or(missing);
  }
  std::string KeyOf(std::string_view key) const {
    return metadata_.architecture() + "." + std::string(key);
  }

  Result<const Kind*> FindKind() const {
    const std::string architecture = metadata_.architecture();
    const bool sparse = NumberOr(kExperts, 0) > 0;
    const bool windowed = metadata_.Find("attention.sliding_window") != nullptr;
    const auto found = std::ranges::find_if(kKinds, [&](const Kind& kind) {
      return kind.gguf == architecture && kind.experts.empty() != sparse &&
             kind.windowed.value_or(windowed) == windowed;
    });
    if (found != kKinds.end()) return &*found;
    if (architecture.empty()) {
      return Unexpected(
          Unsupported("the file does not say it", "general.architecture", std::string(kHint)));
    }
    return Unexpected(
        Unsupported(fmt::format("models of {}{} are not built of their metadata",
                                QuotedName(architecture), sparse ? " with experts" : ""),
                    "general.architecture", std::string(kHint)));
  }

  Status AddWord(const Word& word) {
    const GgufValue* found = metadata_.Find(word.gguf);
    if (found == nullptr) {
      if (word.needed == Needed::kNo) return {};
      return Unexpected(
          Unsupported("the file does not say it", KeyOf(word.gguf), std::string(kHint)));
    }
    if (found->number && word.as == As::kFlag) {
      Add(word.config, *found->number != 0 ? "true" : "false");
    } else if (found->number) {
      Add(word.config, fmt::format("{}", *found->number));
    } else if (found->real) {
      Add(word.config, fmt::format("{:e}", *found->real));
    } else {
      return Unexpected(Unsupported(found->elements > 0
                                        ? "it is not the same for all layers, which is not built"
                                        : "it is no number",
                                    KeyOf(word.gguf), std::string(kHint)));
    }
    return {};
  }

  Status AddMade(const Made& made) {
    const std::int64_t a = NumberOr(made.a[0], NumberOr(made.a[1], 0));
    const std::int64_t b = made.b.empty() ? 0 : NumberOr(made.b, 0);
    const bool whole = made.by ? b > 0 && a % b == 0 : a > b && b >= 0;
    if (a <= 0 || !whole) {
      return Unexpected(
          Unsupported(fmt::format("{} cannot be found of it", QuotedName(made.config)),
                      KeyOf(made.a[1]), std::string(kHint)));
    }
    Add(made.config, fmt::format("{}", made.by ? a / b : a - b));
    return {};
  }

  Status AddRows(const Rows& rows) {
    const NamedTensor* tensor = FindTensor(rows.tensor);
    if (tensor == nullptr || weights_.values[tensor->value].rank < 1) {
      return Unexpected(Unsupported(fmt::format("{} cannot be found", QuotedName(rows.config)),
                                    QuotedName(rows.tensor), std::string(kHint)));
    }
    Add(rows.config, fmt::format("{}", weights_.sizes(tensor->value)[0]));
    return {};
  }

  // Of the architecture are models that weigh experts in another way, which transformers has as
  // another type.
  Status CheckRouter(const Kind& kind) const {
    constexpr std::int64_t kSigmoid = 2;
    constexpr std::string_view kRouter = "expert_gating_func";
    if (kind.words.data() != kLikeDeepseek.data() || NumberOr(kRouter, 0) == kSigmoid) return {};
    return Unexpected(
        Unsupported("DeepSeek's models before the third are not built of their metadata",
                    KeyOf(kRouter), std::string(kHint)));
  }

  void AddShareThatTurns(const Kind& kind) {
    const std::int64_t heads = NumberOr(kHeads, 0);
    const std::int64_t turned = NumberOr(kRotated, 0);
    if (kind.rotary.empty() || heads <= 0 || turned <= 0) return;
    const std::int64_t width = NumberOr(kHeadWidth, NumberOr(kHidden, 0) / heads);
    if (width <= 0) return;
    Add(kind.rotary, fmt::format("{}", static_cast<double>(turned) / static_cast<double>(width)));
  }

  const NamedTensor* FindTensor(std::string_view name) const {
    const auto found = std::ranges::find_if(weights_.parameters, [&](const NamedTensor& one) {
      return weights_.text(one.name) == name;
    });
    return found == weights_.parameters.end() ? nullptr : &*found;
  }

  Status AddOfTensors() {
    const NamedTensor* tokens = FindTensor("token_embd.weight");
    if (tokens == nullptr || weights_.values[tokens->value].rank != 2) {
      return Unexpected(Unsupported("there is no table of tokens", QuotedName("token_embd.weight"),
                                    std::string(kHint)));
    }
    Add("vocab_size", fmt::format("{}", weights_.sizes(tokens->value)[0]));
    const auto has = [&](std::string_view name) { return FindTensor(name) ? "true" : "false"; };
    Add("tie_word_embeddings", FindTensor("output.weight") ? "false" : "true");
    Add("attention_bias", has("blk.0.attn_q.bias"));
    Add("mlp_bias", has("blk.0.ffn_up.bias"));
    // Frequencies that depend on how long the text is.
    if (FindTensor("rope_factors_long.weight")) {
      Add("rope_scaling", R"({"rope_type": "longrope"})");
    }
    Add("dtype", Quoted(DTypeOfAll(weights_.values[tokens->value].dtype)));
    return {};
  }

  // What llama.cpp computes in, unless all weights are of one dtype.
  std::string_view DTypeOfAll(DType dtype) const {
    const bool one = weights_.packings.empty() &&
                     std::ranges::all_of(weights_.parameters, [&](const NamedTensor& parameter) {
                       return weights_.values[parameter.value].dtype == dtype;
                     });
    return NameOf(one ? dtype : DType::kFloat32);
  }

  const GgufMetadata& metadata_;
  const Program& weights_;
  std::vector<std::string> members_;
};

}  // namespace

Result<std::string> ConfigOf(const GgufMetadata& metadata, const Program& weights) {
  return Writer(metadata, weights).Write();
}

}  // namespace steelyard::weights
