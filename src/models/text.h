// SPDX-License-Identifier: Apache-2.0
//
// What models of text share: positions, masks, rotary embeddings, attention and losses, as
// transformers writes them while torch.export traces it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "models/layers.h"

namespace steelyard::models {

// input_ids of [batch, seq], both symbolic; `max_seq` is what the model has positions for.
Tensor TokenInput(Net& net, std::int64_t max_seq);
// Labels of [batch, seq], where the model takes them.
Tensor TokenLabels(Net& net);

// arange(seq) as [1, seq]: position_ids that nobody passed.
Tensor Positions(const Net& net);

// A mask of [batch, 1, seq, seq] by which a token sees those before it and of the same packed
// sequence; with `window`, at most so many of them. Bool for sdpa, added for eager attention.
Tensor CausalMask(const Net& net, Tensor positions, std::optional<std::int64_t> window = {});

struct Rotary {
  Tensor cos, sin;  // of [1, seq, head]
};

// LlamaRotaryEmbedding and its likes: frequencies from a buffer of half the rotated width.
struct RotaryEmbedding : Layer {
  RotaryEmbedding(const Layer& parent, std::string_view name, std::string_view class_name,
                  std::int64_t width);
  Rotary operator()(Tensor positions) const;
  Tensor frequencies;
};

struct Heads {
  std::int64_t query = 1, key = 1, width = 1;
};

// [batch, seq, heads * width] as [batch, heads, seq, width], where `seq` may be another length.
Tensor SplitHeads(const Net& net, Tensor x, std::int64_t width, Dim seq);
// apply_rotary_pos_emb of one tensor of heads.
Tensor Rotate(const Net& net, Tensor x, std::int64_t width, Tensor cos, Tensor sin);

struct AttentionCall {
  Tensor query, key, value;  // of [batch, heads, seq, width]
  Tensor mask = {};
  Heads heads;
  double scale = 1.0;
  double dropout = 0.0;  // while it trains
  bool causal = false;   // sdpa without a mask
  // Of eager attention.
  double softcap = 0.0;  // of its scores; 0: none
  bool wide_softmax = true;
  bool contiguous = true;
};
// transformers' attention interface: [batch, seq, heads, width], contiguous.
Tensor Attend(const Net& net, const AttentionCall& call);

// Logits of [batch, seq, vocabulary] and, with labels, the loss of the next token before them, to
// which `extra` may add.
void ReturnNextToken(Net& net, Tensor logits, Tensor labels, std::int64_t vocabulary,
                     const std::function<Tensor(Tensor loss)>& extra = {});
// The same with the loss of each token itself.
void ReturnTokens(Net& net, Tensor logits, Tensor labels, std::int64_t classes);

}  // namespace steelyard::models
