// SPDX-License-Identifier: Apache-2.0
//
// What modeling_roberta.py, of transformers 5, differs in from BERT's.
#include <array>

#include "models/bert.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr BertKind kKind{.module = "transformers.models.roberta.modeling_roberta.",
                         .prefix = "Roberta",
                         .vocabulary = 50265,
                         .padding = 1,
                         .counts_tokens = true};

struct WordHead : Layer {
  WordHead(const Layer& root, const BertConfig& c, Tensor words)
      : Layer(root, "lm_head", c.ClassOf("LMHead")),
        bias(Parameter("bias", {c.vocabulary})),
        dense(*this, "dense", c.hidden, c.hidden),
        norm(*this, "layer_norm", c.hidden, c.eps),
        decoder(*this, "decoder", c.hidden, c.vocabulary,
                c.tied ? Linear::Ties{.weight = words, .bias = bias} : Linear::Ties{}) {}
  Tensor operator()(Tensor hidden) const {
    const auto call = Enter();
    return decoder(norm(b().Call("aten::gelu", dense(hidden))));
  }
  Tensor bias;
  Linear dense;
  LayerNorm norm;
  Linear decoder;
};

struct ClassHead : DenseClassHead {
  using DenseClassHead::DenseClassHead;
  Tensor operator()(const Encoded& encoded) const {
    return DenseClassHead::operator()(encoded,
                                      [this](Tensor x) { return b().Call("aten::tanh", x); });
  }
};

void Build(Net& net) {
  const BertConfig c = ReadBert(net.config, kKind);
  EncoderPlan plan = PlanOf(c, "roberta");
  plan.alone = Pooling::kFirst;
  BuildEncoder<BertModel, WordHead, ClassHead>(net, c, plan);
}

constexpr std::array<std::string_view, 6> kHeads{"Model",
                                                 "ForMaskedLM",
                                                 "ForCausalLM",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification",
                                                 "ForQuestionAnswering"};

}  // namespace

const Architecture kRoberta{
    .type = "roberta", .prefix = "Roberta", .summary = "RoBERTa", .heads = kHeads, .build = Build};

}  // namespace steelyard::models
