// SPDX-License-Identifier: Apache-2.0
//
// The name of a class ends with its head, which decides inputs, last layer and loss; of whole
// sequences `problem_type` decides the loss, as in transformers. A sequence is classified by its
// last token that is not padding. A generation computes the scores of its last token, unless all
// are asked for.

#include "models/heads.h"

#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace steelyard::models {
namespace {

enum class ClassLoss : std::uint8_t { kOne, kMany, kNumbers };

constexpr std::array kTasks{
    std::pair<std::string_view, TextTask>{"ForCausalLM", TextTask::kNextToken},
    std::pair<std::string_view, TextTask>{"LMHeadModel", TextTask::kNextToken},
    std::pair<std::string_view, TextTask>{"ForMaskedLM", TextTask::kMaskedToken},
    std::pair<std::string_view, TextTask>{"ForSequenceClassification", TextTask::kSequenceClass},
    std::pair<std::string_view, TextTask>{"ForTokenClassification", TextTask::kTokenClass},
    std::pair<std::string_view, TextTask>{"ForQuestionAnswering", TextTask::kSpan},
};

// The logits of each sequence's last token that is not padding.
Tensor LastOfSequence(const Net& net, Tensor tokens, Tensor logits) {
  Builder& b = net.b;
  if (!net.config.Has("pad_token_id")) {
    net.config.Refuse("pad_token_id",
                      "sequences of a batch are classified by it, and it is not set",
                      "Any token of the vocabulary serves.");
  }
  const std::int64_t padding = net.config.Count("pad_token_id", 0);
  Tensor seen = b.Call("aten::ne.Scalar", tokens, padding);
  seen = b.Call("aten::to.dtype", seen, DType::kInt32);
  Tensor line = b.Call("aten::arange", net.seq, Builder::Named("dtype", DType::kInt32));
  line = b.Call("aten::mul.Tensor", line, seen);
  const Tensor last = b.Call("aten::argmax", line, -1);
  const Tensor each = b.Call("aten::arange", net.batch);
  return b.Call("aten::index.Tensor", logits, std::vector<Tensor>{each, last});
}

ClassLoss ClassLossOf(const Settings& config, std::int64_t classes) {
  const std::string type = config.Text("problem_type", "");
  if (type == "multi_label_classification") return ClassLoss::kMany;
  if (type == "regression" || (type.empty() && classes == 1)) return ClassLoss::kNumbers;
  return ClassLoss::kOne;
}

// The logits of where an answer starts, or of where it ends.
Tensor EdgeLogits(const Net& net, Tensor column) {
  return net.b.Call("aten::contiguous", net.b.Call("aten::squeeze.dim", column, -1));
}

}  // namespace

void ReturnSequenceClass(Net& net, Tensor logits, Tensor labels, std::int64_t classes) {
  Builder& b = net.b;
  if (!labels.defined()) return b.Return(logits);
  Tensor loss;
  switch (ClassLossOf(net.config, classes)) {
    case ClassLoss::kOne: {
      const Tensor flat = b.Call("aten::view", logits, Shape{-1, classes});
      loss = b.Call("aten::cross_entropy_loss", flat, b.Call("aten::view", labels, Shape{-1}));
      break;
    }
    case ClassLoss::kMany:
      loss = b.Call("aten::binary_cross_entropy_with_logits", logits, labels);
      break;
    case ClassLoss::kNumbers: {
      const bool single = classes == 1;
      const Tensor found = single ? b.Call("aten::squeeze", logits) : logits;
      loss = b.Call("aten::mse_loss", found, single ? b.Call("aten::squeeze", labels) : labels);
      break;
    }
  }
  b.Return(loss);
  b.Return(logits);
}

void ReturnTokenClasses(Net& net, Tensor logits, Tensor labels, std::int64_t classes, bool wide) {
  Builder& b = net.b;
  if (!labels.defined()) return b.Return(logits);
  Tensor flat = b.Call("aten::view", logits, Shape{-1, classes});
  const Tensor targets = b.Call("aten::view", labels, Shape{-1});
  if (wide) flat = Cast(net, flat, net.dtype(), DType::kFloat32);
  b.Return(b.Call("aten::cross_entropy_loss", flat, targets));
  b.Return(logits);
}

void ReturnSpan(Net& net, Tensor logits, Tensor starts, Tensor ends) {
  Builder& b = net.b;
  const std::vector<Tensor> columns = b.CallMany("aten::split.Tensor", 2, logits, 1, -1);
  const Tensor first = EdgeLogits(net, columns[0]);
  const Tensor last = EdgeLogits(net, columns[1]);
  if (starts.defined()) {
    starts = b.Call("aten::clamp", starts, 0, net.seq);
    ends = b.Call("aten::clamp", ends, 0, net.seq);
    const auto loss = [&](Tensor edge, Tensor target) {
      return b.Call("aten::cross_entropy_loss", edge, target, std::nullopt, 1, net.seq);
    };
    const Tensor of_start = loss(first, starts);
    const Tensor both = b.Call("aten::add.Tensor", of_start, loss(last, ends));
    b.Return(b.Call("aten::div.Tensor", both, 2));
  }
  b.Return(first);
  b.Return(last);
}

TextTask TaskOf(const Net& net) {
  for (const auto& [name, task] : kTasks) {
    if (net.options.head.ends_with(name)) return task;
  }
  return TextTask::kNone;
}

std::int64_t LabelCount(const Settings& config) {
  if (config.Has("id2label")) return config.Members("id2label");
  return config.Count("num_labels", 2);
}

std::string_view BaseName(const Net& net, const HeadPlan& plan) {
  switch (TaskOf(net)) {
    case TextTask::kNone:
      return "";
    case TextTask::kSpan:
      return plan.span_base;
    case TextTask::kNextToken:
    case TextTask::kMaskedToken:
    case TextTask::kSequenceClass:
    case TextTask::kTokenClass:
      return plan.base;
  }
  return "";
}

TextLabels LabelInputs(Net& net, TextTask task, std::int64_t classes) {
  if (!net.options.labelled) return {};
  Builder& b = net.b;
  switch (task) {
    case TextTask::kNone:
      return {};
    case TextTask::kNextToken:
    case TextTask::kMaskedToken:
    case TextTask::kTokenClass:
      return {.first = TokenLabels(net)};
    case TextTask::kSequenceClass:
      switch (ClassLossOf(net.config, classes)) {
        case ClassLoss::kOne:
          return {.first = b.Input("labels", DType::kInt64, {net.batch})};
        case ClassLoss::kMany:
          return {.first = b.Input("labels", net.dtype(), {net.batch, classes})};
        case ClassLoss::kNumbers:
          return {.first = classes == 1 ? b.Input("labels", net.dtype(), {net.batch})
                                        : b.Input("labels", net.dtype(), {net.batch, classes})};
      }
      return {};
    case TextTask::kSpan: {
      const Tensor starts = b.Input("start_positions", DType::kInt64, {net.batch});
      return {.first = starts, .second = b.Input("end_positions", DType::kInt64, {net.batch})};
    }
  }
  return {};
}

TextHead::TextHead(const Layer& root, const HeadPlan& plan, Tensor embedding)
    : task_(TaskOf(root.net())), plan_(plan), classes_(LabelCount(root.net().config)) {
  switch (task_) {
    case TextTask::kNone:
    case TextTask::kMaskedToken:  // which no model that reads from left to right has
      break;
    case TextTask::kNextToken:
      if (plan.next_token_bias == Bias::kOne) {
        const Linear::Ties ties{.weight = plan.tied ? embedding : Tensor()};
        output_.emplace(root, plan.next_token, plan.hidden, plan.vocabulary, ties);
      } else if (plan.tied) {
        output_.emplace(root, plan.next_token, embedding);
      } else {
        output_.emplace(root, plan.next_token, plan.hidden, plan.vocabulary, Bias::kNone);
      }
      break;
    case TextTask::kSequenceClass:
      output_.emplace(root, "score", plan.hidden, classes_, Bias::kNone);
      break;
    case TextTask::kTokenClass:
      dropout_.emplace(root, "dropout", plan.dropout);
      output_.emplace(root, plan.token_class, plan.hidden, classes_);
      break;
    case TextTask::kSpan:
      output_.emplace(root, "qa_outputs", plan.hidden, 2);
      break;
  }
}

Tensor TextHead::Logits(const Net& net, Tensor hidden) const {
  Tensor logits = (*output_)(dropout_ ? (*dropout_)(hidden) : hidden);
  if (task_ != TextTask::kNextToken) return logits;
  if (plan_.divisor) logits = net.b.Call("aten::div.Tensor", logits, *plan_.divisor);
  if (plan_.factor) logits = net.b.Call("aten::mul.Tensor", logits, *plan_.factor);
  if (plan_.softcap) {
    logits = net.b.Call("aten::div.Tensor", logits, *plan_.softcap);
    logits = net.b.Call("aten::tanh", logits);
    logits = net.b.Call("aten::mul.Tensor", logits, *plan_.softcap);
  }
  return logits;
}

// With logits_to_keep=1, as generate() calls it: what follows the last token.
void TextHead::WriteToken(Net& net, Tensor hidden) const {
  const CacheStep& step = *net.options.cache;
  if (task_ == TextTask::kNone && step.every) {
    net.b.Return(hidden);
    return KeepCaches(net);
  }
  if (task_ != TextTask::kNextToken) {
    return net.config.Refuse("architectures", "a " + net.options.head + " writes no text",
                             "Generation is of models for causal language modelling.");
  }
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const Tensor last = net.b.Call("aten::slice.Tensor", hidden, 1, step.every ? 0 : -1, kEnd);
  const Tensor logits = Logits(net, last);
  Leave(net, {last, hidden});
  // A search for beams lets the logits go before it reorders the caches.
  step.reorders ? Leave(net, {logits}) : net.b.Return(logits);
  KeepCaches(net);
}

void TextHead::Run(Net& net, const std::function<Tensor(Tensor tokens)>& model,
                   const AddToLoss& add) const {
  const Tensor tokens = TokenInput(net, plan_.positions);
  const TextLabels labels = LabelInputs(net, task_, classes_);
  const Tensor hidden = model(tokens);
  if (Generates(net)) return WriteToken(net, hidden);
  if (task_ == TextTask::kNone) return net.b.Return(hidden);
  const Tensor logits = Logits(net, hidden);
  switch (task_) {
    case TextTask::kNone:
    case TextTask::kMaskedToken:
      return;
    case TextTask::kNextToken:
      return ReturnNextToken(net, logits, labels.first, plan_.vocabulary, add);
    case TextTask::kSequenceClass:
      return ReturnSequenceClass(net, LastOfSequence(net, tokens, logits), labels.first, classes_);
    case TextTask::kTokenClass:
      return ReturnTokenClasses(net, logits, labels.first, classes_, plan_.wide_tokens);
    case TextTask::kSpan:
      return ReturnSpan(net, logits, labels.first, labels.second);
  }
}

}  // namespace steelyard::models
