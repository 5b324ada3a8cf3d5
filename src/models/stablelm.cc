// SPDX-License-Identifier: Apache-2.0
//
// modeling_stablelm.py, of transformers 5.
#include <array>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.stablelm.modeling_stablelm.StableLm",
                                     {.hidden = 2560,
                                      .inner = 6912,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 50304,
                                      .positions = 4096,
                                      .keys = 32});
  config.qkv_bias = BiasOf(c, "use_qkv_bias", false);
  config.parting = Parting::kProjectedFirst;
  config.norm = NormForm::kMean;
  config.eps = c.Real("layer_norm_eps", 1e-5);
  if (c.Flag("qk_layernorm", false)) {
    config.head_norm = HeadNorm::kEach;
    config.head_norm_names = {"q_layernorm", "k_layernorm"};
  }
  config.halves = Halves::kInTurnNamed;
  if (c.Flag("use_parallel_residual", false)) {
    config.halves = Halves::kBeside;
    config.norms = {{"input_layernorm", NormPlace::kBeforeAttention}};
  }
  config.mlp_dropout_name = "dropout";
  config.residual_dropout = c.Share("hidden_dropout", 0.0);
  config.rotated = RotatedWidth(c, config.heads.width, "partial_rotary_factor", 0.25);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kStableLm{.type = "stablelm",
                             .prefix = "StableLm",
                             .summary = "StableLM",
                             .heads = kHeads,
                             .build = Build,
                             .generates = true,
                             .flash = true};

}  // namespace steelyard::models
