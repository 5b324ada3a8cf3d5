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

CacheLayer KeptBy(const BloomConfig& c) {
  return {.heads = c.heads.key, .key_width = c.heads.width, .value_width = c.heads.width};
}

// In a call of a generation those that are held and the new ones.
Dim KeysOf(const Net& net, const BloomConfig& c) {
  return Generates(net) ? Dim(KeysGiven(net, KeptBy(c))) : net.seq;
}

Tensor DropoutAdd(const Net& net, Tensor x, Tensor residual, double p) {
  x = net.b.Call("aten::dropout", x, p, net.options.training);
  return net.b.Call("aten::add.Tensor", residual, x);
}

// How much a head is to see of what is far away: [heads].
Tensor Slopes(const Net& net, std::int64_t heads) {
  Builder& b = net.b;
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const auto base = [&] {
    return b.Call("aten::full", Shape{}, 0.5, Builder::Named("dtype", DType::kFloat32));
  };
  const Builder::Arg narrow = Builder::Named("dtype", DType::kInt32);
  const Tensor first = base();
  const Tensor powers = b.Call("aten::arange.start", 1, whole + 1, narrow);
  Tensor slopes = b.Call("aten::pow.Tensor_Tensor", first, powers);
  Tensor second;
  Tensor more_powers;
  if (whole != heads) {
    const std::int64_t more = std::min(whole, heads - whole);
    second = base();
    more_powers = b.Call("aten::arange.start_step", 1, 1 + 2 * more, 2, narrow);
    const Tensor rest = b.Call("aten::pow.Tensor_Tensor", second, more_powers);
    const Tensor all = b.Call("aten::cat", std::vector<Tensor>{slopes, rest});
    Leave(net, {rest, slopes});
    slopes = all;
  }
  Leave(net, {first, powers, second, more_powers});
  return slopes;
}

// What is added to scores by the distance of tokens: [batch * heads, 1, keys].
Tensor Alibi(const Net& net, Tensor slopes, const BloomConfig& c) {
  Builder& b = net.b;
  slopes = b.Call("aten::unsqueeze", b.Call("aten::unsqueeze", slopes, 1), 2);
  const Tensor line = b.Call("aten::arange", KeysOf(net, c));
  const Tensor distances = b.Call("aten::mul.Tensor", slopes, line);
  Tensor each = b.Call("aten::repeat", distances, Shape{net.batch, 1, 1});
  each = Cast(net, each, DType::kFloat32, net.dtype());
  Leave(net, {distances});
  return each;
}

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const BloomConfig& config)
      : Layer(parent, "self_attention", ClassOf("BloomAttention")),
        c(config),
        qkv(*this, "query_key_value", c.hidden, 3 * c.hidden),
        out(*this, "dense", c.hidden, c.hidden),
        dropout(*this, "attention_dropout", c.attention_dropout) {}
  Attended operator()(Tensor x, Tensor residual, Tensor alibi, Tensor mask) const {
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
    const States states = Updated(net(), {.key = parts[1], .value = parts[2]}, KeptBy(c));
    const auto rows = [&](Tensor part) {
      return b().Call("aten::reshape", part, Shape{all, -1, c.heads.width});
    };
    const Tensor query = rows(parts[0]);
    const Tensor key = b().Call("aten::transpose.int", rows(states.key), -1, -2);
    const Tensor value = rows(states.value);
    const double scale = c.heads.scale();
    const Tensor scores = b().Call("aten::baddbmm", alibi, query, key, Builder::Named("beta", 1.0),
                                   Builder::Named("alpha", scale));
    Tensor masked = b().Call("aten::view", scores, Shape{batch, c.heads.query, seq, -1});
    masked = b().Call("aten::add.Tensor", masked, mask);
    Tensor weights = b().Call("aten::softmax.int", masked, -1, DType::kFloat32);
    weights = dropout(Cast(net(), weights, DType::kFloat32, net().dtype()));
    const Tensor of_rows = b().Call("aten::view", weights, Shape{all, seq, -1});
    Tensor seen = b().Call("aten::bmm", of_rows, value);
    seen = b().Call("aten::view", seen, Shape{batch, c.heads.query, seq, c.heads.width});
    seen = b().Call("aten::permute", seen, Shape{0, 2, 1, 3});
    seen = b().Call("aten::reshape", seen, Shape{batch, seq, c.hidden});
    const Tensor sum = DropoutAdd(net(), out(seen), residual, c.hidden_dropout);
    Leave(net(), {fused, query, key, value, scores, masked, seen});
    return {.out = sum, .weights = weights};
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
    const Tensor found = times(half, b().Call("aten::add.Tensor", inner, 1.0));
    Leave(net(), {x});
    return found;
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
    const Tensor active = gelu(in(x));
    const Tensor found = out(active);
    const Tensor sum = DropoutAdd(net(), found, residual, dropout);
    Leave(net(), {active, found});
    return sum;
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
  Attended operator()(Tensor x, Tensor alibi, Tensor mask) const {
    const auto call = Enter();
    const Tensor normed = before(x);
    Attended seen = attention(normed, residual_behind ? normed : x, alibi, mask);
    const Tensor middle = seen.out;
    const Tensor again = between(middle);
    Leave(net(), {normed});
    seen.out = mlp(again, residual_behind ? again : middle);
    Leave(net(), {again, middle});
    return seen;
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
    const Tensor words = embed(tokens);
    // A block returns its weights too, which stay until the next one has returned.
    Attended x{.out = first(words)};
    const Tensor slopes = Slopes(net(), c.heads.query);
    const Tensor alibi = Alibi(net(), slopes, c);
    const Tensor mask = Generates(net()) ? MaskOfStep(net(), KeptBy(c)) : CausalMask(net());
    for (const Block& block : blocks) {
      const Attended next = block(x.out, alibi, mask);
      Leave(net(), {x.weights, x.out});
      x = next;
    }
    const Tensor normed = last(x.out);
    Leave(net(), {words, slopes, alibi, mask, x.weights, x.out});
    return normed;
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
                          .generates = true,
                          .only_attention = Attention::kEager};

}  // namespace steelyard::models
