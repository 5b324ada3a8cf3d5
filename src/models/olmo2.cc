// SPDX-License-Identifier: Apache-2.0
//
// modeling_olmo2.py and modeling_olmo3.py, of transformers 5.
#include <array>
#include <cstdint>
#include <string_view>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 3> kHeads{"ForCausalLM", "Model",
                                                 "ForSequenceClassification"};

DecoderConfig Read(const Settings& c, std::string_view classes) {
  DecoderConfig config = ReadDecoder(c, classes,
                                     {.hidden = 4096,
                                      .inner = 11008,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 50304,
                                      .positions = 2048,
                                      .eps = 1e-5});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.padding = c.CountOrNone("pad_token_id", 1);
  config.parting = Parting::kProjectedFirst;
  config.norm = NormForm::kWideRoot;
  config.norms = {{"post_attention_layernorm", NormPlace::kBehindAttention},
                  {"post_feedforward_layernorm", NormPlace::kBehindMlp}};
  config.head_norm = HeadNorm::kFlat;
  config.rotary = RotaryForm::kWideHalves;
  return config;
}

void Build(Net& net) {
  BuildDecoder(net, Read(net.config, "transformers.models.olmo2.modeling_olmo2.Olmo2"));
}

void BuildThird(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = Read(c, "transformers.models.olmo3.modeling_olmo3.Olmo3");
  config.window = c.Count("sliding_window", 4096);
  ReadLayerTypes(c, config, [](std::int64_t layer) { return (layer + 1) % 4 != 0; });
  config.rotary_by_mask = true;
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kOlmo2{.type = "olmo2",
                          .prefix = "Olmo2",
                          .summary = "OLMo 2",
                          .heads = kHeads,
                          .build = Build,
                          .generates = true,
                          .flash = true};
const Architecture kOlmo3{.type = "olmo3",
                          .prefix = "Olmo3",
                          .summary = "OLMo 3",
                          .heads = kHeads,
                          .build = BuildThird,
                          .generates = true,
                          .flash = true};

}  // namespace steelyard::models
