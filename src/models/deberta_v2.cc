// SPDX-License-Identifier: Apache-2.0
//
// modeling_deberta_v2.py, of transformers 5, by which version 3 is built too.
#include "models/deberta_v2.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::int64_t kMostPositions = std::int64_t{1} << 31;  // without a table of them

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const DebertaConfig& config)
      : Layer(parent, "embeddings", DebertaClass("DebertaV2Embeddings")),
        c(config),
        words(*this, "word_embeddings", c.vocabulary, c.embedding, c.padding) {
    if (c.positions_added) {
      places.emplace(*this, "position_embeddings", c.positions, c.embedding);
    }
    if (c.types > 0) types.emplace(*this, "token_type_embeddings", c.types, c.embedding);
    if (c.embedding != c.hidden) {
      widen.emplace(*this, "embed_proj", c.embedding, c.hidden, Bias::kNone);
    }
    norm.emplace(*this, "LayerNorm", c.hidden, c.eps);
    dropout.emplace(*this, "dropout", c.dropout);
    position_ids = Buffer("position_ids", DType::kInt64, {1, c.positions}, false);
  }
  Tensor operator()(Tensor tokens, Tensor kinds, Tensor mask) const {
    const auto call = Enter();
    const Tensor at = b().Call("aten::slice.Tensor", position_ids, 1, 0, net().seq);
    Tensor x = words(tokens);
    if (places) {
      x = b().Call("aten::add.Tensor", x, (*places)(at));
    } else {
      b().Call("aten::zeros_like", x);  // which nothing is added to
    }
    if (types) x = b().Call("aten::add.Tensor", x, (*types)(kinds));
    if (widen) x = (*widen)(x);
    x = (*norm)(x);
    return (*dropout)(b().Call("aten::mul.Tensor", x, AsFactor(net(), mask)));
  }
  const DebertaConfig& c;
  Embedding words;
  std::optional<Embedding> places, types;
  std::optional<Linear> widen;
  std::optional<LayerNorm> norm;
  std::optional<Dropout> dropout;
  Tensor position_ids;
};

struct Encoder : Layer {
  Encoder(const Layer& parent, const DebertaConfig& config)
      : Layer(parent, "encoder", DebertaClass("DebertaV2Encoder")),
        c(config),
        layers(Numbered<DebertaLayer>(*this, "layer", c.layers, c)) {
    if (c.distances.relative) {
      table = Embedding(*this, "rel_embeddings", 2 * c.distances.span, c.hidden).weight;
      if (c.distances.buckets > 0) {
        near.emplace(*this, 0, DType::kInt64);
        far.emplace(*this, 1, DType::kFloat32);
      }
    }
    if (c.normed_distances) norm.emplace(*this, "LayerNorm", c.hidden, c.eps);
    if (c.kernel > 0) conv.emplace(*this, c);
  }
  // Near distances are kinds of their own; others go by their logarithm.
  Tensor Bucketed(Tensor steps) const {
    const std::int64_t mid = c.distances.buckets / 2;
    const Tensor sign = b().Call("aten::sign", steps);
    const Tensor below = b().Call("aten::lt.Scalar", steps, mid);
    const Tensor above = b().Call("aten::gt.Scalar", steps, -mid);
    const Tensor is_near = b().Call("aten::__and__.Tensor", below, above);
    const Tensor nearest = b().Call("aten::type_as", (*near)(), steps);
    const Tensor size = b().Call("aten::abs", steps);
    const Tensor apart = b().Call("aten::where.self", is_near, nearest, size);
    Tensor x = b().Call("aten::log", b().Call("aten::div.Tensor", apart, mid));
    x = b().Call("aten::div.Tensor", x, b().Call("aten::log", (*far)()));
    x = b().Call("aten::ceil", b().Call("aten::mul.Tensor", x, mid - 1));
    x = b().Call("aten::add.Tensor", x, mid);
    const Tensor is_small = b().Call("aten::le.Scalar", apart, mid);
    const Tensor small = b().Call("aten::type_as", steps, x);
    x = b().Call("aten::where.self", is_small, small, b().Call("aten::mul.Tensor", x, sign));
    return b().Call("aten::to.dtype", x, DType::kInt64);
  }
  // Of each token to each: [1, seq, seq].
  Tensor Distances() const {
    const auto line = [&] {
      return b().Call("aten::arange", net().seq, Builder::Named("dtype", DType::kInt64));
    };
    const Tensor first = line();
    const Tensor second = line();
    const Tensor down = b().Call("aten::unsqueeze", first, 1);
    const Tensor steps = b().Call("aten::sub.Tensor", down, b().Call("aten::unsqueeze", second, 0));
    return b().Call("aten::unsqueeze", near ? Bucketed(steps) : steps, 0);
  }
  Tensor operator()(Tensor embedded, Tensor ones) const {
    const auto call = Enter();
    const Tensor across = b().Call("aten::unsqueeze", b().Call("aten::unsqueeze", ones, 1), 2);
    const Tensor down = b().Call("aten::unsqueeze", b().Call("aten::squeeze.dim", across, -2), -1);
    const Tensor mask = b().Call("aten::mul.Tensor", across, down);
    const Tensor distances = c.distances.relative ? Distances() : Tensor();
    const Tensor rows = c.distances.relative && norm ? (*norm)(table) : table;
    Tensor x = embedded;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      x = layers[i](x, mask, distances, rows);
      if (i == 0 && conv) x = (*conv)(embedded, x, ones);
    }
    return x;
  }
  const DebertaConfig& c;
  std::vector<DebertaLayer> layers;
  Tensor table;
  std::optional<Constant> near, far;
  std::optional<LayerNorm> norm;
  std::optional<DebertaConvolution> conv;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const DebertaConfig& c, Pooling)
      : Layer(parent, name, DebertaClass("DebertaV2Model")),
        embeddings(*this, c),
        encoder(*this, c) {}
  Encoded operator()(Tensor tokens) const {
    const auto call = Enter();
    const Shape sizes{net().batch, net().seq};
    const Tensor ones = b().Call("aten::ones", sizes);
    const Tensor kinds = b().Call("aten::zeros", sizes, Builder::Named("dtype", DType::kInt64));
    return {.hidden = encoder(embeddings(tokens, kinds, ones), ones)};
  }
  Tensor words() const { return embeddings.words.weight; }
  Embeddings embeddings;
  Encoder encoder;
};

// What both heads of words begin with.
struct Transform : Layer {
  Transform(const Layer& parent, std::string_view name, std::string_view class_name,
            std::int64_t width, const DebertaConfig& c)
      : Layer(parent, name, name.empty() ? "" : DebertaClass(class_name)),
        dense(*this, "dense", c.hidden, width),
        act(*this, "transform_act_fn", "hidden_act", "gelu"),
        norm(*this, "LayerNorm", width, c.eps) {}
  Tensor operator()(Tensor x) const { return norm(act(dense(x))); }
  Linear dense;
  Activation act;
  LayerNorm norm;
};

struct LegacyPredictions : Layer {
  LegacyPredictions(const Layer& parent, const DebertaConfig& c, Tensor words)
      : Layer(parent, "predictions", DebertaClass("LegacyDebertaV2LMPredictionHead")),
        bias(Parameter("bias", {c.vocabulary})),
        transform(*this, "transform", "LegacyDebertaV2PredictionHeadTransform", c.embedding, c),
        decoder(*this, "decoder", c.embedding, c.vocabulary,
                c.tied ? Linear::Ties{.weight = words, .bias = bias} : Linear::Ties{}) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const auto transformed = [&] {
      const auto inner = transform.Enter();
      return transform(x);
    };
    return decoder(transformed());
  }
  Tensor bias;
  Transform transform;
  Linear decoder;
};

struct Predictions : Layer {
  Predictions(const Layer& parent, const DebertaConfig& c, Tensor of_words)
      : Layer(parent, "lm_head", DebertaClass("DebertaV2LMPredictionHead")),
        words(of_words),
        bias(Parameter("bias", {c.vocabulary})),
        transform(*this, "", "", c.hidden, c) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    x = transform(x);
    const Tensor product = b().Call("aten::matmul", x, b().Call("aten::t", words));
    return b().Call("aten::add.Tensor", product, bias);
  }
  Tensor words, bias;
  Transform transform;
};

// Under a module of its own.
struct WordHead : Layer {
  WordHead(const Layer& root, const DebertaConfig& c, Tensor words)
      : Layer(root, c.legacy ? "cls" : "lm_predictions",
              DebertaClass(c.legacy ? "LegacyDebertaV2OnlyMLMHead" : "DebertaV2OnlyMLMHead")) {
    if (c.legacy) {
      legacy.emplace(*this, c, words);
    } else {
      predictions.emplace(*this, c, words);
    }
  }
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return legacy ? (*legacy)(hidden) : (*predictions)(hidden);
  }
  std::optional<LegacyPredictions> legacy;
  std::optional<Predictions> predictions;
};

struct Pooler : Layer {
  explicit Pooler(const Layer& root)
      : Layer(root, "pooler", DebertaClass("ContextPooler")),
        dense(*this, "dense", Width(), Width()),
        dropout(*this, "dropout", net().config.Share("pooler_dropout", 0.0)),
        act(*this, "", "pooler_hidden_act", "gelu") {}
  std::int64_t Width() const {
    const Settings& c = net().config;
    return c.Count("pooler_hidden_size", c.Size("hidden_size", 1536));
  }
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return act.Apply(dense(dropout(FirstToken(net(), hidden))));
  }
  Linear dense;
  Dropout dropout;
  Activation act;
};

struct ClassHead {
  ClassHead(const Layer& root, const DebertaConfig& c, std::int64_t classes)
      : pooler(root),
        classifier(root, "classifier", c.hidden, classes),
        dropout(root, "dropout", root.net().config.Share("cls_dropout", c.dropout)) {}
  Tensor operator()(const Encoded& encoded) const {
    return classifier(dropout(pooler(encoded.hidden)));
  }
  Pooler pooler;
  Linear classifier;
  Dropout dropout;
};

// Where no problem_type is set, texts whose label is negative count for nothing. Data decide which;
// here all count.
void BuildLabelledClasses(Net& net, const DebertaConfig& c, std::int64_t classes) {
  Builder& b = net.b;
  const Layer root(net);
  const Model model(root, "deberta", c, Pooling::kNone);
  const ClassHead head(root, c, classes);
  const Tensor tokens = TokenInput(net, c.positions_added ? c.positions : kMostPositions);
  const Tensor labels = LabelInputs(net, TextTask::kSequenceClass, classes).first;
  const Tensor logits = head(model(tokens));
  const Tensor rows = b.Call("aten::nonzero", b.Call("aten::ge.Scalar", labels, 0));
  b.State(rows, DType::kInt64, {net.batch, 1});
  const Tensor each = b.Call("aten::expand", rows, Shape{net.batch, classes});
  const Tensor counted = b.Call("aten::gather", logits, 0, each);
  const Tensor targets = b.Call("aten::gather", labels, 0, b.Call("aten::view", rows, Shape{-1}));
  const Tensor wide =
      Cast(net, b.Call("aten::view", counted, Shape{-1, classes}), net.dtype(), DType::kFloat32);
  b.Return(b.Call("aten::cross_entropy_loss", wide, b.Call("aten::view", targets, Shape{-1})));
  b.Return(logits);
}

void Build(Net& net) {
  const DebertaConfig c = ReadDeberta(net.config);
  const std::int64_t classes = LabelCount(net.config);
  const bool by_label = net.options.labelled && classes > 1 && !net.config.Has("problem_type");
  if (by_label && TaskOf(net) == TextTask::kSequenceClass) {
    return BuildLabelledClasses(net, c, classes);
  }
  BuildEncoder<Model, WordHead, ClassHead>(
      net, c,
      {.base = "deberta",
       .hidden = c.hidden,
       .vocabulary = c.vocabulary,
       .positions = c.positions_added ? c.positions : kMostPositions,
       .token_dropout = c.dropout});
}

constexpr std::array<std::string_view, 5> kHeads{"Model", "ForMaskedLM",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kDebertaV2{.type = "deberta-v2",
                              .prefix = "DebertaV2",
                              .summary = "DeBERTa 2 and 3",
                              .heads = kHeads,
                              .build = Build,
                              .only_attention = Attention::kEager};

}  // namespace steelyard::models
