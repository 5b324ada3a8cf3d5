// SPDX-License-Identifier: Apache-2.0
//
// modeling_gpt_neox.py, of transformers 5.
#include <string>

#include "models/heads.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.gpt_neox.modeling_gpt_neox.";

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct NeoXConfig {
  std::int64_t hidden, inner, layers, vocabulary, positions;
  Heads heads;
  std::int64_t rotated;
  double eps, attention_dropout, hidden_dropout;
  Bias attention_bias;
  bool parallel, tied;
};

NeoXConfig Read(const Settings& c) {
  CheckRotary(c);
  const std::int64_t hidden = c.Size("hidden_size", 6144);
  const Heads heads = HeadsOf(
      c,
      {.hidden = hidden, .hidden_key = "hidden_size", .key = "num_attention_heads", .missing = 64});
  return {.hidden = hidden,
          .inner = c.Size("intermediate_size", 24576),
          .layers = c.Layers("num_hidden_layers", 44),
          .vocabulary = c.Size("vocab_size", 50432),
          .positions = c.Size("max_position_embeddings", 2048),
          .heads = heads,
          .rotated = RotatedWidth(c, heads.width, "rotary_pct", 0.25),
          .eps = c.Real("layer_norm_eps", 1e-5),
          .attention_dropout = c.Share("attention_dropout", 0.0),
          .hidden_dropout = c.Share("hidden_dropout", 0.0),
          .attention_bias = BiasOf(c, "attention_bias", true),
          .parallel = c.Flag("use_parallel_residual", true),
          .tied = c.Flag("tie_word_embeddings", false)};
}

CacheLayer KeptBy(const NeoXConfig& c) {
  return {.heads = c.heads.key, .key_width = c.heads.width, .value_width = c.heads.width};
}

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const NeoXConfig& config)
      : Layer(parent, "attention", ClassOf("GPTNeoXAttention")),
        c(config),
        qkv(*this, "query_key_value", c.hidden, 3 * c.hidden, c.attention_bias),
        out(*this, "dense", c.hidden, c.hidden, c.attention_bias) {}
  Attended operator()(Tensor x, Tensor mask, const Rotary& rotary) const {
    const auto call = Enter();
    const Tensor all = SplitHeads(net(), qkv(x), 3 * c.heads.width, net().seq);
    const std::vector<Tensor> parts = b().CallMany("aten::chunk", 3, all, 3, -1);
    const Tensor cos = b().Call("aten::unsqueeze", rotary.cos, 1);
    const Tensor sin = b().Call("aten::unsqueeze", rotary.sin, 1);
    const std::vector<Tensor> turned =
        RotateParts(net(), {parts[0], parts[1]},
                    {.width = c.rotated, .of = c.heads.width, .joined_last = true}, cos, sin);
    const CacheLayer layer = KeptBy(c);
    const States states = Updated(net(), {.key = turned[1], .value = parts[2]}, layer);
    const AttentionCall attention{.query = turned[0],
                                  .key = states.key,
                                  .value = states.value,
                                  .mask = mask,
                                  .heads = c.heads,
                                  .scale = c.heads.scale(),
                                  .dropout = c.attention_dropout,
                                  .backwards = true};
    Attended seen = AttendInCall(net(), attention, layer);
    seen.out = out(b().Call("aten::reshape", seen.out, Shape{net().batch, net().seq, -1}));
    Leave(net(), {all, turned[0], states.key, states.value});
    return seen;
  }
  const NeoXConfig& c;
  Linear qkv, out;
};

struct Mlp : Layer {
  Mlp(const Layer& parent, const NeoXConfig& c)
      : Layer(parent, "mlp", ClassOf("GPTNeoXMLP")),
        in(*this, "dense_h_to_4h", c.hidden, c.inner),
        out(*this, "dense_4h_to_h", c.inner, c.hidden),
        act(*this, "act", "hidden_act", "gelu") {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Tensor wide = in(x);
    const Tensor active = act(wide);
    Leave(net(), {wide});
    return out(active);
  }
  Linear in, out;
  Activation act;
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, const NeoXConfig& c)
      : Layer(parent, name, ClassOf("GPTNeoXLayer")),
        parallel(c.parallel),
        before(*this, "input_layernorm", c.hidden, c.eps),
        between(*this, "post_attention_layernorm", c.hidden, c.eps),
        attention_dropout(*this, "post_attention_dropout", c.hidden_dropout),
        mlp_dropout(*this, "post_mlp_dropout", c.hidden_dropout),
        attention(*this, c),
        mlp(*this, c) {}
  Tensor operator()(Tensor x, Tensor mask, const Rotary& rotary) const {
    const auto call = Enter();
    const auto add = [&](Tensor one, Tensor other) {
      return b().Call("aten::add.Tensor", one, other);
    };
    const Tensor first = before(x);
    const Attended attended = attention(first, mask, rotary);
    Leave(net(), {first});
    Tensor seen = attention_dropout(attended.out);
    if (!parallel) seen = add(seen, x);
    const Tensor second = between(parallel ? x : seen);
    Tensor found = mlp(second);
    Leave(net(), {second});
    found = mlp_dropout(found);
    Tensor sum = add(found, seen);
    if (parallel) sum = add(sum, x);
    Leave(net(), {seen, attended.weights, found});
    return sum;
  }
  bool parallel;
  LayerNorm before, between;
  Dropout attention_dropout, mlp_dropout;
  SelfAttention attention;
  Mlp mlp;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const NeoXConfig& c)
      : Layer(parent, name, ClassOf("GPTNeoXModel")),
        kept(KeptBy(c)),
        embed(*this, "embed_in", c.vocabulary, c.hidden),
        dropout(*this, "emb_dropout", c.hidden_dropout),
        layers(Repeated<Block>(*this, "layers", c.layers, c)),
        norm(*this, "final_layer_norm", c.hidden, c.eps),
        rotary(*this, "rotary_emb", ClassOf("GPTNeoXRotaryEmbedding"), c.rotated) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor words = embed(tokens);
    const Tensor positions = Positions(net());
    const Tensor mask = Generates(net()) ? MaskOfStep(net(), kept) : CausalMask(net(), positions);
    Tensor x = dropout(words);
    const Rotary turns = rotary(positions);
    for (const Block& layer : layers) {
      const Tensor next = layer(x, mask, turns);
      Leave(net(), {x});
      x = next;
    }
    x = norm(x);
    Leave(net(), {positions, words, mask, turns.cos, turns.sin});
    return x;
  }
  CacheLayer kept;
  Embedding embed;
  Dropout dropout;
  std::vector<Block> layers;
  LayerNorm norm;
  RotaryEmbedding rotary;
};

void Build(Net& net) {
  const NeoXConfig c = Read(net.config);
  BuildText<Model>(net, c,
                   {.hidden = c.hidden,
                    .vocabulary = c.vocabulary,
                    .positions = c.positions,
                    .tied = c.tied,
                    .dropout = net.config.Share("classifier_dropout", 0.1),
                    .base = "gpt_neox",
                    .span_base = "gpt_neox",
                    .token_class = "classifier"});
}

}  // namespace

const Architecture kGptNeoX{.type = "gpt_neox",
                            .prefix = "GPTNeoX",
                            .summary = "GPT-NeoX and Pythia",
                            .heads = kTextHeads,
                            .build = Build,
                            .generates = true,
                            .flash = true};

}  // namespace steelyard::models
