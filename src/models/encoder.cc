// SPDX-License-Identifier: Apache-2.0
#include "models/encoder.h"

namespace steelyard::models {

Tensor FirstToken(const Net& net, Tensor hidden) {
  return net.b.Call("aten::select.int", hidden, 1, 0);
}

void RefuseOddEncoders(const Settings& config) {
  RefuseCrossAttention(config);
  if (config.Count("chunk_size_feed_forward", 0) != 0) {
    config.Refuse("chunk_size_feed_forward", "feed-forward layers in chunks are not built");
  }
  const std::string places = config.Text("position_embedding_type", "absolute");
  if (places != "absolute") {
    config.Refuse("position_embedding_type",
                  "positions of the kind \"" + places + "\" are not built, nor by transformers 5");
  }
}

void ReturnEncoded(Net& net, const Encoded& encoded) {
  net.b.Return(encoded.hidden);
  if (encoded.pooled.defined()) net.b.Return(encoded.pooled);
}

void ReturnWords(Net& net, Tensor logits, Tensor labels, std::int64_t vocabulary) {
  if (TaskOf(net) == TextTask::kNextToken) {
    return ReturnNextToken(net, logits, labels, vocabulary);
  }
  ReturnTokenClasses(net, logits, labels, vocabulary, false);
}

void RunTokenClasses(const Layer& root, const EncoderPlan& plan,
                     const std::function<Encoded(Tensor tokens)>& model) {
  Net& net = root.net();
  const std::int64_t classes = LabelCount(net.config);
  const Dropout dropout(root, "dropout", plan.token_dropout);
  const Linear classifier(root, "classifier", plan.hidden, classes);
  const Tensor tokens = TokenInput(net, plan.positions);
  const TextLabels labels = LabelInputs(net, TextTask::kTokenClass, classes);
  const Tensor logits = classifier(dropout(model(tokens).hidden));
  ReturnTokenClasses(net, logits, labels.first, classes, false);
}

void RunSpan(const Layer& root, const EncoderPlan& plan,
             const std::function<Encoded(Tensor tokens)>& model) {
  Net& net = root.net();
  const std::int64_t classes = LabelCount(net.config);
  if (classes != 2) net.config.Refuse("id2label", "spans have two labels: start and end");
  const Linear edges(root, "qa_outputs", plan.hidden, classes);
  const Dropout dropout(root, "dropout", plan.span_dropout.value_or(0.0));
  const Tensor tokens = TokenInput(net, plan.positions);
  const TextLabels labels = LabelInputs(net, TextTask::kSpan, classes);
  const Tensor hidden = model(tokens).hidden;
  ReturnSpan(net, edges(plan.span_dropout ? dropout(hidden) : hidden), labels.first, labels.second);
}

}  // namespace steelyard::models
