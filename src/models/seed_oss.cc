// SPDX-License-Identifier: Apache-2.0
//
// modeling_seed_oss.py, of transformers 5.
#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.seed_oss.modeling_seed_oss.SeedOss",
                                     {.hidden = 4096,
                                      .inner = 27648,
                                      .layers = 64,
                                      .heads = 80,
                                      .vocabulary = 155136,
                                      .positions = 524288,
                                      .keys = 8,
                                      .width = 128});
  config.qkv_bias = BiasOf(c, "attention_bias", true);
  config.out_bias = BiasOf(c, "attention_out_bias", false);
  config.mlp_bias = BiasOf(c, "mlp_bias", false);
  config.attention_dropout = c.Share("attention_dropout", 0.1);
  config.inner_dropout = true;
  config.residual_dropout = c.Share("residual_dropout", 0.1);
  config.padding = c.CountOrNone("pad_token_id", 1);
  config.span_base = "transformer";
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kSeedOss{.type = "seed_oss",
                            .prefix = "SeedOss",
                            .summary = "ByteDance's Seed-OSS",
                            .heads = kTextHeads,
                            .build = Build,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
