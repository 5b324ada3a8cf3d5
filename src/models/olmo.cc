// SPDX-License-Identifier: Apache-2.0
//
// modeling_olmo.py, of transformers 5.
#include <array>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 3> kHeads{"ForCausalLM", "Model",
                                                 "ForSequenceClassification"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.olmo.modeling_olmo.Olmo",
                                     {.hidden = 4096,
                                      .inner = 11008,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 50304,
                                      .positions = 2048});
  config.padding = c.CountOrNone("pad_token_id", 1);
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.parting = Parting::kProjectedFirst;
  if (c.Has("clip_qkv")) config.clip = c.Real("clip_qkv");
  config.norm = NormForm::kBare;
  config.eps = 1e-5;
  config.rotary = RotaryForm::kWideHalves;
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kOlmo{.type = "olmo",
                         .prefix = "Olmo",
                         .summary = "OLMo 1",
                         .heads = kHeads,
                         .build = Build,
                         .generates = true,
                         .flash = true};

}  // namespace steelyard::models
