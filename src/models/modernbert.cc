// SPDX-License-Identifier: Apache-2.0
//
// modeling_modernbert.py, of transformers 5.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/encoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.modernbert.modeling_modernbert.";

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct Config {
  std::int64_t hidden, inner, layers, vocabulary, positions, padding, reach;
  Heads heads;
  double eps, attention_dropout, embedding_dropout, mlp_dropout, class_dropout;
  Bias norm, attention, mlp, head, words;
  bool tied, mean;
  std::vector<bool> near;  // layers that see what is within reach
};

bool PoolsMean(const Settings& c) {
  const std::string pooling = c.Text("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean") {
    c.Refuse("classifier_pooling", "\"" + pooling + "\" is not built", "Known are cls and mean.");
  }
  return pooling == "mean";
}

Config Read(const Net& net) {
  const Settings& c = net.config;
  CheckRotary(c);
  const auto bias = [&](std::string_view key, bool missing = false) {
    return c.Flag(key, missing) ? Bias::kOne : Bias::kNone;
  };
  if (net.options.labelled && c.Flag("sparse_prediction", false)) {
    c.Refuse("sparse_prediction", "a loss of the hidden words alone is of as many as data have");
  }
  const std::int64_t hidden = c.Size("hidden_size", 768);
  const std::int64_t layers = c.Layers("num_hidden_layers", 22);
  const std::int64_t heads = c.Size("num_attention_heads", 12);
  const std::int64_t width = c.Quotient("hidden_size", hidden, "num_attention_heads", heads);
  const std::int64_t every = c.Size("global_attn_every_n_layers", 3);
  return {.hidden = hidden,
          .inner = c.Size("intermediate_size", 1152),
          .layers = layers,
          .vocabulary = c.Size("vocab_size", 50368),
          .positions = c.Size("max_position_embeddings", 8192),
          .padding = c.Count("pad_token_id", 50283),
          .reach = c.Count("local_attention", 128) / 2,
          .heads = {.query = heads, .key = heads, .width = width},
          .eps = c.Real("norm_eps", 1e-5),
          .attention_dropout = c.Share("attention_dropout", 0.0),
          .embedding_dropout = c.Share("embedding_dropout", 0.0),
          .mlp_dropout = c.Share("mlp_dropout", 0.0),
          .class_dropout = c.Share("classifier_dropout", 0.0),
          .norm = bias("norm_bias"),
          .attention = bias("attention_bias"),
          .mlp = bias("mlp_bias"),
          .head = bias("classifier_bias"),
          .words = bias("decoder_bias", true),
          .tied = c.Flag("tie_word_embeddings", true),
          .mean = PoolsMean(c),
          .near = NearLayers(c, layers, [&](std::int64_t i) { return i % every != 0; })};
}

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const Config& c)
      : Layer(parent, "embeddings", ClassOf("ModernBertEmbeddings")),
        words(*this, "tok_embeddings", c.vocabulary, c.hidden, c.padding),
        norm(*this, "norm", c.hidden, c.eps, c.norm),
        dropout(*this, "drop", c.embedding_dropout) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    return dropout(norm(words(tokens)));
  }
  Embedding words;
  LayerNorm norm;
  Dropout dropout;
};

struct Mlp : Layer {
  Mlp(const Layer& parent, const Config& c)
      : Layer(parent, "mlp", ClassOf("ModernBertMLP")),
        in(*this, "Wi", c.hidden, 2 * c.inner, c.mlp),
        act(*this, "act", "hidden_activation", "gelu"),
        dropout(*this, "drop", c.mlp_dropout),
        out(*this, "Wo", c.inner, c.hidden, c.mlp) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const std::vector<Tensor> halves = b().CallMany("aten::chunk", 2, in(x), 2, -1);
    return out(dropout(b().Call("aten::mul.Tensor", act(halves[0]), halves[1])));
  }
  Linear in;
  Activation act;
  Dropout dropout;
  Linear out;
};

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const Config& config)
      : Layer(parent, "attn", ClassOf("ModernBertAttention")),
        c(config),
        qkv(*this, "Wqkv", c.hidden, 3 * c.hidden, c.attention),
        out(*this, "Wo", c.hidden, c.hidden, c.attention) {
    if (c.attention_dropout > 0.0) dropout.emplace(*this, "out_drop", c.attention_dropout);
  }
  // In float32, which each use makes anew.
  Tensor Turned(Tensor x, const Rotary& rotary) const {
    const auto wide = [&] { return Cast(net(), x, net().dtype(), DType::kFloat32); };
    const Tensor straight = b().Call("aten::mul.Tensor", wide(), rotary.cos);
    const Tensor half = HalfTurned(net(), wide(), c.heads.width);
    return b().Call("aten::add.Tensor", straight, b().Call("aten::mul.Tensor", half, rotary.sin));
  }
  Tensor operator()(Tensor x, Tensor mask, std::optional<std::int64_t> window,
                    const Rotary& rotary) const {
    const auto call = Enter();
    const Shape apart{net().batch, net().seq, 3, -1, c.heads.width};
    std::vector<Tensor> parts =
        b().CallMany("aten::unbind.int", 3, b().Call("aten::view", qkv(x), apart), -3);
    for (Tensor& part : parts) part = b().Call("aten::transpose.int", part, 1, 2);
    const Rotary turns{.cos = b().Call("aten::unsqueeze", rotary.cos, 1),
                       .sin = b().Call("aten::unsqueeze", rotary.sin, 1)};
    const Tensor query = Turned(parts[0], turns);
    const Tensor key = Turned(parts[1], turns);
    const auto narrow = [&](Tensor of) { return Cast(net(), of, DType::kFloat32, net().dtype()); };
    AttentionCall attend{.query = narrow(query),
                         .value = parts[2],
                         .mask = mask,
                         .heads = c.heads,
                         .scale = 1.0 / std::sqrt(static_cast<double>(c.heads.width)),
                         .dropout = c.attention_dropout,
                         .window = window};
    attend.key = narrow(key);
    const Tensor seen =
        b().Call("aten::reshape", Attend(net(), attend), Shape{net().batch, net().seq, -1});
    return dropout ? (*dropout)(out(seen)) : out(seen);
  }
  const Config& c;
  Linear qkv, out;
  std::optional<Dropout> dropout;
};

struct EncoderLayer : Layer {
  EncoderLayer(const Layer& parent, const std::string& name, std::int64_t number, const Config& c)
      : Layer(parent, name, ClassOf("ModernBertEncoderLayer")),
        before(number == 0 ? std::nullopt
                           : std::optional<LayerNorm>(std::in_place, *this, "attn_norm", c.hidden,
                                                      c.eps, c.norm)),
        attention(*this, c),
        between(*this, "mlp_norm", c.hidden, c.eps, c.norm),
        mlp(*this, c) {}
  Tensor operator()(Tensor x, Tensor mask, std::optional<std::int64_t> window,
                    const Rotary& rotary) const {
    const auto call = Enter();
    const Tensor seen = attention(before ? (*before)(x) : x, mask, window, rotary);
    x = b().Call("aten::add.Tensor", x, seen);
    return b().Call("aten::add.Tensor", x, mlp(between(x)));
  }
  std::optional<LayerNorm> before;
  SelfAttention attention;
  LayerNorm between;
  Mlp mlp;
};

// The kinds of layers that there are, by name.
std::vector<std::string_view> KindsOf(const Config& c) {
  std::vector<std::string_view> kinds;
  if (std::ranges::find(c.near, false) != c.near.end()) kinds.emplace_back("full_attention");
  if (std::ranges::find(c.near, true) != c.near.end()) kinds.emplace_back("sliding_attention");
  return kinds;
}

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const Config& config)
      : Layer(parent, name, ClassOf("ModernBertModel")),
        c(config),
        embeddings(*this, c),
        layers(Numbered<EncoderLayer>(*this, "layers", c.layers, c)),
        norm(*this, "final_norm", c.hidden, c.eps, c.norm),
        rotary(*this, "rotary_emb", ClassOf("ModernBertRotaryEmbedding"), c.heads.width,
               KindsOf(c)) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor positions = b().Call("aten::unsqueeze", b().Call("aten::arange", net().seq), 0);
    Tensor x = embeddings(tokens);
    const Tensor full = FullMask(net(), net().seq);
    const Tensor near = NearMask(net(), c.reach);
    // Of flash attention: so many to each side, and the token itself.
    const std::optional<std::int64_t> window = c.reach + 1;
    std::vector<Rotary> turns;
    turns.reserve(rotary.frequencies.size());
    for (std::size_t kind = 0; kind < rotary.frequencies.size(); ++kind) {
      turns.push_back(rotary(positions, kind));
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Rotary& turn = c.near[i] ? turns.back() : turns.front();
      x = c.near[i] ? layers[i](x, near, window, turn) : layers[i](x, full, std::nullopt, turn);
    }
    return norm(x);
  }
  const Config& c;
  Embeddings embeddings;
  std::vector<EncoderLayer> layers;
  LayerNorm norm;
  RotaryEmbedding rotary;
};

struct PredictionHead : Layer {
  PredictionHead(const Layer& root, const Config& c)
      : Layer(root, "head", ClassOf("ModernBertPredictionHead")),
        dense(*this, "dense", c.hidden, c.hidden, c.head),
        act(*this, "act", "classifier_activation", "gelu"),
        norm(*this, "norm", c.hidden, c.eps, c.norm) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return norm(act(dense(x)));
  }
  Linear dense;
  Activation act;
  LayerNorm norm;
};

Linear WordsOf(const Layer& root, const Config& c, Tensor words) {
  constexpr std::string_view kName = "decoder";
  if (c.words == Bias::kOne) {
    const Linear::Ties ties{.weight = c.tied ? words : Tensor()};
    return {root, kName, c.hidden, c.vocabulary, ties};
  }
  if (c.tied) return {root, kName, words};
  return {root, kName, c.hidden, c.vocabulary, Bias::kNone};
}

void BuildWords(Net& net, const Config& c) {
  const Layer root(net);
  const Model model(root, "model", c);
  const PredictionHead head(root, c);
  const Linear words = WordsOf(root, c, model.embeddings.words.weight);
  const Tensor tokens = TokenInput(net, c.positions);
  const Tensor labels = TokenLabels(net);
  ReturnTokens(net, words(head(model(tokens))), labels, c.vocabulary);
}

// Of each text: its first token, or the mean of those that a mask of ones has.
Tensor PooledOf(const Net& net, const Config& c, Tensor hidden) {
  if (!c.mean) return FirstToken(net, hidden);
  Builder& b = net.b;
  const Shape line{1};
  const Tensor ones =
      b.Call("aten::ones", Shape{net.batch, net.seq}, Builder::Named("dtype", DType::kBool));
  const Tensor each = b.Call("aten::mul.Tensor", hidden, b.Call("aten::unsqueeze", ones, -1));
  const Tensor sum = b.Call("aten::sum.dim_IntList", each, line);
  return b.Call("aten::div.Tensor", sum, b.Call("aten::sum.dim_IntList", ones, line, true));
}

// Classes of texts or of tokens, or where an answer starts and ends.
void BuildClasses(Net& net, const Config& c, TextTask task) {
  const Layer root(net);
  const std::int64_t classes = LabelCount(net.config);
  if (task == TextTask::kSpan && classes != 2) {
    net.config.Refuse("id2label", "spans have two labels: start and end");
  }
  const Model model(root, "model", c);
  const PredictionHead head(root, c);
  const Dropout dropout(root, "drop", c.class_dropout);
  const Linear classifier(root, "classifier", c.hidden, classes);
  const Tensor tokens = TokenInput(net, c.positions);
  const TextLabels labels = LabelInputs(net, task, classes);
  const bool whole = task == TextTask::kSequenceClass;
  const Tensor hidden = model(tokens);
  const Tensor logits = classifier(dropout(head(whole ? PooledOf(net, c, hidden) : hidden)));
  if (whole) return ReturnSequenceClass(net, logits, labels.first, classes);
  if (task == TextTask::kSpan) return ReturnSpan(net, logits, labels.first, labels.second);
  ReturnTokenClasses(net, logits, labels.first, classes, false);
}

void Build(Net& net) {
  const Config c = Read(net);
  if (c.near.empty()) return net.config.Refuse("num_hidden_layers", "a model without layers");
  const TextTask task = TaskOf(net);
  if (task == TextTask::kMaskedToken) return BuildWords(net, c);
  if (task != TextTask::kNone) return BuildClasses(net, c, task);
  const Layer root(net);
  const Model model(root, "", c);
  net.b.Return(model(TokenInput(net, c.positions)));
}

constexpr std::array<std::string_view, 5> kHeads{"Model", "ForMaskedLM",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kModernBert{.type = "modernbert",
                               .prefix = "ModernBert",
                               .summary = "ModernBERT",
                               .heads = kHeads,
                               .build = Build,
                               .flash = true};

}  // namespace steelyard::models
