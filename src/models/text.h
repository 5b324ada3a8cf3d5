// SPDX-License-Identifier: Apache-2.0
//
// What models of text share: positions, masks, rotary embeddings, attention and losses, as
// transformers writes them while torch.export traces it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "models/cache.h"
#include "models/layers.h"

namespace steelyard::models {

// input_ids of [batch, seq], both symbolic; `max_seq` is what the model has positions for.
Tensor TokenInput(Net& net, std::int64_t max_seq);
// Labels of [batch, seq], where the model takes them.
Tensor TokenLabels(Net& net);

// arange(seq) as [1, seq], from what it has seen on: position_ids that nobody passed.
Tensor Positions(const Net& net);

// torch.finfo(dtype).min: what hides a score.
double LeastOf(DType dtype);

// A mask of [batch, 1, seq, seq] by which a token sees those before it and of the same packed
// sequence; with `window`, at most so many of them. Bool for sdpa, added for eager attention.
Tensor CausalMask(const Net& net, Tensor positions, std::optional<std::int64_t> window = {});

// The same of models that are not given positions: a token sees all those before it, or so many.
Tensor CausalMask(const Net& net);
Tensor NearCausalMask(const Net& net, std::int64_t window);
// In a call of a generation: of [batch, 1, seq, keys], for layers that keep so much of what they
// have seen, through `window`. None where sdpa needs none (_ignore_causal_mask_sdpa).
Tensor MaskOfStep(const Net& net, const CacheLayer& layer, std::optional<std::int64_t> window = {});
// Of [batch, 1, seq, seq]: each sees each.
Tensor FullMask(const Net& net, Builder::Size seq);
// The same: each sees those that are at most so far away, behind and before it.
Tensor NearMask(const Net& net, std::int64_t distance);
// Which of a config's layers see only those near them: as "layer_types" names them, else as a rule
// has it.
std::vector<bool> NearLayers(const Settings& c, std::int64_t layers,
                             const std::function<bool(std::int64_t layer)>& rule);
// Of [batch, 1, seq, keys]: each sees each of another sequence.
Tensor CrossMask(const Net& net, Builder::Size keys);

struct Rotary {
  Tensor cos, sin;  // of [1, seq, head]
};

// Refuses frequencies that are not found once, before the model is called.
void CheckRotary(const Settings& c);
// As much of a head of `width` as "partial_rotary_factor" says, or `key`, as configs call it that
// were written by an older transformers.
std::int64_t RotatedWidth(const Settings& c, std::int64_t width, std::string_view key,
                          double missing);
// Refuses a model that reads what another one gives.
void RefuseCrossAttention(const Settings& c);

// Which numbers of a head are turned together: those of its halves, or neighbours; in float32 where
// cosines and sines stay so wide, or queries and keys are made so, or both of these. One cosine and
// sine serves both halves where they are not doubled.
enum class RotaryForm : std::uint8_t {
  kHalves,
  kWideHalves,
  kNeighbours,
  kWideNeighbours,
  kAllWideNeighbours,
  kChunks
};

// LlamaRotaryEmbedding and its likes: frequencies from a buffer of half the rotated width. Where
// layers have kinds with frequencies of their own, the names of the buffers begin with the kind.
struct RotaryEmbedding : Layer {
  RotaryEmbedding(const Layer& parent, std::string_view name, std::string_view class_name,
                  std::int64_t width, const std::vector<std::string_view>& kinds = {""},
                  RotaryForm form = RotaryForm::kHalves);
  Rotary operator()(Tensor positions, std::size_t kind = 0) const;
  std::vector<Tensor> frequencies;
  RotaryForm form;

 private:
  Tensor Doubled(Tensor angles) const;
};

struct Heads {
  std::int64_t query = 1, key = 1, width = 1;
  double scale() const;  // of scores: 1 / sqrt(width)
};
// As many heads of keys as of queries, which part a width between them. Refuses counts that do not.
struct HeadCount {
  std::int64_t hidden = 1;
  std::string_view hidden_key;  // of the config
  std::string_view key;
  std::int64_t missing = 1;
};
Heads HeadsOf(const Settings& config, const HeadCount& count);

// [batch, seq, heads * width] as [batch, heads, seq, width], where `seq` may be another length.
Tensor SplitHeads(const Net& net, Tensor x, std::int64_t width, Dim seq);
// rotate_half of heads.
Tensor HalfTurned(const Net& net, Tensor x, std::int64_t width);
// apply_rotary_pos_emb of one tensor of heads.
Tensor Rotate(const Net& net, Tensor x, std::int64_t width, Tensor cos, Tensor sin);
// The same where halves are not put together first.
Tensor RotateChunks(const Net& net, Tensor x, Tensor cos, Tensor sin);
// Of each two neighbours, the second with the other sign and then the first.
Tensor NeighboursChanged(const Net& net, Tensor x);
// apply_rotary_pos_emb of neighbours.
Tensor RotateNeighbours(const Net& net, Tensor x, Tensor cos, Tensor sin);
// The same of several tensors, where only the first `width` of a head are turned.
struct RotatedPart {
  std::int64_t width = 0;    // as many
  std::int64_t of = 0;       // of so many
  bool joined_last = false;  // with their rest, when all are turned
  bool neighbours = false;
};
std::vector<Tensor> RotateParts(const Net& net, const std::vector<Tensor>& heads,
                                const RotatedPart& part, Tensor cos, Tensor sin);

struct AttentionCall {
  Tensor query = {}, key = {}, value = {};  // of [batch, heads, seq, width]
  Tensor mask = {};
  Tensor bias = {};  // added to the scores of bool masks' tokens: T5's, by their distance
  Heads heads;
  double scale = 1.0;
  double dropout = 0.0;  // while it trains
  bool causal = false;   // sdpa without a mask
  // Of flash attention, which takes no mask: a token sees those before it, or so many of them.
  bool backwards = false;
  std::optional<std::int64_t> window = {};
  std::optional<std::int64_t> value_width = {};  // where it is not that of keys
  // Of eager attention.
  Tensor sinks = {};                   // a further score for each head, of nothing
  std::optional<double> softcap = {};  // of its scores
  bool wide_softmax = true;
  bool contiguous = true;
};
// transformers' attention interface: [batch, seq, heads, width], contiguous.
Tensor Attend(const Net& net, const AttentionCall& call);
// The same in a call of a generation, with the weights, which eager attention returns.
struct Attended {
  Tensor out = {}, weights = {};
};
struct StepSizes {
  std::int64_t keys = 1;  // that attention is given
  std::int64_t key_width = 1, value_width = 1;
};
Attended AttendInStep(const Net& net, const AttentionCall& call, const StepSizes& sizes);
// The same in a call of a generation or any other, of heads that are all as wide.
Attended AttendInCall(const Net& net, const AttentionCall& call, const CacheLayer& layer);

// The same of a layer's three projections of `x`, which it puts in the call: [batch, seq, width].
struct Projections {
  const Linear &query, &key, &value;
};
Tensor AttendToSelf(const Net& net, const Projections& of, Tensor x, AttentionCall call);

// What else a model returns before its logits: it is given the loss, if there is one, and gives it
// back first.
using AddToLoss = std::function<std::vector<Tensor>(Tensor loss)>;
// Logits of [batch, seq, vocabulary] and, with labels, the loss of the next token before them.
void ReturnNextToken(Net& net, Tensor logits, Tensor labels, std::int64_t vocabulary,
                     const AddToLoss& add = {});
// The same with the loss of each token itself.
void ReturnTokens(Net& net, Tensor logits, Tensor labels, std::int64_t classes);

}  // namespace steelyard::models
