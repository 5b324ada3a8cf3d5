// SPDX-License-Identifier: Apache-2.0
//
// modeling_bert.py, of transformers 5, without the heads.
#include "models/bert.h"

namespace steelyard::models {

std::string BertConfig::ClassOf(std::string_view name) const {
  return std::string(kind.module).append(kind.prefix).append(name);
}

BertConfig ReadBert(const Settings& c, const BertKind& kind) {
  const std::int64_t hidden = c.Size("hidden_size", kind.hidden);
  const Heads heads = HeadsOf(c, {.hidden = hidden,
                                  .hidden_key = "hidden_size",
                                  .key = "num_attention_heads",
                                  .missing = kind.heads});
  const double dropout = c.Share("hidden_dropout_prob", kind.dropout);
  return {.kind = kind,
          .hidden = hidden,
          .inner = c.Size("intermediate_size", kind.inner),
          .layers = c.Layers("num_hidden_layers", 12),
          .vocabulary = c.Size("vocab_size", kind.vocabulary),
          .positions = c.Size("max_position_embeddings", 512),
          .types = c.Count("type_vocab_size", 2),
          .embedding = kind.embedding ? c.Size("embedding_size", kind.embedding) : hidden,
          .padding = c.Count("pad_token_id", kind.padding),
          .heads = heads,
          .eps = c.Real("layer_norm_eps", 1e-12),
          .dropout = dropout,
          .attention_dropout = c.Share("attention_probs_dropout_prob", kind.dropout),
          .class_dropout = c.Share("classifier_dropout", dropout),
          .decoder = c.Flag("is_decoder", false),
          .tied = c.Flag("tie_word_embeddings", true)};
}

EncoderPlan PlanOf(const BertConfig& c, std::string_view base) {
  // Positions that are counted behind the padding's number begin with the one after it.
  const std::int64_t skipped = c.kind.counts_tokens ? c.padding + 1 : 0;
  return {.base = base,
          .hidden = c.hidden,
          .vocabulary = c.vocabulary,
          .positions = c.positions - skipped,
          .token_dropout = c.class_dropout};
}

BertEmbeddings::BertEmbeddings(const Layer& parent, const BertConfig& config, Tensor tied)
    : Layer(parent, "embeddings", config.ClassOf("Embeddings")),
      c(config),
      words(tied.defined()
                ? Embedding(*this, "word_embeddings", tied, c.padding)
                : Embedding(*this, "word_embeddings", c.vocabulary, c.embedding, c.padding)),
      places(c.kind.counts_tokens
                 ? std::nullopt
                 : std::optional<Embedding>(std::in_place, *this, "position_embeddings",
                                            c.positions, c.embedding)),
      types(*this, "token_type_embeddings", c.types, c.embedding),
      norm(*this, "LayerNorm", c.embedding, c.eps),
      dropout(*this, "dropout", c.dropout) {
  if (!places) places.emplace(*this, "position_embeddings", c.positions, c.embedding, c.padding);
  position_ids = Buffer("position_ids", DType::kInt64, {1, c.positions}, false);
  token_type_ids = Buffer("token_type_ids", DType::kInt64, {1, c.positions}, false);
}

// create_position_ids_from_input_ids, or the first of the buffer.
Tensor BertEmbeddings::Places(Tensor tokens) const {
  if (!c.kind.counts_tokens) {
    return b().Call("aten::slice.Tensor", position_ids, 1, 0, net().seq);
  }
  const Tensor real =
      b().Call("aten::to.dtype", b().Call("aten::ne.Scalar", tokens, c.padding), DType::kInt32);
  Tensor count = b().Call("aten::type_as", b().Call("aten::cumsum", real, 1), real);
  count = b().Call("aten::mul.Tensor", b().Call("aten::add.Tensor", count, 0), real);
  return b().Call("aten::add.Tensor", b().Call("aten::to.dtype", count, DType::kInt64), c.padding);
}

Tensor BertEmbeddings::operator()(Tensor tokens) const {
  const auto call = Enter();
  const Tensor at = Places(tokens);
  const Builder::Size rows = c.kind.counts_tokens ? Builder::Size(net().batch) : Builder::Size(1);
  Tensor kinds = b().Call("aten::expand", token_type_ids, Shape{rows, -1});
  kinds = b().Call("aten::gather", kinds, 1, at);
  kinds = b().Call("aten::expand", kinds, Shape{net().batch, net().seq});
  const Tensor word = words(tokens);
  Tensor x = b().Call("aten::add.Tensor", word, types(kinds));
  x = b().Call("aten::add.Tensor", x, (*places)(at));
  return dropout(norm(x));
}

BertSelfAttention::BertSelfAttention(const Layer& parent, const BertConfig& config)
    : Layer(parent, "self", config.ClassOf("SelfAttention")),
      c(config),
      query(*this, "query", c.hidden, c.hidden),
      key(*this, "key", c.hidden, c.hidden),
      value(*this, "value", c.hidden, c.hidden),
      dropout(*this, "dropout", c.attention_dropout) {}

Tensor BertSelfAttention::operator()(Tensor x, Tensor mask) const {
  const auto call = Enter();
  return AttendToSelf(net(), {.query = query, .key = key, .value = value}, x,
                      {.mask = mask,
                       .heads = c.heads,
                       .scale = c.heads.scale(),
                       .dropout = c.attention_dropout,
                       .backwards = c.decoder,
                       .wide_softmax = false});
}

BertOutput::BertOutput(const Layer& parent, std::string_view class_name, const BertConfig& c,
                       std::int64_t in)
    : Layer(parent, "output", c.ClassOf(class_name)),
      dense(*this, "dense", in, c.hidden),
      norm(*this, "LayerNorm", c.hidden, c.eps),
      dropout(*this, "dropout", c.dropout) {}

Tensor BertOutput::operator()(Tensor x, Tensor before) const {
  const auto call = Enter();
  return norm(b().Call("aten::add.Tensor", dropout(dense(x)), before));
}

BertAttention::BertAttention(const Layer& parent, const BertConfig& c)
    : Layer(parent, "attention", c.ClassOf("Attention")),
      self(*this, c),
      output(*this, "SelfOutput", c, c.hidden) {}

Tensor BertAttention::operator()(Tensor x, Tensor mask) const {
  const auto call = Enter();
  return output(self(x, mask), x);
}

BertIntermediate::BertIntermediate(const Layer& parent, const BertConfig& c)
    : Layer(parent, "intermediate", c.ClassOf("Intermediate")),
      dense(*this, "dense", c.hidden, c.inner),
      act(*this, "intermediate_act_fn", "hidden_act", "gelu") {}

Tensor BertIntermediate::operator()(Tensor x) const {
  const auto call = Enter();
  return act(dense(x));
}

BertLayer::BertLayer(const Layer& parent, const std::string& name, const BertConfig& c)
    : Layer(parent, name, c.ClassOf("Layer")),
      attention(*this, c),
      intermediate(*this, c),
      output(*this, "Output", c, c.inner) {}

Tensor BertLayer::operator()(Tensor x, Tensor mask) const {
  const auto call = Enter();
  const Tensor seen = attention(x, mask);
  return output(intermediate(seen), seen);
}

BertPooler::BertPooler(const Layer& parent, const BertConfig& c)
    : Layer(parent, "pooler", c.ClassOf("Pooler")),
      dense(*this, "dense", c.hidden, c.hidden),
      act(*this, "activation", Activation::Name{"", "tanh"}) {}

Tensor BertPooler::operator()(Tensor hidden) const {
  const auto call = Enter();
  return act(dense(FirstToken(net(), hidden)));
}

BertModel::BertModel(const Layer& parent, std::string_view name, const BertConfig& config,
                     Pooling pooling, Tensor tied_words)
    : Layer(parent, name, config.ClassOf("Model")),
      c(config),
      embeddings(*this, c, tied_words),
      widen(c.embedding == c.hidden
                ? std::nullopt
                : std::optional<Linear>(std::in_place, *this, "embeddings_project", c.embedding,
                                        c.hidden)),
      encoder(*this, {.name = "encoder", .class_name = c.ClassOf("Encoder"), .items = "layer"},
              c.layers, c) {
  if (pooling == Pooling::kFirst) pooler.emplace(*this, c);
}

Encoded BertModel::operator()(Tensor tokens) const {
  const auto call = Enter();
  Tensor x = embeddings(tokens);
  if (widen) x = (*widen)(x);
  x = encoder(x, c.decoder ? CausalMask(net()) : FullMask(net(), net().seq));
  return {.hidden = x, .pooled = pooler ? (*pooler)(x) : Tensor()};
}

DenseClassHead::DenseClassHead(const Layer& root, const BertConfig& c, std::int64_t classes)
    : Layer(root, "classifier", c.ClassOf("ClassificationHead")),
      dense(*this, "dense", c.hidden, c.hidden),
      dropout(*this, "dropout", c.class_dropout),
      out(*this, "out_proj", c.hidden, classes) {}

Tensor DenseClassHead::operator()(const Encoded& encoded,
                                  const std::function<Tensor(Tensor x)>& between) const {
  const auto call = Enter();
  const Tensor first = FirstToken(net(), encoded.hidden);
  return out(dropout(between(dense(dropout(first)))));
}

}  // namespace steelyard::models
