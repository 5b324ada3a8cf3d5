// SPDX-License-Identifier: Apache-2.0
//
// modeling_glm4_moe.py, of transformers 5.
#include <array>
#include <string_view>

#include "models/grouped_experts.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::array<std::string_view, 2> kHeads{"ForCausalLM", "Model"};

void Build(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.glm4_moe.modeling_glm4_moe.Glm4Moe",
                                     {.hidden = 4096,
                                      .inner = 10944,
                                      .layers = 46,
                                      .heads = 96,
                                      .vocabulary = 151552,
                                      .positions = 131072,
                                      .keys = 8,
                                      .eps = 1e-5});
  config.qkv_bias = BiasOf(c, "attention_bias", false);
  config.parting = Parting::kTurnedLast;
  if (c.Flag("use_qk_norm", false)) config.head_norm = HeadNorm::kBefore;
  config.rotated = RotatedWidth(c, config.heads.width, "partial_rotary_factor", 0.5);
  config.joined_last = true;
  config.groups.wide_correction = true;
  ReadGroups(c, config,
             {.experts = 128, .inner = 1408, .groups = 1, .chosen = 1, .dense = 1, .scale = 1.0});
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kGlm4Moe{.type = "glm4_moe",
                            .prefix = "Glm4Moe",
                            .summary = "GLM 4.5 and 4.6",
                            .heads = kHeads,
                            .build = Build,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
