// SPDX-License-Identifier: Apache-2.0
//
// modeling_opt.py, of transformers 5.
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "models/heads.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.opt.modeling_opt.";
constexpr double kEps = 1e-5;        // of torch.nn.LayerNorm
constexpr std::int64_t kOffset = 2;  // rows of the table of positions that no position has

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct OptConfig {
  std::int64_t hidden, inner, layers, vocabulary, positions, words;
  Heads heads;
  double dropout, attention_dropout;
  Bias bias;
  bool norm_before, norm_last, tied;
  std::optional<std::int64_t> padding;
};

OptConfig Read(const Net& net) {
  const Settings& c = net.config;
  const std::int64_t hidden = c.Size("hidden_size", 768);
  const Heads heads = HeadsOf(
      c,
      {.hidden = hidden, .hidden_key = "hidden_size", .key = "num_attention_heads", .missing = 12});
  if (!c.Flag("layer_norm_elementwise_affine", true)) {
    c.Refuse("layer_norm_elementwise_affine", "norms without weights are not built");
  }
  if (net.options.training && c.Share("layerdrop", 0.0) > 0.0) {
    c.Refuse("layerdrop", "a step that leaves layers out by chance has no one size");
  }
  const bool before = c.Flag("do_layer_norm_before", true);
  return {.hidden = hidden,
          .inner = c.Size("ffn_dim", 3072),
          .layers = c.Layers("num_hidden_layers", 12),
          .vocabulary = c.Size("vocab_size", 50272),
          .positions = c.Size("max_position_embeddings", 2048),
          .words = c.Count("word_embed_proj_dim", hidden),
          .heads = heads,
          .dropout = c.Share("dropout", 0.1),
          .attention_dropout = c.Share("attention_dropout", 0.0),
          .bias = BiasOf(c, "enable_bias", true),
          .norm_before = before,
          .norm_last = before && !c.Flag("_remove_final_layer_norm", false),
          .tied = c.Flag("tie_word_embeddings", true),
          .padding = c.CountOrNone("pad_token_id", 1)};
}

CacheLayer KeptBy(const OptConfig& c) {
  return {.heads = c.heads.key, .key_width = c.heads.width, .value_width = c.heads.width};
}

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const OptConfig& config)
      : Layer(parent, "self_attn", ClassOf("OPTAttention")),
        c(config),
        k(*this, "k_proj", c.hidden, c.hidden, c.bias),
        v(*this, "v_proj", c.hidden, c.hidden, c.bias),
        q(*this, "q_proj", c.hidden, c.hidden, c.bias),
        out(*this, "out_proj", c.hidden, c.hidden, c.bias) {}
  Tensor Split(Tensor x) const {
    const Shape apart{net().batch, -1, c.heads.query, c.heads.width};
    return b().Call("aten::transpose.int", b().Call("aten::view", x, apart), 1, 2);
  }
  Attended operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const double scale = c.heads.scale();
    const Tensor query = Split(b().Call("aten::mul.Tensor", q(x), scale));
    const Tensor keys = k(x);
    const Tensor values = v(x);
    const Tensor key = Split(keys);
    const CacheLayer layer = KeptBy(c);
    const States states = Updated(net(), {.key = key, .value = Split(values)}, layer);
    const AttentionCall attention{.query = query,
                                  .key = states.key,
                                  .value = states.value,
                                  .mask = mask,
                                  .heads = c.heads,
                                  .dropout = c.attention_dropout,
                                  .backwards = true};
    Attended seen = AttendInCall(net(), attention, layer);
    seen.out = out(b().Call("aten::reshape", seen.out, Shape{net().batch, net().seq, -1}));
    Leave(net(), {query, states.key, states.value});
    return seen;
  }
  const OptConfig& c;
  Linear k, v, q, out;
};

struct DecoderLayer : Layer {
  DecoderLayer(const Layer& parent, const std::string& name, const OptConfig& config)
      : Layer(parent, name, ClassOf("OPTDecoderLayer")),
        c(config),
        attention(*this, c),
        act(*this, "activation_fn", "activation_function", "relu"),
        first(*this, "self_attn_layer_norm", c.hidden, kEps),
        in(*this, "fc1", c.hidden, c.inner, c.bias),
        out(*this, "fc2", c.inner, c.hidden, c.bias),
        last(*this, "final_layer_norm", c.hidden, kEps) {}
  Tensor Dropped(Tensor x) const {
    return b().Call("aten::dropout", x, c.dropout, net().options.training);
  }
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const Tensor normed = c.norm_before ? first(x) : Tensor();
    const Attended seen = attention(c.norm_before ? normed : x, mask);
    Leave(net(), {normed});
    x = b().Call("aten::add.Tensor", x, Dropped(seen.out));
    if (!c.norm_before) x = first(x);
    const Tensor rows = b().Call("aten::reshape", x, Shape{-1, c.hidden});
    const Tensor found = Dropped(out(act(in(c.norm_before ? last(rows) : rows))));
    const Tensor sum = b().Call("aten::add.Tensor", rows, found);
    x = b().Call("aten::view", sum, Shape{net().batch, net().seq, c.hidden});
    if (!c.norm_before) x = last(x);
    Leave(net(), {rows, seen.weights});
    return x;
  }
  const OptConfig& c;
  SelfAttention attention;
  Activation act;
  LayerNorm first;
  Linear in, out;
  LayerNorm last;
};

struct PositionTable : Layer {
  PositionTable(const Layer& parent, const OptConfig& c)
      : Layer(parent, "embed_positions", ClassOf("OPTLearnedPositionalEmbedding")),
        weight(Parameter("weight", {c.positions + kOffset, c.hidden})) {}
  Tensor operator()(Tensor positions) const {
    const auto call = Enter();
    const Tensor rows = b().Call("aten::add.Tensor", positions, kOffset);
    return b().Call("aten::embedding", weight, rows);
  }
  Tensor weight;
};

struct Decoder : Layer {
  Decoder(const Layer& parent, const OptConfig& config)
      : Layer(parent, "decoder", ClassOf("OPTDecoder")),
        c(config),
        embed(*this, "embed_tokens", c.vocabulary, c.words, c.padding),
        places(*this, c) {
    if (c.words != c.hidden) {
      project_out.emplace(*this, "project_out", c.hidden, c.words, Bias::kNone);
      project_in.emplace(*this, "project_in", c.words, c.hidden, Bias::kNone);
    }
    if (c.norm_last) norm.emplace(*this, "final_layer_norm", c.hidden, kEps);
    layers = Repeated<DecoderLayer>(*this, "layers", c.layers, c);
  }
  // Counted from a mask of ones, for texts that begin with padding.
  Tensor Places(Tensor ones) const {
    const Tensor count = b().Call("aten::cumsum", ones, 1);
    const Tensor shown = b().Call("aten::mul.Tensor", count, ones);
    Tensor from_zero = b().Call("aten::sub.Tensor", shown, 1);
    from_zero = b().Call("aten::to.dtype", from_zero, DType::kInt64);
    Leave(net(), {count});
    if (SeenBefore(net()) == 0) return from_zero;
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    return b().Call("aten::slice.Tensor", from_zero, 1, SeenBefore(net()), kEnd);
  }
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    Tensor words = embed(b().Call("aten::view", tokens, Shape{-1, net().seq}));
    const CacheLayer kept = KeptBy(c);
    const Dim all = Generates(net()) ? Dim(KeysGiven(net(), kept)) : net().seq;
    const Tensor ones = b().Call("aten::ones", Shape{net().batch, all});
    const Tensor positions = Places(ones);
    const Tensor mask = Generates(net()) ? MaskOfStep(net(), kept) : CausalMask(net());
    const Tensor place = places(positions);
    if (project_in) words = (*project_in)(words);
    Tensor x = b().Call("aten::add.Tensor", words, place);
    for (const DecoderLayer& layer : layers) {
      const Tensor next = layer(x, mask);
      Leave(net(), {x});
      x = next;
    }
    if (norm) x = (*norm)(x);
    if (project_out) x = (*project_out)(x);
    Leave(net(), {words, positions, ones, mask, place});
    return x;
  }
  const OptConfig& c;
  Embedding embed;
  PositionTable places;
  std::optional<Linear> project_out, project_in;
  std::optional<LayerNorm> norm;
  std::vector<DecoderLayer> layers;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const OptConfig& c)
      : Layer(parent, name, ClassOf("OPTModel")), decoder(*this, c), embed(decoder.embed) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    return decoder(tokens);
  }
  Decoder decoder;
  Embedding embed;
};

void Build(Net& net) {
  const OptConfig c = Read(net);
  BuildText<Model>(
      net, c,
      {.hidden = c.words, .vocabulary = c.vocabulary, .positions = c.positions, .tied = c.tied});
}

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kOpt{.type = "opt",
                        .prefix = "OPT",
                        .summary = "OPT",
                        .heads = kHeads,
                        .build = Build,
                        .generates = true,
                        .flash = true};

}  // namespace steelyard::models
