// SPDX-License-Identifier: Apache-2.0
//
// modeling_ernie4_5.py, of transformers 5.
#include <array>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.ernie4_5.modeling_ernie4_5.Ernie4_5",
                                     {.hidden = 1024,
                                      .inner = 3072,
                                      .layers = 18,
                                      .heads = 16,
                                      .vocabulary = 103424,
                                      .positions = 131072,
                                      .keys = KeysOf(c, 2),
                                      .width = 128,
                                      .eps = 1e-5,
                                      .tied = true});
  config.padding = c.CountOrNone("pad_token_id", 0);
  config.qkv_bias = config.out_bias = config.mlp_bias = BiasOf(c, "use_bias", false);
  config.attention_dropout = 0.0;
  config.rotary = RotaryForm::kAllWideNeighbours;
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kErnie45{.type = "ernie4_5",
                            .prefix = "Ernie4_5",
                            .summary = "ERNIE 4.5 without experts",
                            .heads = kHeads,
                            .build = Build,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
