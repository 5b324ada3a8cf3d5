// SPDX-License-Identifier: Apache-2.0
//
// What models share that read a text from both sides: BERT and those after it. Their heads differ
// in names and in what stands before the last layer; what surrounds them is written here once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/heads.h"

namespace steelyard::models {

// What such a model makes of tokens.
struct Encoded {
  Tensor hidden;       // of [batch, seq, hidden]
  Tensor pooled = {};  // of [batch, hidden], where the model pools
};
enum class Pooling : std::uint8_t { kNone, kFirst };

struct EncoderPlan {
  std::string_view base;  // the name of the model under its head
  std::int64_t hidden = 1, vocabulary = 1, positions = 1;
  double token_dropout = 0.0;               // before classes of tokens
  std::optional<double> span_dropout = {};  // before spans
  Pooling alone = Pooling::kNone;           // of the model without a head
  Pooling classified = Pooling::kNone;      // of the model that tells sequences apart
};

// Each of the tokens of [batch, seq, hidden] that stands first: [batch, hidden].
Tensor FirstToken(const Net& net, Tensor hidden);

// Refuses what configs of these models ask for and transformers 5 does not build or builds in
// another way.
void RefuseOddEncoders(const Settings& config);

void ReturnEncoded(Net& net, const Encoded& encoded);
// Logits of each token's number, with the loss of that token or of the next.
void ReturnWords(Net& net, Tensor logits, Tensor labels, std::int64_t vocabulary);

// A layer over tokens that tells classes of them apart, or where spans start and end.
void RunTokenClasses(const Layer& root, const EncoderPlan& plan,
                     const std::function<Encoded(Tensor tokens)>& model);
void RunSpan(const Layer& root, const EncoderPlan& plan,
             const std::function<Encoded(Tensor tokens)>& model);

// The model of a config with its head. `Model` is made of a parent, its name, the config and
// whether it pools, and tells its embedding of tokens by `words()`; `WordHead` of the root, the
// config and that embedding; `ClassHead` of the root, the config and the count of classes.
template <class Model, class WordHead, class ClassHead, class Config>
void BuildEncoder(Net& net, const Config& config, const EncoderPlan& plan) {
  RefuseOddEncoders(net.config);
  const Layer root(net);
  const TextTask task = TaskOf(net);
  const std::int64_t classes = LabelCount(net.config);
  const Pooling pooling = task == TextTask::kSequenceClass ? plan.classified
                          : task == TextTask::kNone        ? plan.alone
                                                           : Pooling::kNone;
  const Model model(root, task == TextTask::kNone ? "" : plan.base, config, pooling);
  const auto run = [&](Tensor tokens) { return model(tokens); };
  switch (task) {
    case TextTask::kNone:
      return ReturnEncoded(net, model(TokenInput(net, plan.positions)));
    case TextTask::kNextToken:
    case TextTask::kMaskedToken: {
      const WordHead head(root, config, model.words());
      const Tensor tokens = TokenInput(net, plan.positions);
      const Tensor labels = TokenLabels(net);
      return ReturnWords(net, head(model(tokens).hidden), labels, plan.vocabulary);
    }
    case TextTask::kSequenceClass: {
      const ClassHead head(root, config, classes);
      const Tensor tokens = TokenInput(net, plan.positions);
      const TextLabels labels = LabelInputs(net, task, classes);
      return ReturnSequenceClass(net, head(model(tokens)), labels.first, classes);
    }
    case TextTask::kTokenClass:
      return RunTokenClasses(root, plan, run);
    case TextTask::kSpan:
      return RunSpan(root, plan, run);
  }
}

}  // namespace steelyard::models
