// SPDX-License-Identifier: Apache-2.0
//
// modeling_olmoe.py, of transformers 5.
#include <array>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.olmoe.modeling_olmoe.Olmoe",
                                     {.hidden = 2048,
                                      .inner = 2048,
                                      .layers = 16,
                                      .heads = 16,
                                      .vocabulary = 50304,
                                      .positions = 4096,
                                      .eps = 1e-5});
  config.padding = c.CountOrNone("pad_token_id", 1);
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.parting = Parting::kProjectedFirst;
  config.head_norm = HeadNorm::kFlat;
  if (c.Has("clip_qkv")) config.clip = c.Real("clip_qkv");
  config.sparse = Sparse::kPlain;
  config.experts = {.count = c.Count("num_experts", c.Count("num_local_experts", 64)),
                    .chosen = c.Size("num_experts_per_tok", 8),
                    .hidden = config.hidden,
                    .inner = config.inner,
                    .normalised = c.Flag("norm_topk_prob", false)};
  config.router_outputs = c.Flag("output_router_logits", false);
  config.router_loss = c.Real("router_aux_loss_coef", 0.01);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kOlmoe{.type = "olmoe",
                          .prefix = "Olmoe",
                          .summary = "OLMoE",
                          .heads = kHeads,
                          .build = Build,
                          .generates = true,
                          .flash = true};

}  // namespace steelyard::models
