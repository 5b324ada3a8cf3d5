// SPDX-License-Identifier: Apache-2.0
//
// modeling_granite.py, of transformers 5.
#include <array>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.granite.modeling_granite.Granite",
                                     {.hidden = 4096,
                                      .inner = 11008,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 32000,
                                      .positions = 2048});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.mlp_bias = BiasOf(c, "mlp_bias", false);
  config.scale = c.Real("attention_multiplier", 1.0);
  config.embedding_scale = c.Real("embedding_multiplier", 1.0);
  config.residual_scale = c.Real("residual_multiplier", 1.0);
  config.logit_divisor = c.Real("logits_scaling", 1.0);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kGranite{.type = "granite",
                            .prefix = "Granite",
                            .summary = "Granite 3 and 4 without experts",
                            .heads = kHeads,
                            .build = Build,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
