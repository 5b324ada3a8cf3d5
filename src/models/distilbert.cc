// SPDX-License-Identifier: Apache-2.0
//
// modeling_distilbert.py, of transformers 5.
#include <array>
#include <string>

#include "models/encoder.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::string_view kModule = "transformers.models.distilbert.modeling_distilbert.";
constexpr double kEps = 1e-12;

std::string ClassOf(std::string_view name) { return std::string(kModule).append(name); }

struct Config {
  std::int64_t hidden, inner, layers, vocabulary, positions, padding;
  Heads heads;
  double dropout, attention_dropout, class_dropout, span_dropout;
  bool tied;
};

Config Read(const Settings& c) {
  const std::int64_t hidden = c.Size("dim", 768);
  const Heads heads =
      HeadsOf(c, {.hidden = hidden, .hidden_key = "dim", .key = "n_heads", .missing = 12});
  return {.hidden = hidden,
          .inner = c.Size("hidden_dim", 3072),
          .layers = c.Layers("n_layers", 6),
          .vocabulary = c.Size("vocab_size", 30522),
          .positions = c.Size("max_position_embeddings", 512),
          .padding = c.Count("pad_token_id", 0),
          .heads = heads,
          .dropout = c.Share("dropout", 0.1),
          .attention_dropout = c.Share("attention_dropout", 0.1),
          .class_dropout = c.Share("seq_classif_dropout", 0.2),
          .span_dropout = c.Share("qa_dropout", 0.1),
          .tied = c.Flag("tie_word_embeddings", true)};
}

struct Embeddings : Layer {
  Embeddings(const Layer& parent, const Config& c)
      : Layer(parent, "embeddings", ClassOf("Embeddings")),
        words(*this, "word_embeddings", c.vocabulary, c.hidden, c.padding),
        places(*this, "position_embeddings", c.positions, c.hidden),
        norm(*this, "LayerNorm", c.hidden, kEps),
        dropout(*this, "dropout", c.dropout),
        position_ids(Buffer("position_ids", DType::kInt64, {1, c.positions}, false)) {}
  Tensor operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor word = words(tokens);
    const Tensor at = b().Call("aten::slice.Tensor", position_ids, 1, 0, net().seq);
    return dropout(norm(b().Call("aten::add.Tensor", word, places(at))));
  }
  Embedding words, places;
  LayerNorm norm;
  Dropout dropout;
  Tensor position_ids;
};

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const Config& config)
      : Layer(parent, "attention", ClassOf("DistilBertSelfAttention")),
        c(config),
        q(*this, "q_lin", c.hidden, c.hidden),
        k(*this, "k_lin", c.hidden, c.hidden),
        v(*this, "v_lin", c.hidden, c.hidden),
        out(*this, "out_lin", c.hidden, c.hidden) {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    return out(AttendToSelf(net(), {.query = q, .key = k, .value = v}, x,
                            {.mask = mask,
                             .heads = c.heads,
                             .scale = c.heads.scale(),
                             .dropout = c.attention_dropout,
                             .wide_softmax = false}));
  }
  const Config& c;
  Linear q, k, v, out;
};

struct FeedForward : Layer {
  FeedForward(const Layer& parent, const Config& c)
      : Layer(parent, "ffn", ClassOf("FFN")),
        dropout(*this, "dropout", c.dropout),
        in(*this, "lin1", c.hidden, c.inner),
        out(*this, "lin2", c.inner, c.hidden),
        act(*this, "activation", "activation", "gelu") {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return dropout(out(act(in(x))));
  }
  Dropout dropout;
  Linear in, out;
  Activation act;
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, const Config& c)
      : Layer(parent, name, ClassOf("TransformerBlock")),
        attention(*this, c),
        between(*this, "sa_layer_norm", c.hidden, kEps),
        feed_forward(*this, c),
        after(*this, "output_layer_norm", c.hidden, kEps) {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    x = between(b().Call("aten::add.Tensor", attention(x, mask), x));
    return after(b().Call("aten::add.Tensor", feed_forward(x), x));
  }
  SelfAttention attention;
  LayerNorm between;
  FeedForward feed_forward;
  LayerNorm after;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const Config& c, Pooling)
      : Layer(parent, name, ClassOf("DistilBertModel")),
        embeddings(*this, c),
        transformer(*this,
                    {.name = "transformer", .class_name = ClassOf("Transformer"), .items = "layer"},
                    c.layers, c) {}
  Encoded operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor x = embeddings(tokens);
    return {.hidden = transformer(x, FullMask(net(), net().seq))};
  }
  Tensor words() const { return embeddings.words.weight; }
  Embeddings embeddings;
  Stack<Block> transformer;
};

struct WordHead {
  WordHead(const Layer& root, const Config& c, Tensor words)
      : act(root, "activation", "activation", "gelu"),
        transform(root, "vocab_transform", c.hidden, c.hidden),
        norm(root, "vocab_layer_norm", c.hidden, kEps),
        projector(root, "vocab_projector", c.hidden, c.vocabulary,
                  Linear::Ties{.weight = c.tied ? words : Tensor()}) {}
  Tensor operator()(Tensor hidden) const { return projector(norm(act(transform(hidden)))); }
  Activation act;
  Linear transform;
  LayerNorm norm;
  Linear projector;
};

struct ClassHead {
  ClassHead(const Layer& root, const Config& c, std::int64_t classes)
      : before(root, "pre_classifier", c.hidden, c.hidden),
        classifier(root, "classifier", c.hidden, classes),
        dropout(root, "dropout", c.class_dropout) {}
  Tensor operator()(const Encoded& encoded) const {
    const Net& net = before.net();
    const Tensor x = before(FirstToken(net, encoded.hidden));
    return classifier(dropout(net.b.Call("aten::relu", x)));
  }
  Linear before, classifier;
  Dropout dropout;
};

void Build(Net& net) {
  const Config c = Read(net.config);
  BuildEncoder<Model, WordHead, ClassHead>(net, c,
                                           {.base = "distilbert",
                                            .hidden = c.hidden,
                                            .vocabulary = c.vocabulary,
                                            .positions = c.positions,
                                            .token_dropout = c.dropout,
                                            .span_dropout = c.span_dropout});
}

constexpr std::array<std::string_view, 5> kHeads{"Model", "ForMaskedLM",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kDistilBert{.type = "distilbert",
                               .prefix = "DistilBert",
                               .summary = "DistilBERT",
                               .heads = kHeads,
                               .build = Build,
                               .flash = true};

}  // namespace steelyard::models
