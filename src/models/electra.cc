// SPDX-License-Identifier: Apache-2.0
//
// What modeling_electra.py, of transformers 5, differs in from BERT's.
#include <array>

#include "models/bert.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr BertKind kKind{.module = "transformers.models.electra.modeling_electra.",
                         .prefix = "Electra",
                         .hidden = 256,
                         .heads = 4,
                         .inner = 1024,
                         .embedding = 128};

struct GeneratorPredictions : Layer {
  GeneratorPredictions(const Layer& root, const BertConfig& c)
      : Layer(root, "generator_predictions", c.ClassOf("GeneratorPredictions")),
        act(*this, "activation", Activation::Name{"", "gelu"}),
        norm(*this, "LayerNorm", c.embedding, c.eps),
        dense(*this, "dense", c.hidden, c.embedding) {}
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return norm(act(dense(hidden)));
  }
  Activation act;
  LayerNorm norm;
  Linear dense;
};

struct WordHead {
  WordHead(const Layer& root, const BertConfig& c, Tensor words)
      : predictions(root, c),
        output(root, "generator_lm_head", c.embedding, c.vocabulary,
               Linear::Ties{.weight = c.tied ? words : Tensor()}) {}
  Tensor operator()(Tensor hidden) const { return output(predictions(hidden)); }
  GeneratorPredictions predictions;
  Linear output;
};

struct ClassHead : DenseClassHead {
  ClassHead(const Layer& root, const BertConfig& c, std::int64_t classes)
      : DenseClassHead(root, c, classes), act(*this, "activation", Activation::Name{"", "gelu"}) {}
  Tensor operator()(const Encoded& encoded) const {
    return DenseClassHead::operator()(encoded, [this](Tensor x) { return act(x); });
  }
  Activation act;
};

// Which tokens were replaced.
struct Discriminator : Layer {
  Discriminator(const Layer& root, const BertConfig& c)
      : Layer(root, "discriminator_predictions", c.ClassOf("DiscriminatorPredictions")),
        dense(*this, "dense", c.hidden, c.hidden),
        act(*this, "activation", "hidden_act", "gelu"),
        prediction(*this, "dense_prediction", c.hidden, 1) {}
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return b().Call("aten::squeeze.dim", prediction(act(dense(hidden))), -1);
  }
  Linear dense;
  Activation act;
  Linear prediction;
};

void BuildPreTraining(Net& net, const BertConfig& c) {
  Builder& b = net.b;
  RefuseOddEncoders(net.config);
  const Layer root(net);
  const BertModel model(root, "electra", c, Pooling::kNone);
  const Discriminator head(root, c);
  const Tensor tokens = TokenInput(net, c.positions);
  const Tensor labels = TokenLabels(net);
  const Tensor logits = head(model(tokens).hidden);
  if (labels.defined()) {
    const Tensor flat = b.Call("aten::view", logits, Shape{-1, net.seq});
    const Tensor targets = b.Call("aten::to.dtype", labels, DType::kFloat32);
    b.Return(b.Call("aten::binary_cross_entropy_with_logits", flat, targets));
  }
  b.Return(logits);
}

void Build(Net& net) {
  const BertConfig c = ReadBert(net.config, kKind);
  if (net.options.head == "ForPreTraining") return BuildPreTraining(net, c);
  BuildEncoder<BertModel, WordHead, ClassHead>(net, c, PlanOf(c, "electra"));
}

constexpr std::array<std::string_view, 7> kHeads{"Model",
                                                 "ForMaskedLM",
                                                 "ForCausalLM",
                                                 "ForPreTraining",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification",
                                                 "ForQuestionAnswering"};

}  // namespace

const Architecture kElectra{.type = "electra",
                            .prefix = "Electra",
                            .summary = "ELECTRA",
                            .heads = kHeads,
                            .build = Build,
                            .flash = true};

}  // namespace steelyard::models
