// SPDX-License-Identifier: Apache-2.0
//
// modeling_albert.py, of transformers 5: a layer runs as often as the model is deep.
#include <array>
#include <string>

#include "models/bert.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr BertKind kKind{.module = "transformers.models.albert.modeling_albert.",
                         .prefix = "Albert",
                         .vocabulary = 30000,
                         .hidden = 4096,
                         .heads = 64,
                         .inner = 16384,
                         .dropout = 0.0,
                         .embedding = 128};

struct AlbertConfig : BertConfig {
  std::int64_t groups, layers_of_group;
};

AlbertConfig Read(const Settings& s) {
  AlbertConfig c{ReadBert(s, kKind), s.Size("num_hidden_groups", 1), s.Count("inner_group_num", 1)};
  c.class_dropout = s.Share("classifier_dropout_prob", 0.1);
  return c;
}

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const AlbertConfig& config)
      : Layer(parent, "attention", config.ClassOf("Attention")),
        c(config),
        dropout(*this, "output_dropout", c.dropout),
        query(*this, "query", c.hidden, c.hidden),
        key(*this, "key", c.hidden, c.hidden),
        value(*this, "value", c.hidden, c.hidden),
        dense(*this, "dense", c.hidden, c.hidden),
        norm(*this, "LayerNorm", c.hidden, c.eps) {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    const Tensor seen = AttendToSelf(net(), {.query = query, .key = key, .value = value}, x,
                                     {.mask = mask,
                                      .heads = c.heads,
                                      .scale = c.heads.scale(),
                                      .dropout = c.attention_dropout,
                                      .wide_softmax = false});
    return norm(b().Call("aten::add.Tensor", x, dropout(dense(seen))));
  }
  const AlbertConfig& c;
  Dropout dropout;
  Linear query, key, value, dense;
  LayerNorm norm;
};

struct Block : Layer {
  Block(const Layer& parent, const std::string& name, const AlbertConfig& c)
      : Layer(parent, name, c.ClassOf("Layer")),
        norm(*this, "full_layer_layer_norm", c.hidden, c.eps),
        attention(*this, c),
        in(*this, "ffn", c.hidden, c.inner),
        out(*this, "ffn_output", c.inner, c.hidden),
        act(*this, "activation", "hidden_act", "gelu_new") {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    x = attention(x, mask);
    return norm(b().Call("aten::add.Tensor", out(act(in(x))), x));
  }
  LayerNorm norm;
  SelfAttention attention;
  Linear in, out;
  Activation act;
};

struct Group : Stack<Block> {
  Group(const Layer& parent, const std::string& name, const AlbertConfig& c)
      : Stack(parent,
              {.name = name, .class_name = c.ClassOf("LayerGroup"), .items = "albert_layers"},
              c.layers_of_group, c) {}
};

struct Transformer : Layer {
  Transformer(const Layer& parent, const AlbertConfig& config)
      : Layer(parent, "encoder", config.ClassOf("Transformer")),
        c(config),
        widen(*this, "embedding_hidden_mapping_in", c.embedding, c.hidden),
        groups(Repeated<Group>(*this, "albert_layer_groups", c.groups, c)) {}
  Tensor operator()(Tensor x, Tensor mask) const {
    const auto call = Enter();
    x = widen(x);
    // No groups where the config was refused.
    const std::int64_t depth =
        groups.empty() ? 0 : Admitted(net().config, "num_hidden_layers", c.layers);
    const double repeats = static_cast<double>(depth) / static_cast<double>(c.groups);
    for (std::int64_t i = 0; i < depth; ++i) {
      x = groups[static_cast<std::size_t>(static_cast<double>(i) / repeats)](x, mask);
    }
    return x;
  }
  const AlbertConfig& c;
  Linear widen;
  std::vector<Group> groups;
};

struct Model : Layer {
  Model(const Layer& parent, std::string_view name, const AlbertConfig& config, Pooling pooling)
      : Layer(parent, name, config.ClassOf("Model")),
        embeddings(*this, config),
        encoder(*this, config) {
    if (pooling == Pooling::kNone) return;
    pooler.emplace(*this, "pooler", config.hidden, config.hidden);
    act.emplace(*this, "pooler_activation", Activation::Name{"", "tanh"});
  }
  Encoded operator()(Tensor tokens) const {
    const auto call = Enter();
    const Tensor x = embeddings(tokens);
    const Tensor hidden = encoder(x, FullMask(net(), net().seq));
    if (!pooler) return {.hidden = hidden};
    return {.hidden = hidden, .pooled = (*act)((*pooler)(FirstToken(net(), hidden)))};
  }
  Tensor words() const { return embeddings.words.weight; }
  BertEmbeddings embeddings;
  Transformer encoder;
  std::optional<Linear> pooler;
  std::optional<Activation> act;
};

struct WordHead : Layer {
  WordHead(const Layer& root, const AlbertConfig& c, Tensor words)
      : Layer(root, "predictions", c.ClassOf("MLMHead")),
        bias(Parameter("bias", {c.vocabulary})),
        norm(*this, "LayerNorm", c.embedding, c.eps),
        dense(*this, "dense", c.hidden, c.embedding),
        decoder(*this, "decoder", c.embedding, c.vocabulary,
                c.tied ? Linear::Ties{.weight = words, .bias = bias} : Linear::Ties{}),
        act(*this, "activation", "hidden_act", "gelu_new") {}
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return decoder(norm(act(dense(hidden))));
  }
  Tensor bias;
  LayerNorm norm;
  Linear dense, decoder;
  Activation act;
};

void Build(Net& net) {
  const AlbertConfig c = Read(net.config);
  EncoderPlan plan = PlanOf(c, "albert");
  plan.alone = Pooling::kFirst;
  plan.classified = Pooling::kFirst;
  BuildEncoder<Model, WordHead, PooledClassHead>(net, c, plan);
}

constexpr std::array<std::string_view, 5> kHeads{"Model", "ForMaskedLM",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification", "ForQuestionAnswering"};

}  // namespace

const Architecture kAlbert{.type = "albert",
                           .prefix = "Albert",
                           .summary = "ALBERT",
                           .heads = kHeads,
                           .build = Build,
                           .flash = true};

}  // namespace steelyard::models
