// SPDX-License-Identifier: Apache-2.0
//
// modeling_phi3.py, of transformers 5.
#include <array>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.phi3.modeling_phi3.Phi3",
                                     {.hidden = 3072,
                                      .inner = 8192,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 32064,
                                      .positions = 4096,
                                      .eps = 1e-5});
  config.fused = config.fused_mlp = true;
  config.attention_dropout_name = "resid_attn_dropout";
  config.mlp_dropout_name = "resid_mlp_dropout";
  config.residual_dropout = c.Share("resid_pdrop", 0.0);
  config.padding = c.CountOrNone("pad_token_id", 32000);
  LookThrough(config, c.CountOrNone("sliding_window"));
  config.rotated = RotatedWidth(c, config.heads.width, "partial_rotary_factor", 1.0);
  BuildDecoder(net, config);
}

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};

}  // namespace

const Architecture kPhi3{.type = "phi3",
                         .prefix = "Phi3",
                         .summary = "Phi 3 and 4",
                         .heads = kHeads,
                         .build = Build,
                         .generates = true,
                         .flash = true};

}  // namespace steelyard::models
