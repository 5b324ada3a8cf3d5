// SPDX-License-Identifier: Apache-2.0
//
// The heads that transformers puts on a model that reads text from left to right
// (modeling_layers.py and what the older models write themselves).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "models/text.h"

namespace steelyard::models {

// What most models of text have.
inline constexpr std::array<std::string_view, 5> kTextHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification",
    "ForQuestionAnswering"};

enum class TextTask : std::uint8_t {
  kNone,
  kNextToken,
  kMaskedToken,
  kSequenceClass,
  kTokenClass,
  kSpan,
};

// What is asked of a model by the head that its config names.
TextTask TaskOf(const Net& net);

// How many classes a config tells apart: the labels that it names, else two.
std::int64_t LabelCount(const Settings& config);

// What a model with that head is trained with, as inputs; nothing unless it takes labels.
struct TextLabels {
  Tensor first = {}, second = {};  // the second: where spans end
};
TextLabels LabelInputs(Net& net, TextTask task, std::int64_t classes);

// The loss of what the head found, where there are labels, and the logits.
void ReturnSequenceClass(Net& net, Tensor logits, Tensor labels, std::int64_t classes);
// `wide`: found from logits in float32.
void ReturnTokenClasses(Net& net, Tensor logits, Tensor labels, std::int64_t classes, bool wide);
void ReturnSpan(Net& net, Tensor logits, Tensor starts, Tensor ends);

// What the heads of an architecture know of it.
struct HeadPlan {
  std::int64_t hidden = 1, vocabulary = 1, positions = 1;
  bool tied = false;
  // Of the next token's logits: a limit, and what they are divided by or multiplied with.
  std::optional<double> softcap = {};
  std::optional<double> divisor = {}, factor = {};
  Bias next_token_bias = Bias::kNone;
  double dropout = 0.1;  // before classes of tokens
  // What the heads name the model below and their own layers.
  std::string_view base = "model";
  std::string_view span_base = "model";
  std::string_view next_token = "lm_head";
  std::string_view token_class = "score";
  // Whether float32 logits are what classes of tokens are found from.
  bool wide_tokens = true;
};

// The name of the model under its head; empty where it stands alone.
std::string_view BaseName(const Net& net, const HeadPlan& plan);

class TextHead {
 public:
  // `embedding` is the weight that a tied head uses.
  TextHead(const Layer& root, const HeadPlan& plan, Tensor embedding);
  // Adds the inputs, calls the model with its tokens and returns what the head makes of it; `add`
  // adds to the loss of the next token.
  void Run(Net& net, const std::function<Tensor(Tensor tokens)>& model,
           const AddToLoss& add = {}) const;

 private:
  Tensor Logits(const Net& net, Tensor hidden) const;
  void WriteToken(Net& net, Tensor hidden) const;

  TextTask task_;
  HeadPlan plan_;
  std::int64_t classes_ = 2;
  std::optional<Dropout> dropout_;
  std::optional<Linear> output_;
};

// The model of a config with its head. `Model` is made of a parent, its name and the config, and
// has the embedding of tokens as `embed`.
template <class Model, class Config>
void BuildText(Net& net, const Config& config, const HeadPlan& plan) {
  const Layer root(net);
  const Model model(root, BaseName(net, plan), config);
  const TextHead head(root, plan, model.embed.weight);
  head.Run(net, [&](Tensor tokens) { return model(tokens); });
}

}  // namespace steelyard::models
