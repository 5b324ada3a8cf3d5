// SPDX-License-Identifier: Apache-2.0
//
// The heads of modeling_bert.py, of transformers 5.
#include "models/bert.h"

#include <array>

#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr BertKind kKind{.module = "transformers.models.bert.modeling_bert.", .prefix = "Bert"};

struct Transform : Layer {
  Transform(const Layer& parent, const BertConfig& c)
      : Layer(parent, "transform", c.ClassOf("PredictionHeadTransform")),
        dense(*this, "dense", c.hidden, c.hidden),
        act(*this, "transform_act_fn", "hidden_act", "gelu"),
        norm(*this, "LayerNorm", c.hidden, c.eps) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return norm(act(dense(x)));
  }
  Linear dense;
  Activation act;
  LayerNorm norm;
};

struct Predictions : Layer {
  Predictions(const Layer& parent, const BertConfig& c, Tensor words)
      : Layer(parent, "predictions", c.ClassOf("LMPredictionHead")),
        bias(Parameter("bias", {c.vocabulary})),
        transform(*this, c),
        decoder(*this, "decoder", c.hidden, c.vocabulary,
                c.tied ? Linear::Ties{.weight = words, .bias = bias} : Linear::Ties{}) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    return decoder(transform(x));
  }
  Tensor bias;
  Transform transform;
  Linear decoder;
};

struct WordHead : Layer {
  WordHead(const Layer& root, const BertConfig& c, Tensor words)
      : Layer(root, "cls", c.ClassOf("OnlyMLMHead")), predictions(*this, c, words) {}
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return predictions(hidden);
  }
  Predictions predictions;
};

// The words that were hidden, and whether the second sentence follows the first.
struct PreTrainingHeads : Layer {
  PreTrainingHeads(const Layer& root, const BertConfig& c, Tensor words)
      : Layer(root, "cls", c.ClassOf("PreTrainingHeads")),
        predictions(*this, c, words),
        relation(*this, "seq_relationship", c.hidden, 2) {}
  Predictions predictions;
  Linear relation;
};

void BuildPreTraining(Net& net, const BertConfig& c) {
  Builder& b = net.b;
  RefuseOddEncoders(net.config);
  const Layer root(net);
  const BertModel model(root, "bert", c, Pooling::kFirst);
  const PreTrainingHeads heads(root, c, model.words());
  const Tensor tokens = TokenInput(net, c.positions);
  const Tensor labels = TokenLabels(net);
  const Tensor follows =
      net.options.labelled ? b.Input("next_sentence_label", DType::kInt64, {net.batch}) : Tensor();
  const Encoded encoded = model(tokens);
  Tensor words;
  Tensor relation;
  {
    const auto call = heads.Enter();
    words = heads.predictions(encoded.hidden);
    relation = heads.relation(encoded.pooled);
  }
  if (labels.defined()) {
    const auto loss = [&](Tensor logits, Tensor targets, std::int64_t classes) {
      const Tensor flat = b.Call("aten::view", logits, Shape{-1, classes});
      return b.Call("aten::cross_entropy_loss", flat, b.Call("aten::view", targets, Shape{-1}));
    };
    const Tensor of_words = loss(words, labels, c.vocabulary);
    b.Return(b.Call("aten::add.Tensor", of_words, loss(relation, follows, 2)));
  }
  b.Return(words);
  b.Return(relation);
}

void Build(Net& net) {
  const BertConfig c = ReadBert(net.config, kKind);
  if (net.options.head == "ForPreTraining") return BuildPreTraining(net, c);
  EncoderPlan plan = PlanOf(c, "bert");
  // BertModel(add_pooling_layer=False), as files of embedding models have it.
  plan.alone = net.config.Flag("add_pooling_layer", true) ? Pooling::kFirst : Pooling::kNone;
  plan.classified = Pooling::kFirst;
  BuildEncoder<BertModel, WordHead, PooledClassHead>(net, c, plan);
}

constexpr std::array<std::string_view, 7> kHeads{"Model",
                                                 "ForMaskedLM",
                                                 "LMHeadModel",
                                                 "ForPreTraining",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification",
                                                 "ForQuestionAnswering"};

}  // namespace

const Architecture kBert{.type = "bert",
                         .prefix = "Bert",
                         .summary = "BERT",
                         .heads = kHeads,
                         .build = Build,
                         .flash = true};

}  // namespace steelyard::models
