// SPDX-License-Identifier: Apache-2.0
//
// modeling_glm.py and modeling_glm4.py, of transformers 5.
#include <array>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};

DecoderConfig Read(const Settings& c, std::string_view classes) {
  DecoderConfig config = ReadDecoder(c, classes,
                                     {.hidden = 4096,
                                      .inner = 13696,
                                      .layers = 40,
                                      .heads = 32,
                                      .vocabulary = 151552,
                                      .positions = 131072,
                                      .keys = 2,
                                      .width = 128,
                                      .eps = 1.5625e-7});
  config.qkv_bias = BiasOf(c, "attention_bias", true);
  config.padding = c.CountOrNone("pad_token_id", 151329);
  config.fused_mlp = true;
  config.rotary = RotaryForm::kNeighbours;
  config.rotated = RotatedWidth(c, config.heads.width, "partial_rotary_factor", 0.5);
  return config;
}

void BuildGlm(Net& net) {
  BuildDecoder(net, Read(net.config, "transformers.models.glm.modeling_glm.Glm"));
}

void BuildGlm4(Net& net) {
  DecoderConfig config = Read(net.config, "transformers.models.glm4.modeling_glm4.Glm4");
  config.norms = {{"input_layernorm", NormPlace::kBeforeAttention},
                  {"post_attention_layernorm", NormPlace::kBeforeMlp},
                  {"post_self_attn_layernorm", NormPlace::kBehindAttention},
                  {"post_mlp_layernorm", NormPlace::kBehindMlp}};
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kGlm{.type = "glm",
                        .prefix = "Glm",
                        .summary = "GLM 4 as of 2024",
                        .heads = kHeads,
                        .build = BuildGlm,
                        .generates = true,
                        .flash = true};
const Architecture kGlm4{.type = "glm4",
                         .prefix = "Glm4",
                         .summary = "GLM 4",
                         .heads = kHeads,
                         .build = BuildGlm4,
                         .generates = true,
                         .flash = true};

}  // namespace steelyard::models
