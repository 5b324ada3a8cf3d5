// SPDX-License-Identifier: Apache-2.0
//
// modeling_starcoder2.py, of transformers 5.
#include <array>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config =
      ReadDecoder(c, "transformers.models.starcoder2.modeling_starcoder2.Starcoder2",
                  {.hidden = 3072,
                   .inner = 12288,
                   .layers = 30,
                   .heads = 24,
                   .vocabulary = 49152,
                   .positions = 4096,
                   .keys = 2,
                   .tied = true,
                   .activation = "gelu_pytorch_tanh"});
  config.qkv_bias = config.out_bias = config.mlp_bias = BiasOf(c, "use_bias", true);
  config.norm = NormForm::kMean;
  config.eps = c.Real("norm_epsilon", 1e-5);
  config.plain_mlp = {.in = "c_fc", .out = "c_proj", .act = "act"};
  config.inner_dropout = true;
  config.residual_dropout = c.Share("residual_dropout", 0.0);
  config.embedding_dropout = c.Share("embedding_dropout", 0.0);
  LookThrough(config, c.CountOrNone("sliding_window"));
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kStarcoder2{.type = "starcoder2",
                               .prefix = "Starcoder2",
                               .summary = "StarCoder 2",
                               .heads = kHeads,
                               .build = Build,
                               .generates = true,
                               .flash = true};

}  // namespace steelyard::models
