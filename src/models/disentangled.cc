// SPDX-License-Identifier: Apache-2.0
//
// DisentangledSelfAttention of modeling_deberta_v2.py, of transformers 5.
#include "models/disentangled.h"

#include <string>

namespace steelyard::models {
namespace {

constexpr std::int64_t kOfBuckets = 2;  // constants that finding buckets takes, before any layer

}  // namespace

std::int64_t DistanceConfig::scale_factor() const {
  return 1 + (to_positions ? 1 : 0) + (from_positions ? 1 : 0);
}

std::int64_t DistanceConfig::scales() const { return relative ? scale_factor() : 1; }

Constant::Constant(const Layer& owner, std::int64_t number, DType dtype)
    : Layer(owner, "", ""),
      value(Buffer("lifted_tensor_" + std::to_string(number), dtype, {}, true)) {}

Tensor Constant::operator()() const {
  return b().Call("aten::detach_", b().Call("aten::lift_fresh_copy", value));
}

DisentangledAttention::DisentangledAttention(const Layer& parent, std::string_view class_name,
                                             std::int64_t layer, const Plan& plan)
    : Layer(parent, "self", class_name),
      plan_(plan),
      query_(*this, "query_proj", plan.hidden, plan.heads * plan.width),
      key_(*this, "key_proj", plan.hidden, plan.heads * plan.width),
      value_(*this, "value_proj", plan.hidden, plan.heads * plan.width),
      table_dropout_(*this, "pos_dropout", plan.table_dropout),
      dropout_(*this, "dropout", plan.dropout) {
  const DistanceConfig& d = plan_.distances;
  const std::int64_t all = plan.heads * plan.width;
  if (d.relative && !d.shared) {
    if (d.to_positions) table_key_.emplace(*this, "pos_key_proj", plan.hidden, all);
    if (d.from_positions) table_query_.emplace(*this, "pos_query_proj", plan.hidden, all);
  }
  const std::int64_t before = d.relative && d.buckets > 0 ? kOfBuckets : 0;
  for (std::int64_t i = 0; i < d.scales(); ++i) {
    scales_.emplace_back(*this, before + layer * d.scales() + i, DType::kFloat32);
  }
}

// [rows, length, heads * width] as [rows * heads, length, width].
Tensor DisentangledAttention::Split(Tensor x, Builder::Size rows, Builder::Size length) const {
  x = b().Call("aten::view", x, Shape{rows, length, plan_.heads, -1});
  x = b().Call("aten::contiguous", b().Call("aten::permute", x, Shape{0, 2, 1, 3}));
  return b().Call("aten::view", x, Shape{-1, length, plan_.width});
}

Tensor DisentangledAttention::Scale(std::size_t number) const {
  const Tensor product =
      b().Call("aten::mul.Tensor", scales_[number](), plan_.distances.scale_factor());
  return b().Call("aten::sqrt", product);
}

Tensor DisentangledAttention::Narrow(Tensor scale) const {
  return Cast(net(), scale, DType::kFloat32, net().dtype());
}
Tensor DisentangledAttention::OfAll(Tensor table) const {
  const Tensor split = Split(table, 1, 2 * plan_.distances.span);
  return b().Call("aten::repeat", split, Shape{net().batch, 1, 1});
}

// Rows of the table: of distances of [1, 1, seq, seq], or of the same from the other end.
Tensor DisentangledAttention::Rows(Tensor distances) const {
  const Tensor moved = b().Call("aten::add.Tensor", distances, plan_.distances.span);
  return b().Call("aten::clamp", moved, 0, 2 * plan_.distances.span - 1);
}

Tensor DisentangledAttention::Looked(Tensor scores, Tensor rows) const {
  const Dim all = b().Product(net().batch, plan_.heads);
  const Tensor each = b().Call("aten::expand", b().Call("aten::squeeze.dim", rows, 0),
                               Shape{all, net().seq, net().seq});
  return b().Call("aten::gather", scores, -1, each);
}

Tensor DisentangledAttention::ToPositions(Tensor queries, Tensor keys_of_table,
                                          Tensor distances) const {
  const Tensor scale = Scale(1);
  const Tensor scores = b().Call("aten::bmm", queries, Turned(keys_of_table));
  const Tensor found = Looked(scores, Rows(distances));
  return b().Call("aten::div.Tensor", found, Narrow(scale));
}

Tensor DisentangledAttention::FromPositions(Tensor keys, Tensor queries_of_table,
                                            Tensor distances) const {
  const Tensor scale = Scale(plan_.distances.to_positions ? 2 : 1);
  const Tensor rows = Rows(b().Call("aten::neg", distances));
  const Tensor scores = b().Call("aten::bmm", keys, Turned(queries_of_table));
  const Tensor found = Turned(Looked(scores, rows));
  return b().Call("aten::div.Tensor", found, Narrow(scale));
}

// What scores have of distances; none where the config names no kind of it.
Tensor DisentangledAttention::Bias(Tensor queries, Tensor keys, Tensor distances,
                                   Tensor table) const {
  table = table_dropout_(table);
  distances = b().Call("aten::unsqueeze", distances, 1);
  table = b().Call("aten::unsqueeze", table, 0);
  Tensor of_keys;
  Tensor of_queries;
  if (plan_.distances.shared) of_queries = OfAll(query_(table));
  if (plan_.distances.shared) of_keys = OfAll(key_(table));
  if (table_key_) of_keys = OfAll((*table_key_)(table));
  if (table_query_) of_queries = OfAll((*table_query_)(table));
  Tensor score;
  if (plan_.distances.to_positions) {
    score = b().Call("aten::add.Tensor", ToPositions(queries, of_keys, distances), 0);
  }
  if (plan_.distances.from_positions) {
    const Tensor from = FromPositions(keys, of_queries, distances);
    score = score.defined() ? b().Call("aten::add_.Tensor", score, from)
                            : b().Call("aten::add.Tensor", from, 0);
  }
  return score;
}

Tensor DisentangledAttention::operator()(Tensor x, Tensor mask, Tensor distances,
                                         Tensor table) const {
  const auto call = Enter();
  const Dim batch = net().batch;
  const Dim seq = net().seq;
  const Tensor queries = Split(query_(x), batch, seq);
  const Tensor keys = Split(key_(x), batch, seq);
  const Tensor values = Split(value_(x), batch, seq);
  const Tensor scale = Scale(0);
  const Tensor turned = Turned(keys);
  const Tensor divided = b().Call("aten::div.Tensor", turned, Narrow(scale));
  Tensor scores = b().Call("aten::bmm", queries, divided);
  if (plan_.distances.relative) {
    const Tensor bias = Bias(queries, keys, distances, table);
    scores = bias.defined() ? b().Call("aten::add.Tensor", scores, bias)
                            : b().Call("aten::add.Tensor", scores, 0);
  }
  scores = b().Call("aten::view", scores, Shape{-1, plan_.heads, seq, seq});
  const Tensor hidden =
      b().Call("aten::bitwise_not", b().Call("aten::to.dtype", mask, DType::kBool));
  scores = b().Call("aten::masked_fill.Scalar", scores, hidden, LeastOf(net().dtype()));
  scores = dropout_(b().Call("aten::softmax.int", scores, -1));
  Tensor seen = b().Call("aten::bmm", b().Call("aten::view", scores, Shape{-1, seq, seq}), values);
  seen = b().Call("aten::view", seen, Shape{-1, plan_.heads, seq, plan_.width});
  seen = b().Call("aten::contiguous", b().Call("aten::permute", seen, Shape{0, 2, 1, 3}));
  return b().Call("aten::view", seen, Shape{batch, seq, -1});
}

}  // namespace steelyard::models
