// SPDX-License-Identifier: Apache-2.0
//
// modeling_hunyuan_v1_dense.py, of transformers 5.
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
  DecoderConfig config = ReadDecoder(
      c, "transformers.models.hunyuan_v1_dense.modeling_hunyuan_v1_dense.HunYuanDenseV1",
      {.hidden = 4096,
       .inner = 11008,
       .layers = 32,
       .heads = 32,
       .vocabulary = 290943,
       .positions = 2048,
       .eps = 1e-5});
  config.padding = c.CountOrNone("pad_token_id", 0);
  config.qkv_bias = config.out_bias = BiasOf(c, "attention_bias", false);
  config.head_norm = HeadNorm::kTurned;
  config.head_norm_names = {"query_layernorm", "key_layernorm"};
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kHunYuanDenseV1{.type = "hunyuan_v1_dense",
                                   .prefix = "HunYuanDenseV1",
                                   .summary = "Hunyuan without experts",
                                   .heads = kHeads,
                                   .build = Build,
                                   .generates = true,
                                   .flash = true};

}  // namespace steelyard::models
