// SPDX-License-Identifier: Apache-2.0
//
// Attention, and what ONNX Runtime's optimizer makes of it (com.microsoft, docs/ContribOperators.md
// of onnxruntime), taken apart as the models did that it was fused of.
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

// --- Heads --------------------------------------------------------------------------------------

// [batch, steps, heads * width] as [batch, heads, steps, width].
struct Heads {
  Tensor tensor;
  Shape shape;
};

Heads Apart(Call& call, Tensor x, const Shape& from, std::int64_t heads) {
  if (heads <= 0) Call::GiveUp("no number of heads");
  const Dim width = call.sizes().Quotient(from.at(from.size() - 1), Dim(heads));
  const Tensor split =
      call.Emit("aten::reshape", x, Builder::Shape{from[0], from[1], heads, width});
  return {call.Emit("aten::transpose.int", split, 1, 2), {from[0], Dim(heads), from[1], width}};
}

Heads HeadsOf(Call& call, std::size_t operand, std::int64_t heads) {
  if (call.rank(operand) == 4) return {call.tensor(operand), call.shape(operand)};
  if (call.rank(operand) != 3) Call::GiveUp("operands of another rank");
  return Apart(call, call.tensor(operand), call.shape(operand), heads);
}

// After what a cache holds.
Heads After(Call& call, std::size_t past, const Heads& now) {
  if (!call.has(past)) return now;
  Heads out{call.Emit("aten::cat", std::vector<Tensor>{call.tensor(past), now.tensor}, 2),
            now.shape};
  out.shape[2] = call.sizes().Sum(call.shape(past).at(2), now.shape[2]);
  return out;
}

// --- Masks --------------------------------------------------------------------------------------

// Which scores count: booleans, or numbers that are added to them. None: all do.
struct Mask {
  Tensor tensor = {};
  bool added = false;
};

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// Where `allowed` is true besides.
void Restrict(Call& call, Tensor allowed, Mask& mask) {
  if (!mask.tensor.defined()) {
    mask = {.tensor = allowed};
  } else if (mask.added) {
    const Tensor hidden = call.Emit("aten::logical_not", allowed);
    mask.tensor = call.Emit("aten::masked_fill.Scalar", mask.tensor, hidden, kHidden);
  } else {
    mask.tensor = call.Emit("aten::logical_and", mask.tensor, allowed);
  }
}

// Of [steps, keys], what `op` keeps of all from a diagonal on.
Tensor Triangle(Call& call, std::string_view op, const Shape& sizes, Dim diagonal) {
  const Tensor all = call.Emit("aten::ones", ToSizes(sizes), Builder::Named("dtype", DType::kBool));
  return call.Emit(op, all, diagonal);
}

// Keys that a step sees, counted from its own; -1: no bound.
struct Reach {
  std::int64_t back = -1, ahead = -1;
};

// The keys that the padded cache of each sample holds, and of them those within reach.
void RestrictToCache(Call& call, const Shape& sizes, const Reach& reach, Mask& mask) {
  const Tensor keys = call.Emit("aten::arange", sizes[1]);
  const Tensor held = call.Emit("aten::reshape", call.tensor(6), Builder::Shape{-1, 1, 1, 1});
  Restrict(call, call.Emit("aten::lt.Tensor", keys, held), mask);
  if (reach.back < 0 && reach.ahead < 0) return;
  const Tensor steps =
      call.Emit("aten::reshape", call.Emit("aten::arange", sizes[0]), Builder::Shape{-1, 1});
  const Tensor before = call.Emit("aten::sub.Tensor", held, sizes[0]);
  const Tensor own = call.Emit("aten::add.Tensor", before, steps);
  if (reach.ahead >= 0) {
    const Tensor last = call.Emit("aten::add.Tensor", own, reach.ahead);
    Restrict(call, call.Emit("aten::le.Tensor", keys, last), mask);
  }
  if (reach.back >= 0) {
    const Tensor first = call.Emit("aten::sub.Tensor", own, reach.back);
    Restrict(call, call.Emit("aten::ge.Tensor", keys, first), mask);
  }
}

// The same of a cache that is full, of `past` keys before the steps.
void RestrictToReach(Call& call, const Shape& sizes, const Reach& reach, Dim past, Mask& mask) {
  if (reach.ahead >= 0) {
    const Dim last = call.sizes().Sum(past, Dim(reach.ahead));
    Restrict(call, Triangle(call, "aten::tril", sizes, last), mask);
  }
  if (reach.back >= 0) {
    const Dim first = call.sizes().Difference(past, Dim(reach.back));
    Restrict(call, Triangle(call, "aten::triu", sizes, first), mask);
  }
}

// The operand, filled up where it is shorter than there are keys.
Mask GivenMask(Call& call, std::size_t operand, Dim keys) {
  if (!call.has(operand)) return {};
  const bool added = call.dtype(operand) != DType::kBool;
  Tensor mask = call.tensor(operand);
  const Shape& shape = call.shape(operand);
  if (!shape.empty() && shape.back().is_number() && keys.is_number() && shape.back() != Dim(1) &&
      shape.back().number() < keys.number()) {
    const Builder::Shape pads{0, keys.number() - shape.back().number()};
    mask = call.Emit("aten::constant_pad_nd", mask, pads, added ? kHidden : 0.0);
  }
  return {.tensor = mask, .added = added};
}

// --- Scores -------------------------------------------------------------------------------------

struct AttentionOptions {
  Mask mask = {};
  bool causal = false;
  double scale = 0;    // 0: by the width of a head
  double softcap = 0;  // 0: scores are not limited
};

Tensor Attended(Call& call, const Heads& q, const Heads& k, const Heads& v,
                const AttentionOptions& how) {
  const Builder::Arg scale = how.scale == 0 ? Builder::Arg(std::nullopt) : Builder::Arg(how.scale);
  return call.Emit("aten::scaled_dot_product_attention", q.tensor, k.tensor, v.tensor,
                   how.mask.tensor, 0.0, how.causal, Builder::Named("scale", scale),
                   Builder::Named("enable_gqa", q.shape[1] != k.shape[1]));
}

// A head of keys or values for each of the queries'.
Tensor ForEachQuery(Call& call, const Heads& of, const Heads& q) {
  if (of.shape[1] == q.shape[1]) return of.tensor;
  const Dim times = call.sizes().Quotient(q.shape[1], of.shape[1]);
  return call.Emit("aten::repeat_interleave.self_int", of.tensor, times, 1);
}

struct WrittenOut {
  Tensor out = {};
  std::vector<Tensor> scores;  // products, masked, limited, as shares
};

// What the fused operator does not do: scores that are limited or wanted.
WrittenOut Attend(Call& call, const Heads& q, const Heads& k, const Heads& v,
                  const AttentionOptions& how) {
  const Dim width = q.shape[3];
  if (how.scale == 0 && !width.is_number()) Call::GiveUp("heads of a symbolic width");
  const double scale =
      how.scale != 0 ? how.scale : 1 / std::sqrt(static_cast<double>(width.number()));
  const Tensor turned = call.Emit("aten::transpose.int", ForEachQuery(call, k, q), -2, -1);
  Tensor scores = call.Emit("aten::matmul", call.Emit("aten::mul.Tensor", q.tensor, scale), turned);
  WrittenOut out{.scores = {scores}};
  Mask mask = how.mask;
  if (how.causal) {
    Restrict(call, Triangle(call, "aten::tril", {q.shape[2], k.shape[2]}, Dim(0)), mask);
  }
  if (mask.added) {
    scores = call.Emit("aten::add.Tensor", scores, mask.tensor);
  } else if (mask.tensor.defined()) {
    const Tensor hidden = call.Emit("aten::logical_not", mask.tensor);
    scores = call.Emit("aten::masked_fill.Scalar", scores, hidden, kHidden);
  }
  out.scores.push_back(scores);
  if (how.softcap != 0) {
    scores = call.Emit("aten::tanh", call.Emit("aten::div.Tensor", scores, how.softcap));
    scores = call.Emit("aten::mul.Tensor", scores, how.softcap);
  }
  out.scores.push_back(scores);
  out.scores.push_back(call.Emit("aten::softmax.int", scores, -1));
  out.out = call.Emit("aten::matmul", out.scores.back(), ForEachQuery(call, v, q));
  return out;
}

// [batch, heads, steps, width] as [batch, steps, heads * width].
void GiveTogether(Call& call, Tensor out, const Heads& q, Dim width) {
  const Tensor moved = call.Emit("aten::transpose.int", out, 1, 2);
  const Shape to{q.shape[0], q.shape[2], call.sizes().Product(q.shape[1], width)};
  call.Give(call.Emit("aten::reshape", moved, ToSizes(to)), {call.dtype(0), to});
}

// Keys that a step sees: those that the operand says, those before it, those near it.
AttentionOptions OptionsOf(Call& call, const Heads& q, const Heads& k) {
  AttentionOptions how{.mask = GivenMask(call, 3, k.shape[2]),
                       .causal = call.integer("is_causal", 0) != 0,
                       .scale = call.real("scale", 0),
                       .softcap = call.real("softcap", 0)};
  const Shape sizes{q.shape[2], k.shape[2]};
  Reach reach{.back = call.integer("left_window_size", -1),
              .ahead = call.integer("right_window_size", -1)};
  const bool padded = call.has(6);
  const bool alone = !how.mask.tensor.defined() && reach.back < 0 && reach.ahead < 0 && !padded;
  if (alone) return how;
  if (std::exchange(how.causal, false)) reach.ahead = 0;
  if (padded) {
    RestrictToCache(call, sizes, reach, how.mask);
  } else {
    RestrictToReach(call, sizes, reach, call.has(4) ? call.shape(4).at(2) : Dim(0), how.mask);
  }
  return how;
}

// Q, K, V, mask, past key, past value, keys that a padded cache holds
void Attention(Call& call) {
  const bool flat = call.rank(0) == 3;
  const Heads q = HeadsOf(call, 0, call.integer("q_num_heads", 0));
  const Heads k = After(call, 4, HeadsOf(call, 1, call.integer("kv_num_heads", 0)));
  const Heads v = After(call, 5, HeadsOf(call, 2, call.integer("kv_num_heads", 0)));
  const AttentionOptions how = OptionsOf(call, q, k);
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) Call::GiveUp("scores of no known stage");
  WrittenOut made;
  if (how.softcap != 0 || call.wants(3)) {
    made = Attend(call, q, k, v, how);
  } else {
    made.out = Attended(call, q, k, v, how);
  }
  if (flat) {
    GiveTogether(call, made.out, q, v.shape[3]);
  } else {
    call.Give(made.out, {call.dtype(0), {q.shape[0], q.shape[1], q.shape[2], v.shape[3]}});
  }
  call.Give(k.tensor, {call.dtype(1), k.shape});
  call.Give(v.tensor, {call.dtype(2), v.shape});
  if (!call.wants(3)) return;
  call.Give(made.scores[static_cast<std::size_t>(mode)],
            {call.dtype(0), {q.shape[0], q.shape[1], q.shape[2], k.shape[2]}});
}

// query, key, value, bias, padding mask, scores' bias, past key, past value
void MultiHeadAttention(Call& call) {
  if (call.has(3) || call.has(4) || !call.has(1) || !call.has(2) || call.rank(1) != 3 ||
      call.rank(2) != 3) {
    Call::GiveUp("biases, padding masks or packed operands");
  }
  const std::int64_t heads = call.integer("num_heads", 0);
  const Heads q = HeadsOf(call, 0, heads);
  const Heads k = After(call, 6, HeadsOf(call, 1, heads)),
              v = After(call, 7, HeadsOf(call, 2, heads));
  const AttentionOptions how{.mask = GivenMask(call, 5, k.shape[2]),
                             .causal = call.integer("unidirectional", 0) != 0,
                             .scale = call.real("scale", 0)};
  GiveTogether(call, Attended(call, q, k, v, how), q, v.shape[3]);
  call.Give(k.tensor, {call.dtype(0), k.shape});
  call.Give(v.tensor, {call.dtype(0), v.shape});
}

// input, weights of all three, bias
void PackedAttention(Call& call) {
  for (const std::size_t extra : {3U, 4U, 5U, 6U}) {
    if (call.has(extra)) Call::GiveUp("masks or caches");
  }
  if (call.attribute("qkv_hidden_sizes") || call.wants(1)) Call::GiveUp("sizes of each projection");
  const std::int64_t heads = call.integer("num_heads", 0);
  const Shape &x = call.shape(0), &w = call.shape(1);
  if (x.size() != 3 || w.size() != 2) Call::GiveUp("operands of another rank");
  Tensor projected = call.Emit("aten::matmul", call.tensor(0), call.tensor(1));
  if (call.has(2)) projected = call.Emit("aten::add.Tensor", projected, call.tensor(2));
  const Dim width = call.sizes().Quotient(w[1], Dim(3));
  const std::vector<Tensor> parts = call.EmitMany("aten::split_with_sizes", 3, projected,
                                                  Builder::Shape{width, width, width}, -1);
  const Shape part{x[0], x[1], width};
  const Heads q = Apart(call, parts[0], part, heads), k = Apart(call, parts[1], part, heads),
              v = Apart(call, parts[2], part, heads);
  const AttentionOptions how{.causal = call.integer("unidirectional", 0) != 0,
                             .scale = call.real("scale", 0)};
  GiveTogether(call, Attended(call, q, k, v, how), q, v.shape[3]);
}

// --- Scores that a graph changes ----------------------------------------------------------------

// What a graph in an attribute, if it is there, makes of scores.
Tensor Changed(Call& call, std::string_view graph, Tensor scores, const Like& like) {
  if (!call.attribute(graph)) return scores;
  Item item;
  item.dtype = like.dtype;
  item.shape = like.shape;
  item.tensor = scores;
  std::vector<Item*> operands{&call.workshop().Add(std::move(item))};
  const std::vector<Item*> results = call.run_graph(call.graph(graph), operands);
  if (results.size() != 1 || results[0] == nullptr) Call::GiveUp("a graph of other results");
  return call.workshop().TensorOf(*results[0]);
}

// Query, key and value with heads apart. As flex_attention is written out: shares are found in
// float32 at least.
void FlexibleAttention(Call& call) {
  const Heads q = HeadsOf(call, 0, 0), k = HeadsOf(call, 1, 0), v = HeadsOf(call, 2, 0);
  if (call.rank(0) != 4 || call.rank(1) != 4 || call.rank(2) != 4) {
    Call::GiveUp("operands of another rank");
  }
  const double scale = call.real("scale", 0);
  const Like like{call.dtype(0), {q.shape[0], q.shape[1], q.shape[2], v.shape[3]}};
  const bool fused = !call.attribute("score_mod") && !call.attribute("prob_mod") &&
                     !call.attribute("softmax_precision");
  if (fused) return call.Give(Attended(call, q, k, v, {.scale = scale}), like);
  const auto precision =
      DTypeOf(call.integer("softmax_precision", like.dtype == DType::kFloat64 ? 11 : 1));
  if (!precision || (scale == 0 && !q.shape[3].is_number())) {
    Call::GiveUp("no known precision or scale");
  }
  const double by = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(q.shape[3].number()));
  const Tensor turned = call.Emit("aten::transpose.int", ForEachQuery(call, k, q), -2, -1);
  Tensor scores = call.Emit("aten::matmul", call.Emit("aten::mul.Tensor", q.tensor, by), turned);
  if (*precision != like.dtype) scores = call.Emit("aten::to.dtype", scores, *precision);
  const Like wide{*precision, {q.shape[0], q.shape[1], q.shape[2], k.shape[2]}};
  scores = Changed(call, "score_mod", scores, wide);
  scores = Changed(call, "prob_mod", call.Emit("aten::softmax.int", scores, -1), wide);
  if (*precision != like.dtype) scores = call.Emit("aten::to.dtype", scores, like.dtype);
  call.Give(call.Emit("aten::matmul", scores, ForEachQuery(call, v, q)), like);
}

// --- Rotary positions ---------------------------------------------------------------------------

// Cosines and sines of [batch, 1, steps, half], and how they turn a head.
struct Turn {
  Tensor cosines = {}, sines = {};
  bool neighbours = false;  // pairs are neighbours, else from both halves
  std::int64_t part = 0;    // as many numbers of a head; 0: all
};

Turn TurnOf(Call& call) {
  return {.neighbours = call.integer("interleaved", 0) != 0,
          .part = call.integer("rotary_embedding_dim", 0)};
}

// Each pair of numbers turned by its angle.
Tensor Turned(Call& call, const Heads& x, const Turn& turn) {
  std::vector<Tensor> parts{x.tensor};
  if (turn.part != 0 && x.shape[3] != Dim(turn.part)) {
    const Dim rest = call.sizes().Difference(x.shape[3], Dim(turn.part));
    parts =
        call.EmitMany("aten::split_with_sizes", 2, x.tensor, Builder::Shape{turn.part, rest}, -1);
  }
  std::vector<Tensor> pair;
  if (turn.neighbours) {
    for (const int first : {0, 1}) {
      pair.push_back(call.Emit("aten::slice.Tensor", parts[0], -1, first, std::nullopt, 2));
    }
  } else {
    pair = call.EmitMany("aten::chunk", 2, parts[0], 2, -1);
  }
  const auto turned = [&](std::string_view op, std::size_t a, std::size_t b) {
    return call.Emit(op, call.Emit("aten::mul.Tensor", turn.cosines, pair[a]),
                     call.Emit("aten::mul.Tensor", turn.sines, pair[b]));
  };
  const Tensor first = turned("aten::sub.Tensor", 0, 1), second = turned("aten::add.Tensor", 1, 0);
  const std::vector<Tensor> both{first, second};
  parts[0] = turn.neighbours
                 ? call.Emit("aten::flatten.using_ints", call.Emit("aten::stack", both, -1), -2, -1)
                 : call.Emit("aten::cat", both, -1);
  return parts.size() == 1 ? parts[0] : call.Emit("aten::cat", parts, -1);
}

void GiveTurned(Call& call, const Heads& x, const Turn& turn) {
  const Tensor out = Turned(call, x, turn);
  if (call.rank(0) == 3) return GiveTogether(call, out, x, x.shape[3]);
  call.Give(out, call.like(0));
}

// x, cosines, sines, positions
void Rotary(Call& call) {
  const Heads x = HeadsOf(call, 0, call.integer("num_heads", 0));
  const auto table = [&](std::size_t operand) {
    Tensor rows = call.tensor(operand);
    if (call.has(3)) rows = call.Emit("aten::embedding", rows, call.tensor(3));
    return call.Emit("aten::unsqueeze", rows, 1);
  };
  Turn turn = TurnOf(call);
  turn.cosines = table(1);
  turn.sines = table(2);
  GiveTurned(call, x, turn);
}

// Rows of a table for the steps after `past`.
Tensor RowsOf(Call& call, std::size_t table, Dim past, Dim steps) {
  return call.Emit("aten::slice.Tensor", call.tensor(table), 0, past,
                   call.sizes().Sum(past, steps));
}

// x, positions of [batch, steps] or the first of them, cosines, sines
void RotaryOfMicrosoft(Call& call) {
  std::int64_t heads = call.integer("num_heads", 0);
  if (heads == 0 && call.rank(0) == 3) {
    const Dim width = call.sizes().Product(call.shape(2).at(1), Dim(2));
    const Dim count = call.sizes().Quotient(call.shape(0).at(2), width);
    if (!count.is_number()) Call::GiveUp("no number of heads");
    heads = count.number();
  }
  const Heads x = HeadsOf(call, 0, heads);
  const bool each = call.rank(1) == 2;
  const auto table = [&](std::size_t operand) {
    if (!each) return RowsOf(call, operand, Dim(0), x.shape[2]);
    return call.Emit("aten::unsqueeze",
                     call.Emit("aten::embedding", call.tensor(operand), call.tensor(1)), 1);
  };
  Turn turn = TurnOf(call);
  turn.cosines = table(2);
  turn.sines = table(3);
  GiveTurned(call, x, turn);
}

// query, key, value, past key, past value, lengths, length, cosines, sines, positions, bias
void GroupedAttention(Call& call) {
  if (call.has(9) || call.has(11) || call.wants(3)) Call::GiveUp("positions, sinks or scores");
  if (call.integer("local_window_size", -1) >= 0) Call::GiveUp("windows");
  const std::int64_t heads = call.integer("num_heads", 0), groups = call.integer("kv_num_heads", 0);
  Heads q, k, v;
  if (call.has(1)) {
    q = HeadsOf(call, 0, heads), k = HeadsOf(call, 1, groups), v = HeadsOf(call, 2, groups);
  } else {
    const Shape packed = call.shape(0);
    if (packed.size() != 3 || heads <= 0 || groups <= 0) Call::GiveUp("no number of heads");
    const Dim width = call.sizes().Quotient(packed[2], Dim(heads + 2 * groups));
    const Dim own = call.sizes().Product(width, Dim(heads)),
              shared = call.sizes().Product(width, Dim(groups));
    const std::vector<Tensor> parts = call.EmitMany("aten::split_with_sizes", 3, call.tensor(0),
                                                    Builder::Shape{own, shared, shared}, -1);
    q = Apart(call, parts[0], {packed[0], packed[1], own}, heads);
    k = Apart(call, parts[1], {packed[0], packed[1], shared}, groups);
    v = Apart(call, parts[2], {packed[0], packed[1], shared}, groups);
  }
  if (call.integer("do_rotary", 0) != 0) {
    const Dim past = call.has(3) ? call.shape(3).at(2) : Dim(0);
    Turn turn{.neighbours = call.integer("rotary_interleaved", 0) != 0};
    turn.cosines = RowsOf(call, 7, past, q.shape[2]);
    turn.sines = RowsOf(call, 8, past, q.shape[2]);
    q.tensor = Turned(call, q, turn);
    k.tensor = Turned(call, k, turn);
  }
  k = After(call, 3, k), v = After(call, 4, v);
  AttentionOptions how{.mask = GivenMask(call, 10, k.shape[2]),
                       .causal = true,
                       .scale = call.real("scale", 0),
                       .softcap = call.real("softcap", 0)};
  if (how.mask.tensor.defined()) {
    Restrict(call, Triangle(call, "aten::tril", {q.shape[2], k.shape[2]}, Dim(0)), how.mask);
    how.causal = false;
  }
  const Tensor out =
      how.softcap != 0 ? Attend(call, q, k, v, how).out : Attended(call, q, k, v, how);
  GiveTogether(call, out, q, v.shape[3]);
  call.Give(k.tensor, {call.dtype(0), k.shape});
  call.Give(v.tensor, {call.dtype(0), v.shape});
}

constexpr std::array kRows{
    OpRow{"Attention", 23, Attention},
    OpRow{"Attention", 1, PackedAttention, "", kMicrosoft},
    OpRow{"FlexAttention", 1, FlexibleAttention, "", "ai.onnx.preview"},
    OpRow{"GroupQueryAttention", 1, GroupedAttention, "", kMicrosoft},
    OpRow{"MultiHeadAttention", 1, MultiHeadAttention, "", kMicrosoft},
    OpRow{"RotaryEmbedding", 1, RotaryOfMicrosoft, "", kMicrosoft},
    OpRow{"RotaryEmbedding", 23, Rotary},
};

}  // namespace

std::span<const OpRow> AttentionRows() { return kRows; }

}  // namespace steelyard::onnx
