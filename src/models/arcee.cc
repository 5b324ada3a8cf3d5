// SPDX-License-Identifier: Apache-2.0
//
// modeling_arcee.py, of transformers 5.
#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.arcee.modeling_arcee.Arcee",
                                     {.hidden = 2560,
                                      .inner = 18432,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 32000,
                                      .positions = 4096,
                                      .eps = 1e-5,
                                      .activation = "relu2"});
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.mlp_bias = BiasOf(c, "mlp_bias", false);
  config.plain_mlp = {.in = "up_proj", .out = "down_proj", .act = "act_fn"};
  config.span_base = "transformer";
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kArcee{.type = "arcee",
                          .prefix = "Arcee",
                          .summary = "Arcee's AFM: Llama with a squared ReLU and no gate",
                          .heads = kTextHeads,
                          .build = Build,
                          .generates = true,
                          .flash = true};

}  // namespace steelyard::models
