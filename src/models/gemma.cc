// SPDX-License-Identifier: Apache-2.0
//
// modeling_gemma.py, modeling_gemma2.py and the text model of modeling_gemma3.py, of
// transformers 5.
#include <array>
#include <cmath>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};
constexpr std::array<std::string_view, 3> kGemma3Heads{"ForCausalLM", "TextModel",
                                                       "TextForSequenceClassification"};

DecoderConfig Read(const Settings& c, std::string_view classes, const DecoderDefaults& defaults) {
  DecoderConfig config = ReadDecoder(c, classes, defaults);
  config.gemma = true;
  config.padding = c.CountOrNone("pad_token_id", 0);
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  if (c.Flag("use_bidirectional_attention", false)) {
    c.Refuse("use_bidirectional_attention", "a decoder that sees what follows is not built");
  }
  return config;
}

void BuildGemma(Net& net) {
  DecoderConfig config = Read(net.config, "transformers.models.gemma.modeling_gemma.Gemma",
                              {.hidden = 3072,
                               .inner = 24576,
                               .layers = 28,
                               .heads = 16,
                               .vocabulary = 256000,
                               .positions = 8192,
                               .keys = 16,
                               .width = 256,
                               .tied = true,
                               .activation = "gelu_pytorch_tanh"});
  // The first checkpoints name the other one by mistake.
  if (config.activation.name == "gelu") config.activation.name = "gelu_pytorch_tanh";
  BuildDecoder(net, config);
}

// What Gemma 2 and 3 share: scores scaled by a number of their own, norms on both sides of each
// half of a layer, and layers that look through a window.
struct SecondDefaults {
  std::int64_t vocabulary, positions;
};
DecoderConfig ReadSecond(const Settings& c, std::string_view classes,
                         const SecondDefaults& defaults) {
  DecoderConfig config = Read(c, classes,
                              {.hidden = 2304,
                               .inner = 9216,
                               .layers = 26,
                               .heads = 8,
                               .vocabulary = defaults.vocabulary,
                               .positions = defaults.positions,
                               .keys = 4,
                               .width = 256,
                               .tied = true});
  config.activation = {.config_key = "hidden_activation",
                       .name = c.Text("hidden_activation", "gelu_pytorch_tanh")};
  config.scale = 1.0 / std::sqrt(c.Real("query_pre_attn_scalar", 256.0));
  config.norms = {{"input_layernorm", NormPlace::kBeforeAttention},
                  {"post_attention_layernorm", NormPlace::kBehindAttention},
                  {"pre_feedforward_layernorm", NormPlace::kBeforeMlp},
                  {"post_feedforward_layernorm", NormPlace::kBehindMlp}};
  config.window = c.Count("sliding_window", 4096);
  return config;
}

void BuildGemma2(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadSecond(c, "transformers.models.gemma2.modeling_gemma2.Gemma2",
                                    {.vocabulary = 256000, .positions = 8192});
  const auto cap = [&](std::string_view key, double missing) {
    const bool none = c.Stands(key) && !c.Has(key);
    return none ? std::optional<double>() : c.Real(key, missing);
  };
  config.score_cap = cap("attn_logit_softcapping", 50.0);
  config.logit_cap = cap("final_logit_softcapping", 30.0);
  ReadLayerTypes(c, config, [](std::int64_t layer) { return (layer + 1) % 2 != 0; });
  BuildDecoder(net, config);
}

void BuildGemma3(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadSecond(c, "transformers.models.gemma3.modeling_gemma3.Gemma3",
                                    {.vocabulary = 262208, .positions = 131072});
  config.model_class = "TextModel";
  config.head_norm = HeadNorm::kBehind;
  config.rotary_by_mask = true;
  if (c.Has("final_logit_softcapping")) config.logit_cap = c.Real("final_logit_softcapping");
  const std::int64_t pattern = std::max<std::int64_t>(
      c.Count("sliding_window_pattern", c.Count("_sliding_window_pattern", 6)), 1);
  ReadLayerTypes(c, config, [&](std::int64_t layer) { return (layer + 1) % pattern != 0; });
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kGemma{.type = "gemma",
                          .prefix = "Gemma",
                          .summary = "Gemma 1",
                          .heads = kHeads,
                          .build = BuildGemma,
                          .generates = true,
                          .flash = true};
const Architecture kGemma2{.type = "gemma2",
                           .prefix = "Gemma2",
                           .summary = "Gemma 2",
                           .heads = kHeads,
                           .build = BuildGemma2,
                           .generates = true,
                           .only_attention = Attention::kEager,
                           .flash = true};
const Architecture kGemma3Text{.type = "gemma3_text",
                               .prefix = "Gemma3",
                               .summary = "Gemma 3 without its eyes",
                               .heads = kGemma3Heads,
                               .build = BuildGemma3,
                               .generates = true,
                               .flash = true};

}  // namespace steelyard::models
