// SPDX-License-Identifier: Apache-2.0
//
// modeling_cohere.py and modeling_cohere2.py, of transformers 5.
#include <array>
#include <cstdint>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

DecoderConfig Read(const Settings& c, std::string_view classes) {
  DecoderConfig config = ReadDecoder(c, classes,
                                     {.hidden = 8192,
                                      .inner = 22528,
                                      .layers = 40,
                                      .heads = 64,
                                      .vocabulary = 256000,
                                      .positions = 8192,
                                      .tied = true});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.padding = c.CountOrNone("pad_token_id", 0);
  config.norm = NormForm::kCentred;
  config.eps = c.Real("layer_norm_eps", 1e-5);
  config.norms = {{"input_layernorm", NormPlace::kBeforeAttention}};
  config.halves = Halves::kBeside;
  config.rotary = RotaryForm::kWideNeighbours;
  config.logit_factor = c.Real("logit_scale", 0.0625);
  return config;
}

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = Read(c, "transformers.models.cohere.modeling_cohere.Cohere");
  config.parting = Parting::kTurnedLast;
  if (c.Flag("use_qk_norm", false)) config.head_norm = HeadNorm::kBefore;
  BuildDecoder(net, config);
}

// Layers that see all tokens do not turn them.
void BuildSecond(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = Read(c, "transformers.models.cohere2.modeling_cohere2.Cohere2");
  config.window = c.Count("sliding_window", 4096);
  const std::int64_t pattern = c.Size("sliding_window_pattern", 4);
  ReadLayerTypes(c, config, [&](std::int64_t layer) { return (layer + 1) % pattern != 0; });
  config.unturned = config.windowed;
  config.unturned.flip();
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kCohere{.type = "cohere",
                           .prefix = "Cohere",
                           .summary = "Command R",
                           .heads = kHeads,
                           .build = Build,
                           .generates = true,
                           .flash = true};
const Architecture kCohere2{.type = "cohere2",
                            .prefix = "Cohere2",
                            .summary = "Command R7B and A",
                            .heads = kHeads,
                            .build = BuildSecond,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
