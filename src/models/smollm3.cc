// SPDX-License-Identifier: Apache-2.0
//
// modeling_smollm3.py, of transformers 5.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

// Layers that do not turn queries and keys by their places: where "no_rope_layers" has a 0, or each
// so many.
std::vector<bool> ReadUnturned(const Settings& c, std::int64_t layers) {
  const std::vector<std::int64_t> turn = c.Counts("no_rope_layers");
  const std::int64_t step = c.Size("no_rope_layer_interval", 4);
  std::vector<bool> unturned;
  for (std::int64_t i = 0; i < Admitted(c, "num_hidden_layers", layers); ++i) {
    const auto index = static_cast<std::size_t>(i);
    unturned.push_back(turn.empty() ? (i + 1) % step == 0
                                    : index < turn.size() && turn[index] == 0);
  }
  if (!turn.empty() && turn.size() < unturned.size()) {
    c.Refuse("no_rope_layers", "it has fewer layers than there are");
  }
  return unturned;
}

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.smollm3.modeling_smollm3.SmolLM3",
                                     {.hidden = 2048,
                                      .inner = 11008,
                                      .layers = 36,
                                      .heads = 16,
                                      .vocabulary = 128256,
                                      .positions = 32768,
                                      .keys = KeysOf(c, 4),
                                      .tied = true});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.mlp_bias = BiasOf(c, "mlp_bias", false);
  config.padding = c.CountOrNone("pad_token_id", 128004);
  config.span_base = "transformer";
  config.unturned = ReadUnturned(c, config.layers);
  if (c.Flag("use_sliding_window", false)) config.window = c.CountOrNone("sliding_window");
  ReadLayerTypes(c, config, [&](std::int64_t layer) {
    return config.window.has_value() && config.unturned[static_cast<std::size_t>(layer)];
  });
  if (std::ranges::find(config.windowed, true) == config.windowed.end()) config.window.reset();
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kSmolLm3{.type = "smollm3",
                            .prefix = "SmolLM3",
                            .summary = "SmolLM 3: layers that do not know places",
                            .heads = kTextHeads,
                            .build = Build,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
