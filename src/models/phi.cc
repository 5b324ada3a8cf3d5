// SPDX-License-Identifier: Apache-2.0
//
// modeling_phi.py, of transformers 5.
#include <array>

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.phi.modeling_phi.Phi",
                                     {.hidden = 2048,
                                      .inner = 8192,
                                      .layers = 24,
                                      .heads = 32,
                                      .vocabulary = 51200,
                                      .positions = 2048,
                                      .activation = "gelu_new"});
  config.qkv_bias = config.out_bias = config.mlp_bias = config.logit_bias = Bias::kOne;
  config.out_name = "dense";
  config.norm = NormForm::kMean;
  config.last_norm = "final_layernorm";
  config.eps = c.Real("layer_norm_eps", 1e-5);
  config.norms = {{"input_layernorm", NormPlace::kBeforeAttention}};
  config.halves = Halves::kBesideLast;
  if (c.Flag("qk_layernorm", false)) {
    config.head_norm = HeadNorm::kBehind;
    config.head_norm_names = {"q_layernorm", "k_layernorm"};
  }
  config.plain_mlp = {.in = "fc1", .out = "fc2", .act = "activation_fn"};
  config.attention_dropout_name = config.mlp_dropout_name = "resid_dropout";
  config.residual_dropout = c.Share("resid_pdrop", 0.0);
  config.embedding_dropout_name = "embed_dropout";
  config.embedding_dropout = c.Share("embd_pdrop", 0.0);
  config.rotated = RotatedWidth(c, config.heads.width, "partial_rotary_factor", 0.5);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kPhi{.type = "phi",
                        .prefix = "Phi",
                        .summary = "Phi 1 and 2",
                        .heads = kHeads,
                        .build = Build,
                        .generates = true,
                        .flash = true};

}  // namespace steelyard::models
