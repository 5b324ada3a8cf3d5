// SPDX-License-Identifier: Apache-2.0
//
// modeling_cohere.py, of transformers 5.
#include <array>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.cohere.modeling_cohere.Cohere",
                                     {.hidden = 8192,
                                      .inner = 22528,
                                      .layers = 40,
                                      .heads = 64,
                                      .vocabulary = 256000,
                                      .positions = 8192,
                                      .tied = true});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.padding = c.CountOrNone("pad_token_id", 0);
  config.parting = Parting::kTurnedLast;
  config.norm = NormForm::kCentred;
  config.eps = c.Real("layer_norm_eps", 1e-5);
  config.norms = {{"input_layernorm", NormPlace::kBeforeAttention}};
  config.halves = Halves::kBeside;
  if (c.Flag("use_qk_norm", false)) config.head_norm = HeadNorm::kBefore;
  config.rotary = RotaryForm::kWideNeighbours;
  config.logit_factor = c.Real("logit_scale", 0.0625);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kCohere{.type = "cohere",
                           .prefix = "Cohere",
                           .summary = "Command R",
                           .heads = kHeads,
                           .build = Build,
                           .generates = true};

}  // namespace steelyard::models
