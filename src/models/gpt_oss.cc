// SPDX-License-Identifier: Apache-2.0
//
// modeling_gpt_oss.py, of transformers 5. Its experts' limits are those of its config's class where
// the config has none.
#include <array>
#include <cstdint>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.gpt_oss.modeling_gpt_oss.GptOss",
                                     {.hidden = 2880,
                                      .inner = 2880,
                                      .layers = 36,
                                      .heads = 64,
                                      .vocabulary = 201088,
                                      .positions = 131072,
                                      .keys = KeysOf(c, 8),
                                      .width = 64,
                                      .eps = 1e-5});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", true);
  config.norm = NormForm::kWideRoot;
  config.rotary = RotaryForm::kChunks;
  config.sinks = true;
  config.masks_know_positions = false;
  config.window = c.CountOrNone("sliding_window", 128);
  ReadLayerTypes(c, config, [](std::int64_t layer) { return (layer + 1) % 2 != 0; });
  if (!config.window) c.Refuse("sliding_window", "it is null, and the model makes a mask of it");
  config.sparse = Sparse::kScored;
  config.experts = {.count = c.Count("num_local_experts", c.Count("num_experts", 128)),
                    .chosen = c.Size("num_experts_per_tok", 4),
                    .hidden = config.hidden,
                    .inner = config.inner,
                    .limited = ExpertPlan::LimitedGate{.gain = c.Real("swiglu_alpha", 1.702),
                                                       .limit = c.Real("swiglu_limit", 7.0)}};
  config.router_outputs = c.Flag("output_router_logits", false);
  config.router_loss = c.Real("router_aux_loss_coef", 0.001);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kGptOss{.type = "gpt_oss",
                           .prefix = "GptOss",
                           .summary = "GPT-OSS, with experts and sinks of attention",
                           .heads = kHeads,
                           .build = Build,
                           .generates = true,
                           .only_attention = Attention::kEager};

}  // namespace steelyard::models
