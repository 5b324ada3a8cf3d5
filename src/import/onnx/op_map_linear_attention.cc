// SPDX-License-Identifier: Apache-2.0
//
// Attention that keeps one matrix of each head instead of keys and values. What a step adds to it,
// and what a step sees, is computed for a chunk of steps at once: products within the chunk, and
// one with the state before it (Yang et al., "Parallelizing Linear Transformers with the Delta Rule
// over Sequence Length", 2024; transformers' torch_chunk_gated_delta_rule). A single step is the
// recurrence itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

// More chunks are not taken apart one by one.
constexpr std::int64_t kMostChunks = 256;

struct Plan {
  Dim batch = Dim(0), steps = Dim(0), query_width = Dim(0), key_width = Dim(0),
      value_width = Dim(0);
  std::int64_t heads = 1;   // of keys and values, each with a state
  std::int64_t shared = 1;  // heads of queries that share one of those
  double scale = 1.0;
  bool decays = false;
  bool corrects = false;  // a step adds what the state does not give for its key yet
};

// Of some steps: query as [batch, heads, shared, steps, width], the others without `shared`.
struct Chunk {
  Tensor query, key, value, decay, rate;
};

Plan PlanOf(Call& call) {
  Plan plan;
  const std::int64_t queries = call.integer("q_num_heads", 0);
  plan.heads = call.integer("kv_num_heads", 0);
  if (plan.heads < 1 || queries < plan.heads || queries % plan.heads != 0) {
    Call::GiveUp("heads of queries that do not share those of keys");
  }
  plan.shared = queries / plan.heads;
  for (const std::size_t operand : {0U, 1U, 2U}) {
    if (call.rank(operand) != 3) Call::GiveUp("operands of another rank");
  }
  plan.batch = call.shape(0)[0];
  plan.steps = call.shape(0)[1];
  plan.query_width = call.sizes().Quotient(call.shape(0)[2], Dim(queries));
  plan.key_width = call.sizes().Quotient(call.shape(1)[2], Dim(plan.heads));
  plan.value_width = call.sizes().Quotient(call.shape(2)[2], Dim(plan.heads));
  plan.scale = call.real("scale", 0);
  if (plan.scale == 0) {
    const Dim width = plan.query_width;
    if (!width.is_number() || width.number() < 1) Call::GiveUp("heads of a symbolic width");
    plan.scale = 1 / std::sqrt(static_cast<double>(width.number()));
  }
  const std::string rule = call.text("update_rule", "gated_delta");
  plan.decays = rule.starts_with("gated");
  plan.corrects = rule.ends_with("delta");
  if (!plan.decays && !plan.corrects && rule != "linear") Call::GiveUp("rule \"" + rule + "\"");
  if (plan.decays && !call.has(4)) Call::GiveUp("a rule without the decay that it asks for");
  if (plan.corrects && !call.has(5)) Call::GiveUp("a rule without the rate that it asks for");
  return plan;
}

// PyTorch solves triangles of float32 and float64 only.
DType ComputedIn(DType dtype) { return BitsOf(dtype) < 32 ? DType::kFloat32 : dtype; }

Tensor Cast(Call& call, Tensor x, DType from, DType to) {
  return from == to ? x : call.Emit("aten::to.dtype", x, to);
}

// Operand `i`, [batch, steps, heads * width], with its heads apart.
Tensor Apart(Call& call, const Plan& plan, std::size_t i, Dim heads, Dim width) {
  const Tensor x = Cast(call, call.tensor(i), call.dtype(i), ComputedIn(call.dtype(0)));
  const Tensor split =
      call.Emit("aten::reshape", x, Builder::Shape{plan.batch, plan.steps, heads, width});
  return call.Emit("aten::transpose.int", split, 1, 2);
}

Chunk WholeOf(Call& call, const Plan& plan) {
  Chunk all;
  const DType dtype = ComputedIn(call.dtype(0));
  Tensor query = Cast(call, call.tensor(0), call.dtype(0), dtype);
  query = call.Emit("aten::mul.Tensor", query, plan.scale);
  query =
      call.Emit("aten::reshape", query,
                Builder::Shape{plan.batch, plan.steps, plan.heads, plan.shared, plan.query_width});
  all.query = call.Emit("aten::permute", query, Builder::Shape{0, 2, 3, 1, 4});
  all.key = Apart(call, plan, 1, Dim(plan.heads), plan.key_width);
  all.value = Apart(call, plan, 2, Dim(plan.heads), plan.value_width);
  if (plan.decays) {
    // One number of a head, or one for each of its keys' numbers.
    const bool one = call.shape(4).at(2) == Dim(plan.heads);
    all.decay = Apart(call, plan, 4, Dim(plan.heads), one ? Dim(1) : plan.key_width);
  }
  if (plan.corrects) all.rate = Apart(call, plan, 5, call.shape(5).at(2), Dim(1));
  return all;
}

Tensor Product(Call& call, Tensor a, Tensor b) { return call.Emit("aten::matmul", a, b); }
Tensor Times(Call& call, Tensor a, Tensor b) { return call.Emit("aten::mul.Tensor", a, b); }
Tensor Turned(Call& call, Tensor x) { return call.Emit("aten::transpose.int", x, -2, -1); }
Tensor Grown(Call& call, Tensor logarithm) { return call.Emit("aten::exp", logarithm); }

// One step: what it sees, from the state that it has made.
Tensor Step(Call& call, const Plan& plan, const Chunk& now, Tensor& state) {
  if (plan.decays) state = Times(call, state, Turned(call, Grown(call, now.decay)));
  Tensor added = now.value;
  if (plan.corrects) {
    added = call.Emit("aten::sub.Tensor", added, Product(call, now.key, state));
    added = Times(call, now.rate, added);
  }
  const Tensor more = Product(call, Turned(call, now.key), added);
  state = call.Emit("aten::add.Tensor", state, more);
  return Product(call, now.query, call.Emit("aten::unsqueeze", state, 2));
}

// `steps` of them at once. With g the sum of decays up to a step, what a step adds, u, solves
// u + rate * tril(key exp(g) (key exp(-g))^T, -1) u = rate * (value - key exp(g) state).
Tensor Advance(Call& call, const Plan& plan, const Chunk& now, Dim steps, Tensor& state) {
  Tensor sum, past = now.key, shrunk = now.key, query = now.query;
  if (plan.decays) {
    sum = call.Emit("aten::cumsum", now.decay, 2);
    const Tensor grown = Grown(call, sum);
    past = Times(call, now.key, grown);
    shrunk = Times(call, now.key, Grown(call, call.Emit("aten::neg", sum)));
    query = Times(call, query, call.Emit("aten::unsqueeze", grown, 2));
  }
  const Tensor keys = Turned(call, shrunk);
  Tensor added = now.value;
  if (plan.corrects) {
    added = call.Emit("aten::sub.Tensor", added, Product(call, past, state));
    added = Times(call, now.rate, added);
    const Tensor pairs = Times(call, now.rate, Product(call, past, keys));
    added = call.Emit("aten::linalg_solve_triangular", call.Emit("aten::tril", pairs, -1), added,
                      Builder::Named("upper", false), Builder::Named("unitriangular", true));
  }
  const Dim rows = call.sizes().Product(Dim(plan.shared), steps);
  query = call.Emit("aten::reshape", query,
                    Builder::Shape{plan.batch, plan.heads, rows, plan.query_width});
  Tensor seen = call.Emit("aten::reshape", Product(call, query, keys),
                          Builder::Shape{plan.batch, plan.heads, plan.shared, steps, steps});
  seen = call.Emit("aten::reshape", call.Emit("aten::tril", seen),
                   Builder::Shape{plan.batch, plan.heads, rows, steps});
  const Tensor out =
      call.Emit("aten::add.Tensor", Product(call, seen, added), Product(call, query, state));
  Tensor key = now.key;
  if (plan.decays) {
    const Tensor last = call.Emit("aten::slice.Tensor", sum, 2, -1);
    state = Times(call, state, Turned(call, Grown(call, last)));
    key = Times(call, key, Grown(call, call.Emit("aten::sub.Tensor", last, sum)));
  }
  state = call.Emit("aten::add.Tensor", state, Product(call, Turned(call, key), added));
  return call.Emit("aten::reshape", out,
                   Builder::Shape{plan.batch, plan.heads, plan.shared, steps, plan.value_width});
}

Tensor FirstState(Call& call, const Plan& plan) {
  const DType dtype = ComputedIn(call.dtype(0));
  if (call.has(3)) return Cast(call, call.tensor(3), call.dtype(3), dtype);
  return call.Emit("aten::zeros",
                   Builder::Shape{plan.batch, plan.heads, plan.key_width, plan.value_width},
                   Builder::Named("dtype", dtype));
}

Tensor Run(Call& call, const Plan& plan, const Chunk& all, Tensor& state) {
  const std::int64_t size = call.integer("chunk_size", 64);
  if (size < 1) Call::GiveUp("chunks of no size");
  if (plan.steps == Dim(1)) return Step(call, plan, all, state);
  if (!plan.steps.is_number()) {
    call.workshop().builder.Note(
        "linear attention over a symbolic number of steps is weighed as one chunk of all of them");
    return Advance(call, plan, all, plan.steps, state);
  }
  const std::int64_t steps = plan.steps.number();
  if (steps <= size) return Advance(call, plan, all, plan.steps, state);
  if (steps / size > kMostChunks) Call::GiveUp("more than 256 chunks of steps");
  std::vector<Tensor> outs;
  for (std::int64_t from = 0; from < steps; from += size) {
    const std::int64_t to = std::min(from + size, steps);
    const auto part = [&](Tensor of, int dim) {
      return of.defined() ? call.Emit("aten::slice.Tensor", of, dim, from, to) : of;
    };
    const Chunk now{.query = part(all.query, 3),
                    .key = part(all.key, 2),
                    .value = part(all.value, 2),
                    .decay = part(all.decay, 2),
                    .rate = part(all.rate, 2)};
    outs.push_back(Advance(call, plan, now, Dim(to - from), state));
  }
  return call.Emit("aten::cat", outs, 3);
}

// query, key, value, state, decay, rate
void LinearAttention(Call& call) {
  const Plan plan = PlanOf(call);
  const Chunk all = WholeOf(call, plan);
  Tensor state = FirstState(call, plan);
  const Tensor out = Run(call, plan, all, state);
  const Tensor moved = call.Emit("aten::permute", out, Builder::Shape{0, 3, 1, 2, 4});
  const Dim heads(plan.heads * plan.shared);
  const Shape to{plan.batch, plan.steps, call.sizes().Product(heads, plan.value_width)};
  const DType computed = ComputedIn(call.dtype(0));
  call.Give(Cast(call, call.Emit("aten::reshape", moved, ToSizes(to)), computed, call.dtype(0)),
            {call.dtype(0), to});
  const DType kept = call.dtype(call.has(3) ? 3 : 0);
  call.Give(Cast(call, state, computed, kept),
            {kept, {plan.batch, Dim(plan.heads), plan.key_width, plan.value_width}});
}

constexpr std::array kRows{
    OpRow{"LinearAttention", 27, LinearAttention},
};

}  // namespace

std::span<const OpRow> LinearAttentionRows() { return kRows; }

}  // namespace steelyard::onnx
