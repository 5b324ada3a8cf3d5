// SPDX-License-Identifier: Apache-2.0
//
// What modeling_roberta.py, of transformers 5, differs in from BERT's; XLM-RoBERTa and CamemBERT
// are the same layers under other names.
#include <array>
#include <optional>

#include "models/bert.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr BertKind kRobertaKind{.module = "transformers.models.roberta.modeling_roberta.",
                                .prefix = "Roberta",
                                .vocabulary = 50265,
                                .padding = 1,
                                .counts_tokens = true};
constexpr BertKind kXlmRobertaKind{
    .module = "transformers.models.xlm_roberta.modeling_xlm_roberta.",
    .prefix = "XLMRoberta",
    .padding = 1,
    .counts_tokens = true};
constexpr BertKind kCamembertKind{.module = "transformers.models.camembert.modeling_camembert.",
                                  .prefix = "Camembert",
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
  const BertConfig c = ReadBert(net.config, kRobertaKind);
  EncoderPlan plan = PlanOf(c, "roberta");
  plan.alone = Pooling::kFirst;
  BuildEncoder<BertModel, WordHead, ClassHead>(net, c, plan);
}

// The model is made when it is first called, behind its head: so its parameters come last.
void BuildBehindHead(const Layer& root, const BertConfig& c, const EncoderPlan& plan) {
  Net& net = root.net();
  std::optional<BertModel> model;
  const auto run = [&](Tensor tokens, Tensor words = {}) {
    model.emplace(root, plan.base, c, Pooling::kNone, words);
    return (*model)(tokens);
  };
  const TextTask task = TaskOf(net);
  switch (task) {
    case TextTask::kNone:
      return;
    case TextTask::kNextToken:
    case TextTask::kMaskedToken: {
      const WordHead head(root, c, {});
      const Tensor tokens = TokenInput(net, plan.positions);
      const Tensor labels = TokenLabels(net);
      const Encoded encoded = run(tokens, c.tied ? head.decoder.weight : Tensor());
      return ReturnWords(net, head(encoded.hidden), labels, plan.vocabulary);
    }
    case TextTask::kSequenceClass: {
      const std::int64_t classes = LabelCount(net.config);
      const ClassHead head(root, c, classes);
      const Tensor tokens = TokenInput(net, plan.positions);
      const TextLabels labels = LabelInputs(net, task, classes);
      return ReturnSequenceClass(net, head(run(tokens)), labels.first, classes);
    }
    case TextTask::kTokenClass:
      return RunTokenClasses(root, plan, [&](Tensor tokens) { return run(tokens); });
    case TextTask::kSpan:
      return RunSpan(root, plan, [&](Tensor tokens) { return run(tokens); });
  }
}

template <const BertKind& kKind>
void BuildHeadFirst(Net& net) {
  const BertConfig c = ReadBert(net.config, kKind);
  EncoderPlan plan = PlanOf(c, "roberta");
  plan.alone = Pooling::kFirst;
  if (TaskOf(net) == TextTask::kNone) {
    return BuildEncoder<BertModel, WordHead, ClassHead>(net, c, plan);
  }
  RefuseOddEncoders(net.config);
  BuildBehindHead(Layer(net), c, plan);
}

constexpr std::array<std::string_view, 6> kHeads{"Model",
                                                 "ForMaskedLM",
                                                 "ForCausalLM",
                                                 "ForSequenceClassification",
                                                 "ForTokenClassification",
                                                 "ForQuestionAnswering"};

}  // namespace

const Architecture kRoberta{.type = "roberta",
                            .prefix = "Roberta",
                            .summary = "RoBERTa",
                            .heads = kHeads,
                            .build = Build,
                            .flash = true};
const Architecture kXlmRoberta{.type = "xlm-roberta",
                               .prefix = "XLMRoberta",
                               .summary = "XLM-RoBERTa",
                               .heads = kHeads,
                               .build = BuildHeadFirst<kXlmRobertaKind>,
                               .flash = true};
const Architecture kCamembert{.type = "camembert",
                              .prefix = "Camembert",
                              .summary = "CamemBERT",
                              .heads = kHeads,
                              .build = BuildHeadFirst<kCamembertKind>,
                              .flash = true};

}  // namespace steelyard::models
