// SPDX-License-Identifier: Apache-2.0
//
// modeling_olmo2.py, of transformers 5.
#include <array>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 3> kHeads{"ForCausalLM", "Model",
                                                 "ForSequenceClassification"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.olmo2.modeling_olmo2.Olmo2",
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
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kOlmo2{.type = "olmo2",
                          .prefix = "Olmo2",
                          .summary = "OLMo 2",
                          .heads = kHeads,
                          .build = Build,
                          .generates = true};

}  // namespace steelyard::models
