// SPDX-License-Identifier: Apache-2.0
//
// The layers that nn.TransformerEncoderLayer and nn.MultiheadAttention call as one operator where
// they run without gradients (ATen/native/transformers/{transformer,attention}.cpp, and on CUDA
// cuda/attention.cu and cuda/SoftMax.cu). Queries, keys and values are one product, whose halves of
// one buffer hold what attention gives. Nested tensors have no layout, so that no program holds
// any.

#include "ops/transformer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "ops/attention_choice.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

bool OnCuda(const Dispatcher& d) { return d.target().device == Device::kCuda; }

bool SameSizes(const TensorView& a, const TensorView& b) {
  return std::ranges::equal(a.sizes(), b.sizes());
}

// --- _masked_softmax(self, mask, dim, mask_type) -------------------------------------------------

enum class MaskType : std::uint8_t { kScores, kPadding, kEach };

// PyTorch's numbers of them.
MaskType MaskTypeOf(std::int64_t number) {
  constexpr std::array kTypes{MaskType::kScores, MaskType::kPadding, MaskType::kEach};
  if (number < 0 || number >= std::ssize(kTypes)) Refuse(fmt::format("masks of type {}", number));
  return kTypes[static_cast<std::size_t>(number)];
}

struct MaskedSoftmaxCall {
  std::int64_t dim = 0;    // counted from the first
  bool says_last = false;  // that it is the last stands there as such
  MaskType type = MaskType::kEach;
};

bool MaskFits(const TensorView& self, const TensorView& mask, MaskType type) {
  switch (type) {
    case MaskType::kScores:
      return mask.size(0) == self.size(2) && mask.size(1) == self.size(2);
    case MaskType::kPadding:
      return mask.size(0) == self.size(0) && mask.size(1) == self.size(2);
    case MaskType::kEach:
      return SameSizes(self, mask);
  }
  __builtin_unreachable();
}

MaskedSoftmaxCall ReadMaskedSoftmax(const OpView& op) {
  const TensorView self = op.self(), mask = op.tensor(1);
  if (!IsFloating(self.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  }
  if (mask.dtype() != DType::kBool) Refuse("the mask must be bool, not " + shape::Text(mask));
  const bool may_be_smaller = mask.rank() == 2 && self.rank() == 4;
  if (may_be_smaller && !op.given(3)) Refuse("the type of the mask must be given");
  MaskedSoftmaxCall call;
  if (may_be_smaller) call.type = MaskTypeOf(op.integer(3));
  if (!MaskFits(self, mask, call.type)) {
    Refuse(fmt::format("a mask of {} for scores of {}", shape::Text(mask), shape::Text(self)));
  }
  call.dim = op.given(2) ? op.dim(2, self.rank()) : self.rank() - 1;
  call.says_last = op.given(2) && op.integer(2) == self.rank() - 1;
  return call;
}

// The mask with an element for each of the scores, where it is of those of all heads.
Tensor SpreadMask(Dispatcher& d, const OpView& op, MaskType type) {
  const TensorView self = op.self();
  Tensor mask = d.tensor(op, 1);
  if (type == MaskType::kPadding) {
    mask = d.Call("aten::view", mask, Dims{self.size(0), 1, 1, self.size(2)});
  } else if (type == MaskType::kScores && !OnCuda(d)) {
    mask = d.Call("aten::view", mask, Dims{1, 1, self.size(2), self.size(2)});
  }
  return d.Call("aten::expand", mask, self.sizes());
}

// One kernel reads short rows and their mask; others are filled and given to softmax.
std::vector<Tensor> MaskedSoftmaxOnCuda(Dispatcher& d, const OpView& op,
                                        const MaskedSoftmaxCall& call) {
  constexpr std::int64_t kMostElements = 1024, kMostBytes = 4096;
  const TensorView self = op.self();
  Tensor out = d.Call("aten::empty_like", d.tensor(op, 0));
  Tensor mask = d.tensor(op, 1);
  if (call.type == MaskType::kScores) mask = SpreadMask(d, op, call.type);
  const std::int64_t row = self.rank() == 0 ? 1 : self.size(static_cast<int>(call.dim));
  const bool is_last = self.rank() == 0 || call.says_last;
  if (row <= kMostElements && allocations::Bytes(row, self.dtype()) <= kMostBytes &&
      mask.is_contiguous() && is_last) {
    return {d.Call("steelyard::softmax_into", out, d.tensor(op, 0), mask)};
  }
  if (call.type == MaskType::kPadding) mask = SpreadMask(d, op, call.type);
  const Tensor filled = d.Call("aten::masked_fill.Scalar", d.tensor(op, 0), mask,
                               -std::numeric_limits<double>::infinity());
  out = d.Call("aten::softmax.int", filled, call.dim);
  return {out};
}

std::vector<Tensor> MaskedSoftmax(Dispatcher& d, const OpView& op) {
  const MaskedSoftmaxCall call = ReadMaskedSoftmax(op);
  if (OnCuda(d)) return MaskedSoftmaxOnCuda(d, op, call);
  Tensor mask = d.Call("aten::contiguous", d.tensor(op, 1));
  if (call.type != MaskType::kEach && !call.says_last) {
    mask = d.Call("aten::contiguous", SpreadMask(d, op, call.type));
  }
  const Tensor out = d.Call("aten::empty_like", d.tensor(op, 0));
  const Tensor input = d.Call("aten::contiguous", d.tensor(op, 0));
  return {d.Call("steelyard::softmax_into", out, input, mask)};
}

// --- _transform_bias_rescale_qkv(qkv, qkv_bias, num_heads) ---------------------------------------

// The biases are added, and the queries multiplied by a number.
Work RescaleWork(const OpView& op) {
  const Count elements = work::Elements(op.tensor(1));
  return {.alu = elements + Count(op.tensor(1).count() / 3)};
}

std::vector<Tensor> RescaleHeads(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kParts = 3;
  const TensorView qkv = op.self(), bias = op.tensor(1);
  const std::int64_t heads = op.integer(2);
  shape::RequireRank("queries, keys and values", qkv, 3);
  shape::RequireRank("their bias", bias, 1);
  shape::RequireEqual("widths of projections and bias", qkv.size(2), bias.size(0));
  if (!IsFloating(qkv.dtype()) || bias.dtype() != qkv.dtype()) {
    Refuse(fmt::format("a bias {} for {}", shape::Text(bias), shape::Text(qkv)));
  }
  if (heads <= 0 || qkv.size(2) % (kParts * heads) != 0) {
    Refuse(fmt::format("{} heads of {} of queries, keys and values", heads, qkv.size(2)));
  }
  const std::int64_t batch = qkv.size(0), length = qkv.size(1),
                     width = qkv.size(2) / kParts / heads;
  const Tensor out =
      d.Call("aten::empty.memory_format", Dims{kParts, batch, heads, length, width}, qkv.dtype());
  // The kernel on CUDA reads any strides.
  const bool copies = !OnCuda(d);
  const Tensor input = copies ? d.Call("aten::contiguous", d.tensor(op, 0)) : d.tensor(op, 0);
  const Tensor summand = copies ? d.Call("aten::contiguous", d.tensor(op, 1)) : d.tensor(op, 1);
  d.Call("steelyard::rescale_qkv_", out, input, summand);
  const Tensor parts = d.Call("aten::view", out, Dims{kParts * batch, heads, length, width});
  std::vector<Tensor> results;
  results.reserve(kParts);
  for (std::int64_t i = 0; i < kParts; ++i) {
    results.push_back(d.Call("aten::narrow", parts, 0, i * batch, batch));
  }
  return results;
}

// --- _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias,
// proj_weight, proj_bias, mask, need_weights, average_attn_weights, mask_type) --------------------

void RequireHeads(const OpView& op) {
  const TensorView query = op.self(), weight = op.tensor(5), bias = op.tensor(6);
  const std::int64_t width = op.integer(3), heads = op.integer(4);
  for (int i = 0; i < 3; ++i) {
    shape::RequireRank("query, key and value", op.tensor(i), 3);
    if (SameSizes(query, op.tensor(i))) continue;
    Refuse(fmt::format("keys and values of {} for queries of {}", shape::Text(op.tensor(i)),
                       shape::Text(query)));
  }
  shape::RequireEqual("widths of queries and layer", query.size(2), width);
  shape::RequireRank("the weight of queries, keys and values", weight, 2);
  shape::RequireEqual("rows of that weight and of the layer", weight.size(0), 3 * width);
  shape::RequireEqual("columns of that weight and width of the layer", weight.size(1), width);
  shape::RequireRank("the bias of queries, keys and values", bias, 1);
  shape::RequireEqual("elements of that bias and of the layer", bias.size(0), 3 * width);
  if (heads <= 0 || width % heads != 0) {
    Refuse(fmt::format("{} heads of {} in all", heads, width));
  }
}

Tensor TimesTransposed(Dispatcher& d, const Tensor& a, const Tensor& b) {
  return d.Call("aten::matmul", a, d.Call("aten::t", b));
}

// Each of the tensors times its own of `weights`, which are parts of one, put side by side.
Tensor ProjectEach(Dispatcher& d, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& weights) {
  std::vector<Tensor> parts;
  parts.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    parts.push_back(TimesTransposed(d, inputs[i], weights[i]));
  }
  const Tensor out = d.Call("aten::cat", parts, 2);
  while (!parts.empty()) parts.pop_back();  // an initializer list dies last first
  return out;
}

Tensor ProjectAll(Dispatcher& d, const OpView& op) {
  const Tensor query = d.tensor(op, 0), key = d.tensor(op, 1), value = d.tensor(op, 2);
  const Tensor weight = d.tensor(op, 5);
  if (key.id() != value.id()) {
    return ProjectEach(d, {query, key, value}, d.CallMany("aten::chunk", weight, 3, 0));
  }
  if (query.id() == key.id()) return TimesTransposed(d, query, weight);
  const std::int64_t width = op.integer(3);
  return ProjectEach(d, {query, key},
                     d.CallMany("aten::split_with_sizes", weight, Dims{width, 2 * width}, 0));
}

// A batch of matrices for each head as one batch.
Tensor AsBatch(Dispatcher& d, const Tensor& t) {
  return d.Call("aten::view", t, Dims{t.size(0) * t.size(1), t.size(2), t.size(3)});
}

Tensor ScoresOf(Dispatcher& d, const Tensor& query, const Tensor& key) {
  const Tensor queries = AsBatch(d, query), keys = AsBatch(d, key);
  const Tensor scores = d.Call("aten::bmm", queries, d.Call("aten::transpose.int", keys, 2, 1));
  return d.Call("aten::view", scores,
                Dims{query.size(0), query.size(1), query.size(2), keys.size(1)});
}

// Without a mask the scores are overwritten. A mask of numbers is made one of booleans, which dies
// after the scores that it hides.
void SoftmaxScores(Dispatcher& d, const OpView& op, Tensor& scores) {
  constexpr std::int64_t kLast = 3;
  Tensor mask = d.tensor(op, 9);
  if (!mask.defined()) {
    d.Call("steelyard::softmax_into", scores, scores, mask);
    return;
  }
  if (mask.dtype() != DType::kBool) mask = d.Call("aten::to.dtype", mask, DType::kBool);
  scores = d.Call("aten::_masked_softmax", scores, mask, kLast, op.arg(12));
}

// What attention gives takes the place of the queries.
Tensor AttendInto(Dispatcher& d, const Tensor& query, const Tensor& scores, const Tensor& value) {
  const Tensor weights = AsBatch(d, scores), values = AsBatch(d, value);
  const Tensor room =
      d.Call("aten::reshape", query, Dims{weights.size(0), weights.size(1), values.size(2)});
  {
    const Dispatcher::Inside frame(d, "aten::bmm");
    d.Call("steelyard::bmm_into", room, weights, values);
  }
  return d.Call("aten::view", room, query.sizes());
}

Tensor ProjectHeads(Dispatcher& d, const Tensor& heads, const Tensor& weight, const Tensor& bias) {
  const std::int64_t batch = heads.size(0), length = heads.size(2);
  const std::int64_t width = heads.size(1) * heads.size(3);
  const Tensor rows = d.Call(
      "aten::view", d.Call("aten::contiguous", d.Call("aten::permute", heads, Dims{0, 2, 1, 3})),
      Dims{batch, length, width});
  const Tensor out =
      d.Call("aten::linear", d.Call("aten::view", rows, Dims{batch * length, width}), weight, bias);
  return d.Call("aten::view", out, Dims{batch, length, out.size(1)});
}

Tensor HeadsOf(Dispatcher& d, const Tensor& t, std::int64_t heads, std::int64_t width) {
  return d.Call("aten::transpose.int", d.Call("aten::view", t, Dims{t.size(0), -1, heads, width}),
                1, 2);
}

// On CUDA a layer whose weights nobody asks for calls a fused kernel where one applies.
bool MayFuseLayer(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kAlignment = 8;
  const Tensor query = d.tensor(op, 0), key = d.tensor(op, 1), value = d.tensor(op, 2);
  const std::int64_t heads = op.integer(4), width = op.integer(3) / heads;
  const bool one = query.id() == key.id() && key.id() == value.id();
  if (!OnCuda(d) || !one || width % kAlignment != 0 || op.boolean(10, true) || op.given(9)) {
    return false;
  }
  const Tensor some = HeadsOf(d, query, heads, width);
  return attention::FusesOnCuda(d, some, some, some);
}

Tensor FusedLayer(Dispatcher& d, const OpView& op) {
  const std::int64_t heads = op.integer(4), width = op.integer(3) / heads;
  const Tensor x = d.Call("aten::linear", d.tensor(op, 0), d.tensor(op, 5), d.tensor(op, 6));
  std::vector<Tensor> parts = d.CallMany("aten::chunk", x, 3, -1);
  for (Tensor& part : parts) part = HeadsOf(d, part, heads, width);
  const Tensor attended =
      d.Call("aten::scaled_dot_product_attention", parts[0], parts[1], parts[2]);
  const Tensor rows = d.Call("aten::reshape", d.Call("aten::transpose.int", attended, 1, 2),
                             Dims{x.size(0), -1, op.integer(3)});
  return d.Call("aten::linear", rows, d.tensor(op, 7), d.tensor(op, 8));
}

std::vector<Tensor> AttendByLayer(Dispatcher& d, const OpView& op) {
  RequireHeads(op);
  if (MayFuseLayer(d, op)) return {FusedLayer(d, op), Tensor()};
  Tensor qkv = ProjectAll(d, op);
  if (qkv.count() == 0) return {d.Call("aten::empty_like", d.tensor(op, 0)), Tensor()};
  const std::vector<Tensor> q_k_v =
      d.CallMany("aten::_transform_bias_rescale_qkv", qkv, op.arg(6), op.arg(4));
  qkv.reset();
  Tensor scores = ScoresOf(d, q_k_v[0], q_k_v[1]);
  SoftmaxScores(d, op, scores);
  const Tensor context = AttendInto(d, q_k_v[0], scores, q_k_v[2]);
  const bool wants_weights = op.boolean(10, true);
  if (!wants_weights) scores.reset();
  Tensor out = ProjectHeads(d, context, d.tensor(op, 7), d.tensor(op, 8));
  if (wants_weights && op.boolean(11, true)) {
    scores = d.Call("aten::sum.dim_IntList", scores, Dims{1});
    d.Call("aten::div_.Scalar", scores, op.arg(4));
  }
  return {out, scores};
}

// --- _transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight,
// proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2,
// ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type) ----------------------------

Tensor NormOf(Dispatcher& d, const OpView& op, const Tensor& x, int weight) {
  return d.Call("aten::layer_norm", x, Dims{op.integer(1)}, op.arg(weight), op.arg(weight + 1),
                op.arg(9), true);
}

Tensor FeedRows(Dispatcher& d, const OpView& op, const Tensor& x, int weight, bool activates) {
  shape::RequireRank("the operand of the feed-forward layer", x.view(), 3);
  shape::RequireRank("a weight of the feed-forward layer", op.tensor(weight), 2);
  const Tensor rows = d.Call("aten::view", x, Dims{x.size(0) * x.size(1), x.size(2)});
  const Tensor by = d.Call("aten::t", d.tensor(op, weight));
  const Tensor out =
      activates ? d.Call("aten::_addmm_activation", op.arg(weight + 1), rows, by, 1, 1, op.arg(7))
                : d.Call("aten::addmm", op.arg(weight + 1), rows, by);
  return d.Call("aten::view", out, Dims{x.size(0), x.size(1), -1});
}

std::vector<Tensor> EncodeByLayer(Dispatcher& d, const OpView& op) {
  constexpr int kFirstNorm = 10, kSecondNorm = 12, kWiden = 14, kNarrow = 16;
  const Tensor source = d.tensor(op, 0);
  if (source.count() == 0) return {d.Call("aten::clone", source)};
  const bool norm_first = op.boolean(8);
  Tensor x = source;
  if (norm_first) x = NormOf(d, op, x, kFirstNorm);
  x = d.Call("aten::_native_multi_head_attention", x, x, x, op.arg(1), op.arg(2), op.arg(3),
             op.arg(4), op.arg(5), op.arg(6), op.arg(18), false, true, op.arg(19));
  d.Call("aten::add_.Tensor", x, source);
  if (!norm_first) x = NormOf(d, op, x, kFirstNorm);
  const Tensor residual = x;
  if (norm_first) x = NormOf(d, op, x, kSecondNorm);
  {
    Tensor fed = FeedRows(d, op, x, kWiden, true);
    fed = FeedRows(d, op, fed, kNarrow, false);
    x = fed;
  }
  d.Call("aten::add_.Tensor", x, residual);
  if (!norm_first) x = NormOf(d, op, x, kSecondNorm);
  return {x};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef WritesInto(Family family, const Words& words, WorkFn work) {
  return OpaqueKernel(family, words, pointwise::InPlaceShape, allocations::None, work,
                      kGradientUnknown, precision::kFollow, Alias::kInPlace);
}

constexpr std::array kRows{
    CopyingOut(
        Composite(Family::kNormalization,
                  {"aten::_masked_softmax", "Softmax of what a mask does not hide.",
                   "(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor",
                   "aten::_masked_softmax(f32[2,4,5,5], bool[2,5], 3, 1)"},
                  MaskedSoftmax, kGradientUnknown)),
    OnlyWithin(
        WritesInto(Family::kNormalization,
                   {"steelyard::softmax_into", "Its kernel, which is given room for the result.",
                    "(Tensor(a!) out, Tensor self, Tensor? mask) -> Tensor(a!)",
                    "steelyard::softmax_into(f32[2,4,5,5], f32[2,4,5,5], bool[2,5])"},
                   work::PerOutput<work::PerElement{.alu = 4, .special = 1, .compare = 1}>)),
    CopyingOut(
        Composite(Family::kAttention,
                  {"aten::_transform_bias_rescale_qkv",
                   "Queries, keys and values for each head from one product, with their biases.",
                   "(Tensor qkv, Tensor qkv_bias, int num_heads) -> (Tensor, Tensor, Tensor)",
                   "aten::_transform_bias_rescale_qkv(f32[2,5,24], f32[24], 2)"},
                  RescaleHeads, kGradientUnknown)),
    OnlyWithin(
        WritesInto(Family::kAttention,
                   {"steelyard::rescale_qkv_", "Its kernel, which is given room for the result.",
                    "(Tensor(a!) out, Tensor qkv, Tensor qkv_bias) -> Tensor(a!)",
                    "steelyard::rescale_qkv_(f32[3,2,2,5,4], f32[2,5,24], f32[24])"},
                   RescaleWork)),
    CopyingOut(
        Composite(Family::kAttention,
                  {"aten::_native_multi_head_attention",
                   "Attention with the projections before and after it, without gradients.",
                   "(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor "
                   "qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? "
                   "mask=None, bool need_weights=True, bool average_attn_weights=True, int? "
                   "mask_type=None) -> (Tensor, Tensor)",
                   "aten::_native_multi_head_attention(f32[2,5,8], f32[2,5,8], f32[2,5,8], 8, 2, "
                   "f32[24,8], f32[24], f32[8,8], f32[8], bool[2,5], True, True, 1)"},
                  AttendByLayer, kGradientUnknown, precision::kLowOnCpu)),
    CopyingOut(Composite(
        Family::kAttention,
        {"aten::_transformer_encoder_layer_fwd",
         "A layer of nn.TransformerEncoder, without gradients.",
         "(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias, "
         "Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, "
         "Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor "
         "norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor "
         "ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
         "aten::_transformer_encoder_layer_fwd(f32[2,5,8], 8, 2, f32[24,8], f32[24], "
         "f32[8,8], f32[8], True, False, 1e-05, f32[8], f32[8], f32[8], f32[8], f32[16,8], "
         "f32[16], f32[8,16], f32[8], bool[2,5], 1)"},
        EncodeByLayer, kGradientUnknown)),
};

}  // namespace

std::span<const OpDef> Transformer() { return kRows; }

}  // namespace steelyard::ops
