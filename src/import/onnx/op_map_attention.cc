// SPDX-License-Identifier: Apache-2.0
//
// Attention, and the blocks around it that ONNX Runtime's optimizer writes (com.microsoft,
// docs/ContribOperators.md of onnxruntime), taken apart as the models did that they were fused of.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

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

struct AttentionOptions {
  Tensor mask = {};
  bool causal = false;
  double scale = 0;  // 0: by the width of a head
};

Tensor Attended(Call& call, const Heads& q, const Heads& k, const Heads& v,
                const AttentionOptions& how) {
  const Builder::Arg scale = how.scale == 0 ? Builder::Arg(std::nullopt) : Builder::Arg(how.scale);
  return call.Emit("aten::scaled_dot_product_attention", q.tensor, k.tensor, v.tensor, how.mask,
                   0.0, how.causal, Builder::Named("scale", scale),
                   Builder::Named("enable_gqa", q.shape[1] != k.shape[1]));
}

// [batch, heads, steps, width] as [batch, steps, heads * width].
void GiveTogether(Call& call, Tensor out, const Heads& q, Dim width) {
  const Tensor moved = call.Emit("aten::transpose.int", out, 1, 2);
  const Shape to{q.shape[0], q.shape[2], call.sizes().Product(q.shape[1], width)};
  call.Give(call.Emit("aten::reshape", moved, ToSizes(to)), {call.dtype(0), to});
}

// Q, K, V, mask, past key, past value (version 23)
void Attention(Call& call) {
  if (call.real("softcap", 0) != 0 || call.wants(3))
    Call::GiveUp("scores that are limited or returned");
  if (call.has(6)) Call::GiveUp("padded caches");
  if (call.attribute("attention_bias_window") || call.attribute("left_window_size") ||
      call.attribute("right_window_size")) {
    Call::GiveUp("windows");
  }
  const bool flat = call.rank(0) == 3;
  const Heads q = HeadsOf(call, 0, call.integer("q_num_heads", 0));
  const Heads k = After(call, 4, HeadsOf(call, 1, call.integer("kv_num_heads", 0)));
  const Heads v = After(call, 5, HeadsOf(call, 2, call.integer("kv_num_heads", 0)));
  const AttentionOptions how{.mask = call.optional(3),
                             .causal = call.integer("is_causal", 0) != 0,
                             .scale = call.real("scale", 0)};
  if (how.mask.defined() && how.causal) Call::GiveUp("a mask besides the causal one");
  const Tensor out = Attended(call, q, k, v, how);
  if (flat) {
    GiveTogether(call, out, q, v.shape[3]);
  } else {
    call.Give(out, {call.dtype(0), {q.shape[0], q.shape[1], q.shape[2], v.shape[3]}});
  }
  call.Give(k.tensor, {call.dtype(1), k.shape});
  call.Give(v.tensor, {call.dtype(2), v.shape});
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
  const AttentionOptions how{.mask = call.optional(5),
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

// --- Rotary positions ---------------------------------------------------------------------------

// x, cosines, sines, positions: halves of each head turned against each other.
void Rotary(Call& call) {
  const bool microsoft = !call.row().domain.empty();
  if (call.integer("interleaved", 0) != 0 || call.integer("rotary_embedding_dim", 0) != 0 ||
      microsoft) {
    Call::GiveUp("pairs of neighbours, or of a part of a head");
  }
  const Heads x = HeadsOf(call, 0, call.integer("num_heads", 0));
  const auto table = [&](std::size_t operand) {
    Tensor rows = call.tensor(operand);
    if (call.has(3)) rows = call.Emit("aten::embedding", rows, call.tensor(3));
    return call.Emit("aten::unsqueeze", rows, 1);
  };
  const Tensor cosines = table(1), sines = table(2);
  const std::vector<Tensor> halves = call.EmitMany("aten::chunk", 2, x.tensor, 2, -1);
  const auto turned = [&](std::string_view op, std::size_t a, std::size_t b) {
    return call.Emit(op, call.Emit("aten::mul.Tensor", cosines, halves[a]),
                     call.Emit("aten::mul.Tensor", sines, halves[b]));
  };
  const Tensor first = turned("aten::sub.Tensor", 0, 1), second = turned("aten::add.Tensor", 1, 0);
  const Tensor out = call.Emit("aten::cat", std::vector<Tensor>{first, second}, -1);
  if (call.rank(0) == 3) return GiveTogether(call, out, x, x.shape[3]);
  call.Give(out, call.like(0));
}

// --- Norms and activations with a sum before them -----------------------------------------------

Builder::Shape LastSize(Call& call) { return {call.shape(0).at(call.shape(0).size() - 1)}; }

// input, skip, gamma, beta, bias; results: norm, mean, deviation, sum
void SkipNorm(Call& call) {
  const bool root = call.row().target == "aten::rms_norm";
  const std::size_t bias = root ? 3 : 4;
  Tensor sum = call.Emit("aten::add.Tensor", call.tensor(0), call.tensor(1));
  if (call.has(bias)) sum = call.Emit("aten::add.Tensor", sum, call.tensor(bias));
  const double epsilon = call.real("epsilon", 1e-12F);
  const Tensor out = root
                         ? call.Emit("aten::rms_norm", sum, LastSize(call), call.tensor(2), epsilon)
                         : call.Emit("aten::layer_norm", sum, LastSize(call), call.tensor(2),
                                     call.optional(3), epsilon);
  if (call.wants(1) || call.wants(2)) Call::GiveUp("moments of a norm");
  call.Give(out, call.like(0));
  call.GiveNothing();
  call.GiveNothing();
  call.Give(sum, call.like(0));
}

void SimplifiedNorm(Call& call) {
  const Tensor out = call.Emit("aten::rms_norm", call.tensor(0), LastSize(call), call.tensor(1),
                               call.real("epsilon", 1e-5F));
  call.Give(out, call.like(0));
}

void BiasedGelu(Call& call) {
  Tensor x = call.tensor(0);
  if (call.has(1)) x = call.Emit("aten::add.Tensor", x, call.tensor(1));
  const bool fast = call.row().target == "tanh";
  const Tensor out =
      call.Emit("aten::gelu", x, Builder::Named("approximate", fast ? "tanh" : "none"));
  call.Give(out, call.like(0));
}

void QuickGelu(Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor scaled = call.Emit("aten::mul.Tensor", x, call.real("alpha", 1.702F));
  call.Give(call.Emit("aten::mul.Tensor", x, call.Emit("aten::sigmoid", scaled)), call.like(0));
}

// --- Products -----------------------------------------------------------------------------------

void FusedProduct(Call& call) {
  if (call.integer("transBatchA", 0) != 0 || call.integer("transBatchB", 0) != 0) {
    Call::GiveUp("batches that are transposed");
  }
  Tensor operands[] = {call.tensor(0), call.tensor(1)};
  Shape sizes[] = {call.shape(0), call.shape(1)};
  for (const std::size_t i : {0U, 1U}) {
    if (call.integer(i == 0 ? "transA" : "transB", 0) == 0 || sizes[i].size() < 2) continue;
    operands[i] = call.Emit("aten::transpose.int", operands[i], -2, -1);
    std::swap(sizes[i][sizes[i].size() - 1], sizes[i][sizes[i].size() - 2]);
  }
  Tensor out = call.Emit("aten::matmul", operands[0], operands[1]);
  const double alpha = call.real("alpha", 1);
  if (alpha != 1) out = call.Emit("aten::mul.Tensor", out, alpha);
  call.Give(out, {call.dtype(0), shapes::Product(call.sizes(), sizes[0], sizes[1])});
}

constexpr std::array kRows{
    OpRow{"Attention", 23, Attention},
    OpRow{"Attention", 1, PackedAttention, "", kMicrosoft},
    OpRow{"BiasGelu", 1, BiasedGelu, "none", kMicrosoft},
    OpRow{"FastGelu", 1, BiasedGelu, "tanh", kMicrosoft},
    OpRow{"FusedMatMul", 1, FusedProduct, "", kMicrosoft},
    OpRow{"Gelu", 1, BiasedGelu, "none", kMicrosoft},
    OpRow{"MultiHeadAttention", 1, MultiHeadAttention, "", kMicrosoft},
    OpRow{"QuickGelu", 1, QuickGelu, "", kMicrosoft},
    OpRow{"RotaryEmbedding", 23, Rotary},
    OpRow{"SimplifiedLayerNormalization", 1, SimplifiedNorm},
    OpRow{"SkipLayerNormalization", 1, SkipNorm, "aten::layer_norm", kMicrosoft},
    OpRow{"SkipSimplifiedLayerNormalization", 1, SkipNorm, "aten::rms_norm", kMicrosoft},
};

}  // namespace

std::span<const OpRow> AttentionRows() { return kRows; }

}  // namespace steelyard::onnx
