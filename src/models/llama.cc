// SPDX-License-Identifier: Apache-2.0
//
// modeling_llama.py, modeling_mistral.py, modeling_ministral.py and modeling_mixtral.py, of
// transformers 5.

#include "models/decoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

void BuildLlama(Net& net) {
  DecoderConfig config = ReadDecoder(net.config, "transformers.models.llama.modeling_llama.Llama",
                                     {.hidden = 4096,
                                      .inner = 11008,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 32000,
                                      .positions = 2048});
  config.qkv_bias = config.out_bias = BiasOf(net.config, "attention_bias", false);
  config.mlp_bias = BiasOf(net.config, "mlp_bias", false);
  config.span_base = "transformer";
  BuildDecoder(net, config);
}

void BuildMistral(Net& net) {
  DecoderConfig config =
      ReadDecoder(net.config, "transformers.models.mistral.modeling_mistral.Mistral",
                  {.hidden = 4096,
                   .inner = 14336,
                   .layers = 32,
                   .heads = 32,
                   .vocabulary = 32000,
                   .positions = 131072,
                   .keys = 8});
  LookThrough(config, net.config.CountOrNone("sliding_window", 4096));
  BuildDecoder(net, config);
}

// Both masks are made, whether or not there are layers of each kind.
void BuildMinistral(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config =
      ReadDecoder(c, "transformers.models.ministral.modeling_ministral.Ministral",
                  {.hidden = 4096,
                   .inner = 14336,
                   .layers = 32,
                   .heads = 32,
                   .vocabulary = 32000,
                   .positions = 131072,
                   .keys = KeysOf(c, 8)});
  config.window = c.CountOrNone("sliding_window", 4096);
  ReadLayerTypes(c, config, [&](std::int64_t) { return config.window.has_value(); });
  if (!config.window) {
    c.Refuse("sliding_window", "it is null, and the model makes a mask of it");
  }
  BuildDecoder(net, config);
}

void BuildMixtral(Net& net) {
  const Settings& c = net.config;
  DecoderConfig config = ReadDecoder(c, "transformers.models.mixtral.modeling_mixtral.Mixtral",
                                     {.hidden = 4096,
                                      .inner = 14336,
                                      .layers = 32,
                                      .heads = 32,
                                      .vocabulary = 32000,
                                      .positions = 131072,
                                      .keys = 8,
                                      .eps = 1e-5});
  LookThrough(config, c.CountOrNone("sliding_window"));
  config.sparse = Sparse::kPlain;
  config.experts = {.count = c.Count("num_local_experts", c.Count("num_experts", 8)),
                    .chosen = c.Size("num_experts_per_tok", 2),
                    .hidden = config.hidden,
                    .inner = config.inner,
                    .wide_weights = true,
                    .jitter = c.Real("router_jitter_noise", 0.0)};
  config.router_outputs = c.Flag("output_router_logits", false);
  config.router_loss = c.Real("router_aux_loss_coef", 0.001);
  BuildDecoder(net, config);
}

}  // namespace

const Architecture kLlama{.type = "llama",
                          .prefix = "Llama",
                          .summary = "Llama 1 to 3 and what is built like them",
                          .heads = kTextHeads,
                          .build = BuildLlama,
                          .generates = true,
                          .flash = true};
const Architecture kMistral{.type = "mistral",
                            .prefix = "Mistral",
                            .summary = "Mistral",
                            .heads = kTextHeads,
                            .build = BuildMistral,
                            .generates = true,
                            .flash = true};
const Architecture kMinistral{.type = "ministral",
                              .prefix = "Ministral",
                              .summary = "Ministral: Mistral with a window in some layers",
                              .heads = kTextHeads,
                              .build = BuildMinistral,
                              .generates = true,
                              .flash = true};
const Architecture kMixtral{.type = "mixtral",
                            .prefix = "Mixtral",
                            .summary = "Mixtral: Mistral with experts",
                            .heads = kTextHeads,
                            .build = BuildMixtral,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
