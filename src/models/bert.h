// SPDX-License-Identifier: Apache-2.0
//
// BERT's layers, which RoBERTa and ELECTRA have under names of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/encoder.h"

namespace steelyard::models {

// What an architecture's config class says where a config says nothing, and what it differs in.
struct BertKind {
  std::string_view module, prefix;  // of its classes: "transformers...modeling_bert.", "Bert"
  std::int64_t vocabulary = 30522, hidden = 768, heads = 12, inner = 3072, padding = 0;
  double dropout = 0.1;
  std::optional<std::int64_t> embedding = {};  // "embedding_size"; not a key of the config: hidden
  bool counts_tokens = false;                  // positions are counted from tokens' padding
};

struct BertConfig {
  const BertKind& kind;
  std::int64_t hidden, inner, layers, vocabulary, positions, types, embedding, padding;
  Heads heads;
  double eps, dropout, attention_dropout, class_dropout;
  bool decoder, tied;
  std::string ClassOf(std::string_view name) const;
};

BertConfig ReadBert(const Settings& config, const BertKind& kind);
// `base`: the name of the model under its head.
EncoderPlan PlanOf(const BertConfig& config, std::string_view base);

struct BertEmbeddings : Layer {
  // `tied`: the table of words, where it is another layer's.
  BertEmbeddings(const Layer& parent, const BertConfig& c, Tensor tied = {});
  Tensor operator()(Tensor tokens) const;
  const BertConfig& c;
  Embedding words;
  std::optional<Embedding> places;
  Embedding types;
  LayerNorm norm;
  Dropout dropout;
  Tensor position_ids, token_type_ids;

 private:
  Tensor Places(Tensor tokens) const;
};

struct BertSelfAttention : Layer {
  BertSelfAttention(const Layer& parent, const BertConfig& c);
  Tensor operator()(Tensor x, Tensor mask) const;
  const BertConfig& c;
  Linear query, key, value;
  Dropout dropout;
};

// BertSelfOutput and BertOutput: back to the hidden width, added to what came in, normed.
struct BertOutput : Layer {
  BertOutput(const Layer& parent, std::string_view class_name, const BertConfig& c,
             std::int64_t in);
  Tensor operator()(Tensor x, Tensor before) const;
  Linear dense;
  LayerNorm norm;
  Dropout dropout;
};

struct BertAttention : Layer {
  BertAttention(const Layer& parent, const BertConfig& c);
  Tensor operator()(Tensor x, Tensor mask) const;
  BertSelfAttention self;
  BertOutput output;
};

struct BertIntermediate : Layer {
  BertIntermediate(const Layer& parent, const BertConfig& c);
  Tensor operator()(Tensor x) const;
  Linear dense;
  Activation act;
};

struct BertLayer : Layer {
  BertLayer(const Layer& parent, const std::string& name, const BertConfig& c);
  Tensor operator()(Tensor x, Tensor mask) const;
  BertAttention attention;
  BertIntermediate intermediate;
  BertOutput output;
};

struct BertPooler : Layer {
  BertPooler(const Layer& parent, const BertConfig& c);
  Tensor operator()(Tensor hidden) const;
  Linear dense;
  Activation act;
};

struct BertModel : Layer {
  BertModel(const Layer& parent, std::string_view name, const BertConfig& c, Pooling pooling,
            Tensor tied_words = {});
  Encoded operator()(Tensor tokens) const;
  Tensor words() const { return embeddings.words.weight; }
  const BertConfig& c;
  BertEmbeddings embeddings;
  std::optional<Linear> widen;  // from the embeddings' width
  Stack<BertLayer> encoder;
  std::optional<BertPooler> pooler;
};

// Classes of what the model pooled.
struct PooledClassHead {
  PooledClassHead(const Layer& root, const BertConfig& c, std::int64_t classes)
      : dropout(root, "dropout", c.class_dropout),
        classifier(root, "classifier", c.hidden, classes) {}
  Tensor operator()(const Encoded& encoded) const { return classifier(dropout(encoded.pooled)); }
  Dropout dropout;
  Linear classifier;
};

// RobertaClassificationHead and ELECTRA's, which differ in what is between their layers.
struct DenseClassHead : Layer {
  DenseClassHead(const Layer& root, const BertConfig& c, std::int64_t classes);
  // `between` is what runs behind the first layer.
  Tensor operator()(const Encoded& encoded, const std::function<Tensor(Tensor x)>& between) const;
  Linear dense;
  Dropout dropout;
  Linear out;
};

}  // namespace steelyard::models
