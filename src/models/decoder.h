// SPDX-License-Identifier: Apache-2.0
//
// Llama and the many models whose modeling code began as a copy of its: a struct with the options
// by which they differ.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/experts.h"
#include "models/heads.h"

namespace steelyard::models {

// Norms of the heads of queries and keys: none, of all of a token's heads at once, of heads as
// [batch, seq, heads, width], or behind the transposition of that, of all by one weight or of each
// by its own, or when they have been turned.
enum class HeadNorm : std::uint8_t { kNone, kFlat, kBefore, kBehind, kEach, kTurned };
// How far one of query, key and value gets before the next: to its heads, no further than its
// projection, or up to the transposition of all of them.
enum class Parting : std::uint8_t { kOneByOne, kProjectedFirst, kTurnedLast };
// Llama's norm, with OLMo 2's weight, PyTorch's layer norm, Cohere's, which is written out, or
// OLMo's, which has no weight.
enum class NormForm : std::uint8_t { kRoot, kWideRoot, kMean, kCentred, kBare };
// Where a layer's norms stand.
enum class NormPlace : std::uint8_t { kBeforeAttention, kBehindAttention, kBeforeMlp, kBehindMlp };
struct NormAt {
  std::string_view name;
  NormPlace place;
};
// Both halves one after the other, where what they give may have names that live as long as the
// call; or of the same norm: x + attention + MLP, in that order or with x last.
enum class Halves : std::uint8_t { kInTurn, kInTurnNamed, kBeside, kBesideLast };
// What decides between experts: nothing, Mixtral's block, one that makes the experts before the
// router, one with an expert that all tokens share, one that returns its router's weights, one
// whose router shares out the logits of those it chooses, or DeepSeek V3's groups of them.
enum class Sparse : std::uint8_t {
  kNone,
  kPlain,
  kExpertsFirst,
  kShared,
  kScored,
  kChosen,
  kGrouped
};

struct DecoderConfig {
  // What its classes' names begin with: "transformers.models.llama.modeling_llama.Llama".
  std::string classes = {};
  std::string_view model_class = "Model";
  std::string_view span_base = "model";  // as ForQuestionAnswering calls the model
  std::int64_t hidden = 1, inner = 1, layers = 0, vocabulary = 1, positions = 1;
  Heads heads = {};
  std::int64_t rotated = 1;  // as much of a head is turned by its place
  double eps = 1e-6;
  double scale = 1.0;  // of scores
  double attention_dropout = 0.0;
  Bias qkv_bias = Bias::kNone, out_bias = Bias::kNone, mlp_bias = Bias::kNone;
  Activation::Name activation = {};
  bool tied = false;
  std::optional<std::int64_t> padding = {};

  HeadNorm head_norm = HeadNorm::kNone;
  std::array<std::string_view, 2> head_norm_names{"q_norm", "k_norm"};
  Parting parting = Parting::kOneByOne;
  std::optional<double> clip = {};  // of projections, where all of them come first
  NormForm norm = NormForm::kRoot;
  std::string_view last_norm = "norm";
  std::vector<NormAt> norms{{"input_layernorm", NormPlace::kBeforeAttention},
                            {"post_attention_layernorm", NormPlace::kBeforeMlp}};
  Halves halves = Halves::kInTurn;
  bool mlp_behind_norms = false;  // as a layer declares them
  bool fused = false;             // one layer for query, key and value
  bool fused_mlp = false;         // one for gate and up
  std::string_view out_name = "o_proj";
  // Dropout behind both halves, by the names of its modules; within both, by none.
  std::string_view attention_dropout_name = {}, mlp_dropout_name = {};
  double residual_dropout = 0.0;
  bool inner_dropout = false;
  // Of embeddings: by the name of a module, or none.
  std::optional<double> embedding_dropout = {};
  std::string_view embedding_dropout_name = {};
  // An MLP without a gate: its layers, and its activation.
  struct PlainMlpNames {
    std::string_view in, out, act;
  };
  std::optional<PlainMlpNames> plain_mlp = {};
  // Gemma's: norms times one more than their weight, embeddings times a number.
  bool gemma = false;
  std::optional<double> score_cap = {}, logit_cap = {};
  // Granite's and Cohere's numbers.
  std::optional<double> embedding_scale = {}, residual_scale = {}, logit_divisor = {},
                        logit_factor = {};
  bool scaled_behind_masks = false;  // embeddings
  Bias logit_bias = Bias::kNone;

  // Masks: of everything before a token, and of a window before it. A layer takes one of them.
  bool full_mask = true;
  std::optional<std::int64_t> window = {};
  std::vector<bool> windowed = {};
  bool rotary_by_mask = false;       // each kind of layer has frequencies of its own
  bool masks_know_positions = true;  // so that texts in one sequence do not see each other
  bool sinks = false;                // heads have a further score, of nothing
  RotaryForm rotary = RotaryForm::kHalves;
  bool joined_last = false;         // parts that turn with their rest, when all are turned
  std::vector<bool> unturned = {};  // layers that do not turn

  Sparse sparse = Sparse::kNone;
  std::string_view sparse_name = "mlp";
  ExpertPlan experts = {};
  struct ExpertGroups {
    std::int64_t count = 1, chosen = 1;
    double scale = 1.0;            // of weights
    bool wide_correction = false;  // of scores, in float32
  } groups = {};
  std::vector<bool> dense = {};  // layers without experts
  std::int64_t shared_inner = 0;
  bool router_outputs = false;
  double router_loss = 0.0;
};

// A config's keys that all these models share, by the names that Llama gives them.
struct DecoderDefaults {
  std::int64_t hidden, inner, layers, heads, vocabulary, positions;
  std::optional<std::int64_t> keys = {};   // heads of keys and values; none: as many as of queries
  std::optional<std::int64_t> width = {};  // of a head; none: hidden / heads
  double eps = 1e-6;
  bool tied = false;
  std::string_view activation = "silu";
};
DecoderConfig ReadDecoder(const Settings& c, std::string_view classes,
                          const DecoderDefaults& defaults);
// Heads of keys and values where null stands for as many as of queries.
std::optional<std::int64_t> KeysOf(const Settings& c, std::int64_t missing);
// All layers look through the window, where there is one.
void LookThrough(DecoderConfig& config, std::optional<std::int64_t> window);
// Which layers look through a window: by "layer_types", or, where it is missing, by a rule.
void ReadLayerTypes(const Settings& c, DecoderConfig& config,
                    const std::function<bool(std::int64_t layer)>& slides);
// "mlp_only_layers" and "decoder_sparse_step".
void ReadDenseLayers(const Settings& c, DecoderConfig& config);

// Gate, up and down, as Llama's MLP has them.
struct GatedMlp : Layer {
  GatedMlp(const Layer& parent, std::string_view name, const DecoderConfig& c, std::int64_t inner);
  Tensor operator()(Tensor x) const;
  std::vector<Linear> in;  // gate and up, or one for both
  Linear down;
  Activation act;
  std::optional<double> dropout;  // of what it gives

 private:
  static std::vector<Linear> Joined(const Layer& mlp, const DecoderConfig& c, std::int64_t inner);
  static std::vector<Linear> Apart(const Layer& mlp, const DecoderConfig& c, std::int64_t inner);
};

// What a layer keeps of each token.
CacheLayer KeptBy(const DecoderConfig& config, std::optional<std::int64_t> window);

void BuildDecoder(Net& net, const DecoderConfig& config);

}  // namespace steelyard::models
