// SPDX-License-Identifier: Apache-2.0
//
// modeling_exaone4.py, of transformers 5.
#include <algorithm>
#include <cstdint>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

// Layers that see everything do not turn, where others look through a window.
void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.exaone4.modeling_exaone4.Exaone4",
                                     {.hidden = 4096,
                                      .inner = 16384,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 102400,
                                      .positions = 2048,
                                      .keys = 32,
                                      .eps = 1e-5});
  config.head_norm = HeadNorm::kBehind;
  config.norms = {{"post_attention_layernorm", NormPlace::kBehindAttention},
                  {"post_feedforward_layernorm", NormPlace::kBehindMlp}};
  config.window = c.CountOrNone("sliding_window", 4096);
  if (!config.window && !c.Has("layer_types")) {
    c.Refuse("layer_types", "it is missing, and without a window transformers finds none");
  }
  const std::int64_t pattern = c.Has("layer_types") ? 1 : c.Size("sliding_window_pattern", 4);
  ReadLayerTypes(c, config, [&](std::int64_t layer) { return (layer + 1) % pattern != 0; });
  if (config.window) {
    for (const bool windowed : config.windowed) config.unturned.push_back(!windowed);
  }
  if (std::ranges::find(config.windowed, true) == config.windowed.end()) config.window.reset();
  config.span_base = "transformer";
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kExaone4{.type = "exaone4",
                            .prefix = "Exaone4",
                            .summary = "EXAONE 4",
                            .heads = kTextHeads,
                            .build = Build,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
