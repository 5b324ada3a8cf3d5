// SPDX-License-Identifier: Apache-2.0
//
// modeling_bloom.py, of transformers 5.
#include <algorithm>
#include <bit>
#include <string>

#include "models/heads.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.bloom.modeling_bloom.";
constexpr std::int64_t kMostPositions = std::int64_t{1} << 31;  // it has no table of them

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct BloomConfig {
  std::int64_t hidden, layers, vocabulary;
  Heads heads;
  double eps, hidden_dropout, attention_dropout;
  bool residual_behind, tied;
};

BloomConfig Read(const Settings& c) {
  const std::int64_t hidden = c.Size("hidden_size", c.Count("n_embed", 64));
  const Heads heads = HeadsOf(c, {.hidden = hidden,
                                  .hidden_key = "hidden_size",
                                  .key = "n_head",
                                  .missing = c.Size("num_attention_heads", 8)});
  if (c.Flag("slow_but_exact", false) && c.Count("pretraining_tp", 1) > 1) {
    c.Refuse("slow_but_exact", "products in slices are not built");
  }
  return {.hidden = hidden,
          .layers = c.Layers("n_layer", c.Layers("num_hidden_layers", 2)),
          .vocabulary = c.Size("vocab_size", 250880),
          .heads = heads,
          .eps = c.Real("layer_norm_epsilon", 1e-5),
          .hidden_dropout = c.Share("hidden_dropout", 0.0),
          .attention_dropout = c.Share("attention_dropout", 0.0),
          .residual_behind = c.Flag("apply_residual_connection_post_layernorm", false),
          .tied = c.Flag("tie_word_embeddings", true)};
}

Tensor DropoutAdd(const Net& net, Tensor x, Tensor residual, double p) {
  x = net.b.Call("aten::dropout", x, p, net.options.training);
  return net.b.Call("aten::add.Tensor", residual, x);
}

// What is added to scores by the distance of tokens: [batch * heads, 1, seq].
Tensor Alibi(const Net& net, std::int64_t heads) {
  Builder& b = net.b;
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const auto base = [&] {
    return b.Call("aten::full", Shape{}, 0.5, Builder::Named("dtype", DType::kFloat32));
  };
  const Builder::Arg narrow = Builder::Named("dtype", DType::kInt32);
  const Tensor first = base();
  Tensor slopes =
      b.Call("aten::pow.Tensor_Tensor", first, b.Call("aten::arange.start", 1, whole + 1, narrow));
  if (whole != heads) {
    const std::int64_t more = std::min(whole, heads - whole);
    const Tensor second = base();
    const Tensor rest = b.Call("aten::pow.Tensor_Tensor", second,
                               b.Call("aten::arange.start_step", 1, 1 + 2 * more, 2, narrow));
    slopes = b.Call("aten::cat", std::vector<Tensor>{slopes, rest});
  }
  slopes = b.Call("aten::unsqueeze", b.Call("aten::unsqueeze", slopes, 1), 2);
  const Tensor distances = b.Call("aten::mul.Tensor", slopes, b.Call("aten::arange", net.seq));
  const Tensor each = b.Call("aten::repeat", distances, Shape{net.batch, 1, 1});
  return Cast(net, each, DType::kFloat32, net.dtype());
}

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const BloomConfig& config)
      : Layer(parent, "self_attention", ClassOf("BloomAttention")),
        c(config),
        qkv(*this, "query_key_value", c.hidden, 3 * c.hidden),
        out(*this, "dense", c.hidden, c.hidden),
        dropout(*this, "attention_dropout", c.attention_dropout) {}
  Tensor operator()(Tensor x, Tensor residual, Tensor alibi, Tensor mask) const {
    const auto call = Enter();
    const Dim batch = net().batch;
    const Dim seq = net().seq;
    const Dim all = b().Product(batch, c.heads.query);
    const Tensor fused =
        b().Call("aten::view", qkv(x), Shape{batch, seq, c.heads.query, 3, c.heads.width});
    std::vector<Tensor> parts;
    for (int i = 0; i < 3; ++i) {
      const Tensor part = b().Call("aten::select.int", fused, 3, i);
      parts.push_back(b().Call("aten::transpose.int", part, 1, 2));
    }
    const auto rows = [&](Tensor part) {
      return b().Call("aten::reshape", part, Shape{all, -1, c.heads.width});
    };
    const Tensor query = rows(parts[0]);
    const Tensor key = b().Call("aten::transpose.int", rows(parts[1]), -1, -2);
    const Tensor value = rows(parts[2]);
    const double scale = c.heads.scale();
    Tensor scores = b().Call("aten::baddbmm", alibi, query, key, Builder::Named("beta", 1.0),
                             Builder::Named("alpha", scale));
    scores = b().Call("aten::view", scores, Shape{batch, c.heads.query, seq, -1});
    scores = b().Call("aten::add.Tensor", scores, mask);
    scores = b().Call("aten::softmax.int", scores, -1, DType::kFloat32);
    scores = dropout(Cast(net(), scores, DType::kFloat32, net().dtype()));
    scores = b().Call("aten::view", scores, Shape{all, seq, -1});
    Tensor seen = b().Call("aten::bmm", scores, value);
    seen = b().Call("aten::view", seen, Shape{batch, c.heads.query, seq, c.heads.width});
    seen = b().Call("aten::permute", seen, Shape{0, 2, 1, 3});
    seen = b().Call("aten::reshape", seen, Shape{batch, seq, c.hidden});
    return DropoutAdd(net(), out(seen), residual, c.hidden_dropout);
  }
  const BloomConfig& c;
  Linear qkv, out;
  Dropout dropout;
};

// An autograd function of its own in eager mode; tracing takes it apart.
struct Gelu : Layer {
  explicit Gelu(const Layer& parent) : Layer(parent, "gelu_impl", ClassOf("BloomGelu")) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const auto times = [&](Tensor left, const Builder::Arg& right) {
      return b().Call("aten::mul.Tensor", left, right);
    };
    const Tensor half = times(x, 0.5);
    const Tensor scaled = times(x, 0.79788456);
    Tensor inner = times(times(x, 0.044715), x);
    inner = times(scaled, b().Call("aten::add.Tensor", inner, 1));
    inner = b().Call("aten::tanh", inner);
    return times(half, b().Call("aten::add.Tensor", inner, 1.0));
  }
};

struct Mlp : Layer {
  Mlp(const Layer& parent, const BloomConfig& c)
      : Layer(parent, "mlp", ClassOf("BloomMLP")),
        in(*this, "dense_h_to_4h", c.hidden, 4 * c.hidden),
        gelu(*this),
        out(*this, "dense_4h_to_h", 4 * c.hidden, c.hidden),
        dropout(c.hidden_dropout) {}
  Tensor operator()(Tensor x, Tensor residual) const {
    const auto call = Enter();
    return DropoutAdd(net(), out(gelu(in(x))), residual, dropout);
  }
  Linear in;
  Gelu gelu;
  Linear out;
  double dropout;
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, const BloomConfig& c)
      : Layer(parent, name, ClassOf("BloomBlock")),
        residual_behind(c.residual_behind),
        before(*this, "input_layernorm", c.hidden, c.eps),
        attention(*this, c),
        between(*this, "post_attention_layernorm", c.hidden, c.eps),
        mlp(*this, c) {}
  Tensor operator()(Tensor x, Tensor alibi, Tensor mask) const {
    const auto call = Enter();
    const Tensor normed = before(x);
    x = attention(normed, residual_behind ? normed : x, alibi, mask);
    const Tensor again = between(x);
    return mlp(again, residual_behind ? again : x);
  }
  bool residual_behind;
  LayerNorm before;
  SelfAttention attention;
  LayerNorm between;
  Mlp mlp;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const BloomConfig& config)
      : Layer(parent, name, ClassOf("BloomModel")),
        c(config),
        embed(*this, "word_embeddings", c.vocabulary, c.hidden),
        first(*this, "word_embeddings_layernorm", c.hidden, c.eps),
        blocks(Repeated<Block>(*this, "h", c.layers, c)),
        last(*this, "ln_f", c.hidden, c.eps) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    Tensor x = first(embed(tokens));
    const Tensor alibi = Alibi(net(), c.heads.query);
    const Tensor mask = CausalMask(net());
    for (const Block& block : blocks) x = block(x, alibi, mask);
    return last(x);
  }
  const BloomConfig& c;
  Embedding embed;
  LayerNorm first;
  std::vector<Block> blocks;
  LayerNorm last;
};

void Build(Net& net) {
  const BloomConfig c = Read(net.config);
  BuildText<Model>(net, c,
                   {.hidden = c.hidden,
                    .vocabulary = c.vocabulary,
                    .positions = kMostPositions,
                    .tied = c.tied,
                    .dropout = net.config.Share("classifier_dropout", c.hidden_dropout),
                    .base = "transformer",
                    .span_base = "transformer",
                    .token_class = "classifier",
                    .wide_tokens = false});
}

}  // namespace

const Architecture kBloom{.type = "bloom",
                          .prefix = "Bloom",
                          .summary = "BLOOM",
                          .heads = kTextHeads,
                          .build = Build,
                          .only_attention = Attention::kEager};

}  // namespace steelyard::models
