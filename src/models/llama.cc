// SPDX-License-Identifier: Apache-2.0
//
// modeling_llama.py, of transformers 5.
#include <array>
#include <cmath>
#include <string>

#include "models/registry.h"
#include "models/text.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.llama.modeling_llama.";

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct LlamaConfig {
  std::int64_t hidden, inner, layers, vocabulary, positions;
  Heads heads;
  double eps, dropout;
  Bias attention_bias, mlp_bias;
  bool tied;
};

LlamaConfig Read(const Settings& c) {
  const std::int64_t hidden = c.Count("hidden_size", 4096);
  const std::int64_t heads = std::max<std::int64_t>(c.Count("num_attention_heads", 32), 1);
  const auto bias = [&](std::string_view key) {
    return c.Flag(key, false) ? Bias::kOne : Bias::kNone;
  };
  return {.hidden = hidden,
          .inner = c.Count("intermediate_size", 11008),
          .layers = c.Count("num_hidden_layers", 32),
          .vocabulary = c.Count("vocab_size", 32000),
          .positions = c.Count("max_position_embeddings", 2048),
          .heads = {.query = heads,
                    .key = c.Count("num_key_value_heads", heads),
                    .width = c.Count("head_dim", hidden / heads)},
          .eps = c.Real("rms_norm_eps", 1e-6),
          .dropout = c.Real("attention_dropout", 0.0),
          .attention_bias = bias("attention_bias"),
          .mlp_bias = bias("mlp_bias"),
          .tied = c.Flag("tie_word_embeddings", false)};
}

struct Mlp : Layer {
  Mlp(const Layer& parent, const LlamaConfig& c)
      : Layer(parent, "mlp", ClassOf("LlamaMLP")),
        gate(*this, "gate_proj", c.hidden, c.inner, c.mlp_bias),
        up(*this, "up_proj", c.hidden, c.inner, c.mlp_bias),
        down(*this, "down_proj", c.inner, c.hidden, c.mlp_bias),
        act(*this, "act_fn", "hidden_act", "silu") {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Tensor gated = act(gate(x));
    return down(b().Call("aten::mul.Tensor", gated, up(x)));
  }
  Linear gate, up, down;
  Activation act;
};

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const LlamaConfig& config)
      : Layer(parent, "self_attn", ClassOf("LlamaAttention")),
        c(config),
        q(*this, "q_proj", c.hidden, c.heads.query * c.heads.width, c.attention_bias),
        k(*this, "k_proj", c.hidden, c.heads.key * c.heads.width, c.attention_bias),
        v(*this, "v_proj", c.hidden, c.heads.key * c.heads.width, c.attention_bias),
        o(*this, "o_proj", c.heads.query * c.heads.width, c.hidden, c.attention_bias) {}
  Tensor operator()(Tensor x, Tensor mask, const Rotary& rotary) const {
    const auto call = Enter();
    const std::int64_t width = c.heads.width;
    Tensor query = SplitHeads(net(), q(x), width, net().seq);
    Tensor key = SplitHeads(net(), k(x), width, net().seq);
    const Tensor value = SplitHeads(net(), v(x), width, net().seq);
    const Tensor cos = b().Call("aten::unsqueeze", rotary.cos, 1);
    const Tensor sin = b().Call("aten::unsqueeze", rotary.sin, 1);
    query = Rotate(net(), query, width, cos, sin);
    key = Rotate(net(), key, width, cos, sin);
    const Tensor seen = Attend(net(), {.query = query,
                                       .key = key,
                                       .value = value,
                                       .mask = mask,
                                       .heads = c.heads,
                                       .scale = 1.0 / std::sqrt(static_cast<double>(width)),
                                       .dropout = c.dropout});
    return o(b().Call("aten::reshape", seen, Shape{net().batch, net().seq, -1}));
  }
  const LlamaConfig& c;
  Linear q, k, v, o;
};

struct DecoderLayer : Layer {
  DecoderLayer(const Layer& parent, const std::string& name, const LlamaConfig& c)
      : Layer(parent, name, ClassOf("LlamaDecoderLayer")),
        attention(*this, c),
        mlp(*this, c),
        before(*this, "input_layernorm", ClassOf("LlamaRMSNorm"), c.hidden, c.eps),
        between(*this, "post_attention_layernorm", ClassOf("LlamaRMSNorm"), c.hidden, c.eps) {}
  Tensor operator()(Tensor x, Tensor mask, const Rotary& rotary) const {
    const auto call = Enter();
    x = b().Call("aten::add.Tensor", x, attention(before(x), mask, rotary));
    return b().Call("aten::add.Tensor", x, mlp(between(x)));
  }
  SelfAttention attention;
  Mlp mlp;
  RmsNorm before, between;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const LlamaConfig& c)
      : Layer(parent, name, ClassOf("LlamaModel")),
        embed(*this, "embed_tokens", c.vocabulary, c.hidden),
        layers(Repeated<DecoderLayer>(*this, "layers", c.layers, c)),
        norm(*this, "norm", ClassOf("LlamaRMSNorm"), c.hidden, c.eps),
        rotary(*this, "rotary_emb", ClassOf("LlamaRotaryEmbedding"), c.heads.width) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    Tensor x = embed(tokens);
    const Tensor positions = Positions(net());
    const Tensor mask = CausalMask(net(), positions);
    const Rotary turns = rotary(positions);
    for (const DecoderLayer& layer : layers) x = layer(x, mask, turns);
    return norm(x);
  }
  Embedding embed;
  std::vector<DecoderLayer> layers;
  RmsNorm norm;
  RotaryEmbedding rotary;
};

void Build(Net& net) {
  const LlamaConfig c = Read(net.config);
  const Layer root(net);
  const Model model(root, "model", c);
  const Linear head = c.tied ? Linear(root, "lm_head", model.embed.weight)
                             : Linear(root, "lm_head", c.hidden, c.vocabulary, Bias::kNone);
  const Tensor tokens = TokenInput(net, c.positions);
  const Tensor labels = TokenLabels(net);
  ReturnNextToken(net, head(model(tokens)), labels, c.vocabulary);
}

constexpr std::array<std::string_view, 1> kHeads{"ForCausalLM"};

}  // namespace

const Architecture kLlama{.type = "llama",
                          .prefix = "Llama",
                          .summary = "Llama 1 to 3 and what is built like them",
                          .heads = kHeads,
                          .build = Build};

}  // namespace steelyard::models
