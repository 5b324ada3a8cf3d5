// SPDX-License-Identifier: Apache-2.0
//
// modeling_qwen2.py, modeling_qwen3.py and theirs with experts, of transformers 5.
#include <algorithm>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

// The window that a config asks for by another key, too.
std::optional<std::int64_t> WindowOf(const Settings& c) {
  if (!c.Flag("use_sliding_window", false)) return {};
  return c.CountOrNone("sliding_window", 4096);
}

void ReadExperts(const Settings& c, DecoderConfig& config, std::int64_t count, std::int64_t chosen,
                 std::int64_t inner) {
  config.experts = {.count = c.Count("num_experts", c.Count("num_local_experts", count)),
                    .chosen = c.Size("num_experts_per_tok", chosen),
                    .hidden = config.hidden,
                    .inner = c.Size("moe_intermediate_size", inner),
                    .normalised = c.Flag("norm_topk_prob", false)};
  ReadDenseLayers(c, config);
  config.router_outputs = c.Flag("output_router_logits", false);
  config.router_loss = c.Real("router_aux_loss_coef", 0.001);
}

// The layers from "max_window_layers" on look through the window; no mask is made that none takes.
void ReadWindows(const Settings& c, DecoderConfig& config) {
  config.window = WindowOf(c);
  const std::int64_t first = c.Count("max_window_layers", 28);
  ReadLayerTypes(c, config,
                 [&](std::int64_t layer) { return config.window.has_value() && layer >= first; });
  if (std::ranges::find(config.windowed, true) == config.windowed.end()) config.window.reset();
}

// Of the models without experts.
DecoderDefaults DenseDefaults(const Settings& c) {
  return {.hidden = 4096,
          .inner = 22016,
          .layers = 32,
          .heads = 32,
          .vocabulary = 151936,
          .positions = 32768,
          .keys = KeysOf(c, 32)};
}

void BuildQwen2(Net& net) {
  DecoderConfig config = ReadDecoder(net.config, "transformers.models.qwen2.modeling_qwen2.Qwen2",
                                     DenseDefaults(net.config));
  config.qkv_bias = Bias::kOne;
  ReadWindows(net.config, config);
  BuildDecoder(net, config);
}

void BuildQwen3(Net& net) {
  DecoderDefaults defaults = DenseDefaults(net.config);
  defaults.width = 128;
  DecoderConfig config =
      ReadDecoder(net.config, "transformers.models.qwen3.modeling_qwen3.Qwen3", defaults);
  config.qkv_bias = config.out_bias = BiasOf(net.config, "attention_bias", false);
  config.head_norm = HeadNorm::kBefore;
  ReadWindows(net.config, config);
  BuildDecoder(net, config);
}

void BuildQwen2Moe(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.qwen2_moe.modeling_qwen2_moe.Qwen2Moe",
                                     {.hidden = 2048,
                                      .inner = 5632,
                                      .layers = 24,
                                      .heads = 16,
                                      .vocabulary = 151936,
                                      .positions = 32768,
                                      .keys = KeysOf(c, 16)});
  config.qkv_bias = BiasOf(c, "qkv_bias", true);
  // Both masks are made, even of a window of nothing.
  config.window = WindowOf(c).value_or(0);
  const std::int64_t last = c.Count("max_window_layers", 28);
  const bool used = c.Flag("use_sliding_window", false);
  ReadLayerTypes(c, config,
                 [&](std::int64_t layer) { return used && layer < last && (layer + 1) % 2 != 0; });
  config.sparse = Sparse::kShared;
  config.shared_inner = c.Count("shared_expert_intermediate_size", 5632);
  ReadExperts(c, config, 60, 4, 1408);
  BuildDecoder(net, config);
}

void BuildQwen3Moe(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.qwen3_moe.modeling_qwen3_moe.Qwen3Moe",
                                     {.hidden = 2048,
                                      .inner = 6144,
                                      .layers = 24,
                                      .heads = 32,
                                      .vocabulary = 151936,
                                      .positions = 32768,
                                      .keys = 4});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.head_norm = HeadNorm::kBefore;
  LookThrough(config, WindowOf(c));
  config.sparse = Sparse::kExpertsFirst;
  ReadExperts(c, config, 128, 8, 768);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kQwen2{.type = "qwen2",
                          .prefix = "Qwen2",
                          .summary = "Qwen 1.5 to 2.5",
                          .heads = kTextHeads,
                          .build = BuildQwen2,
                          .generates = true,
                          .flash = true};
const Architecture kQwen3{.type = "qwen3",
                          .prefix = "Qwen3",
                          .summary = "Qwen 3",
                          .heads = kTextHeads,
                          .build = BuildQwen3,
                          .generates = true,
                          .flash = true};
const Architecture kQwen2Moe{.type = "qwen2_moe",
                             .prefix = "Qwen2Moe",
                             .summary = "Qwen 1.5 and 2 with experts, one of them shared",
                             .heads = kTextHeads,
                             .build = BuildQwen2Moe,
                             .generates = true,
                             .flash = true};
const Architecture kQwen3Moe{.type = "qwen3_moe",
                             .prefix = "Qwen3Moe",
                             .summary = "Qwen 3 with experts",
                             .heads = kTextHeads,
                             .build = BuildQwen3Moe,
                             .generates = true,
                             .flash = true};

}  // namespace steelyard::models
