// SPDX-License-Identifier: Apache-2.0
//
// modeling_granitemoe.py, of transformers 5.
#include <array>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config =
      ReadDecoder(c, "transformers.models.granitemoe.modeling_granitemoe.GraniteMoe",
                  {.hidden = 4096,
                   .inner = 11008,
                   .layers = 32,
                   .heads = 32,
                   .vocabulary = 32000,
                   .positions = 2048});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.scale = c.Real("attention_multiplier", 1.0);
  config.embedding_scale = c.Real("embedding_multiplier", 1.0);
  config.scaled_behind_masks = true;
  config.residual_scale = c.Real("residual_multiplier", 1.0);
  config.logit_divisor = c.Real("logits_scaling", 1.0);
  config.mlp_behind_norms = true;
  config.sparse = Sparse::kChosen;
  config.sparse_name = "block_sparse_moe";
  config.experts = {.count = c.Count("num_local_experts", c.Count("num_experts", 8)),
                    .chosen = c.Size("num_experts_per_tok", 2),
                    .hidden = config.hidden,
                    .inner = config.inner,
                    .router_bias = false,
                    .wide_logits = true};
  config.router_outputs = c.Flag("output_router_logits", false);
  config.router_loss = c.Real("router_aux_loss_coef", 0.001);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kGraniteMoe{.type = "granitemoe",
                               .prefix = "GraniteMoe",
                               .summary = "Granite 3 with experts",
                               .heads = kHeads,
                               .build = Build,
                               .generates = true,
                               .flash = true};

}  // namespace steelyard::models
