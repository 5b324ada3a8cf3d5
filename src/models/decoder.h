// SPDX-License-Identifier: Apache-2.0
//
// Llama and the many models whose modeling code began as a copy of its: a struct with the options
// by which they differ.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/experts.h"
#include "models/heads.h"

namespace steelyard::models {

// Norms of the heads of queries and keys: none, or of heads as [batch, seq, heads, width], or
// behind the transposition of that.
enum class HeadNorm : std::uint8_t { kNone, kBefore, kBehind };
// What decides between experts: nothing, Mixtral's block, one that makes the experts before the
// router, or one with an expert that all tokens share.
enum class Sparse : std::uint8_t { kNone, kPlain, kExpertsFirst, kShared };

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
  // Phi's: one layer for query, key and value, one for gate and up; dropout behind both halves.
  bool fused = false;
  double residual_dropout = 0.0;
  // Gemma's: norms times one more than their weight, embeddings times a number.
  bool gemma = false;
  bool norms_behind = false;  // of what attention and MLP give, too
  double score_cap = 0.0, logit_cap = 0.0;

  // Masks: of everything before a token, and of a window before it. A layer takes one of them.
  bool full_mask = true;
  std::optional<std::int64_t> window = {};
  std::vector<bool> windowed = {};
  bool rotary_by_mask = false;  // each kind of layer has frequencies of its own

  Sparse sparse = Sparse::kNone;
  ExpertPlan experts = {};
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

 private:
  static std::vector<Linear> Joined(const Layer& mlp, const DecoderConfig& c, std::int64_t inner);
  static std::vector<Linear> Apart(const Layer& mlp, const DecoderConfig& c, std::int64_t inner);
};

// What a layer keeps of each token.
CacheLayer KeptBy(const DecoderConfig& config, std::optional<std::int64_t> window);

void BuildDecoder(Net& net, const DecoderConfig& config);

}  // namespace steelyard::models
