// SPDX-License-Identifier: Apache-2.0
//
// Pairs of token and expert are sorted by expert, counted, multiplied group by group, weighted, and
// brought back into the order of tokens, as transformers does it. An export holds a fallback for
// other dtypes than bfloat16, where a generation runs the native product; each is built as it is.

#include "models/experts.h"

#include <fmt/core.h>

#include <limits>

#include "models/cache.h"

namespace steelyard::models {

Tensor RowsOf(const Net& net, Tensor x, std::int64_t width) {
  return net.b.Call("aten::view", x, Shape{-1, width});
}

Tensor BatchOf(const Net& net, Tensor rows, std::int64_t width) {
  return net.b.Call("aten::reshape", rows, Shape{net.batch, net.seq, width});
}

TopKRouter::TopKRouter(const Layer& parent, std::string_view name, std::string_view class_name,
                       const ExpertPlan& expert_plan)
    : Layer(parent, name, class_name),
      plan(expert_plan),
      weight(Parameter("weight", {plan.count, plan.hidden})) {}

Routed TopKRouter::operator()(Tensor rows) const {
  const auto call = Enter();
  const DType dtype = net().dtype();
  rows = b().Call("aten::reshape", rows, Shape{-1, plan.hidden});
  const Tensor logits = b().Call("aten::linear", rows, weight);
  Tensor shares;
  if (plan.wide_weights) {
    const Tensor wide = Cast(net(), logits, dtype, DType::kFloat32);
    shares = b().Call("aten::softmax.int", wide, -1);
  } else {
    shares = b().Call("aten::softmax.int", logits, -1, DType::kFloat32);
  }
  const std::vector<Tensor> best = b().CallMany("aten::topk", 2, shares, plan.chosen, -1);
  Tensor weights = best[0];
  if (plan.normalised) {
    const Tensor sum = b().Call("aten::sum.dim_IntList", weights, Shape{-1}, true);
    weights = b().Call("aten::div_.Tensor", weights, sum);
  }
  if (!plan.wide_weights) weights = Cast(net(), weights, DType::kFloat32, dtype);
  Leave(net(), {best[0], shares});
  return {.logits = logits, .weights = weights, .chosen = best[1]};
}

ChosenRouter::ChosenRouter(const Layer& parent, std::string_view name, std::string_view class_name,
                           const ExpertPlan& expert_plan)
    : Layer(parent, name, class_name),
      plan(expert_plan),
      weight(Parameter("weight", {plan.count, plan.hidden})),
      bias(plan.router_bias ? Parameter("bias", {plan.count}) : Tensor()) {}

Routed ChosenRouter::operator()(Tensor rows) const {
  const auto call = Enter();
  const DType dtype = net().dtype();
  Tensor logits = bias.defined() ? b().Call("aten::linear", rows, weight, bias)
                                 : b().Call("aten::linear", rows, weight);
  if (plan.wide_logits) logits = Cast(net(), logits, dtype, DType::kFloat32);
  const std::vector<Tensor> best = b().CallMany("aten::topk", 2, logits, plan.chosen, -1);
  Tensor weights;
  if (plan.wide_logits) {
    weights = Cast(net(), b().Call("aten::softmax.int", best[0], -1), DType::kFloat32, dtype);
  } else {
    weights = b().Call("aten::softmax.int", best[0], 1, dtype);
  }
  Leave(net(), {best[0]});
  return {.logits = logits, .weights = weights, .chosen = best[1]};
}

// Said once, by the first of them.
void NoteScratch(Net& net) {
  if (!Generates(net) || net.dtype() != DType::kBFloat16 || net.noted_scratch) return;
  net.noted_scratch = true;
  net.b.Note(
      "experts in bfloat16: what oneDNN allocates inside each product depends on how many "
      "tokens choose an expert, and is left out");
}

Experts::Experts(const Layer& parent, std::string_view name, std::string_view class_name,
                 const ExpertPlan& expert_plan)
    : Layer(parent, name, class_name),
      plan(expert_plan),
      gate_up(Parameter("gate_up_proj", plan.limited
                                            ? Shape{plan.count, plan.hidden, 2 * plan.inner}
                                            : Shape{plan.count, 2 * plan.inner, plan.hidden})),
      gate_up_bias(plan.limited ? Parameter("gate_up_proj_bias", {plan.count, 2 * plan.inner})
                                : Tensor()),
      down(Parameter("down_proj", plan.limited ? Shape{plan.count, plan.inner, plan.hidden}
                                               : Shape{plan.count, plan.hidden, plan.inner})),
      down_bias(plan.limited ? Parameter("down_proj_bias", {plan.count, plan.hidden}) : Tensor()) {
  if (!plan.limited) act.emplace(*this, "act_fn", "hidden_act", "silu");
  NoteScratch(net());
  if (plan.chosen <= plan.count) return;
  net().config.Refuse("num_experts_per_tok",
                      fmt::format("{} of {} experts cannot be chosen", plan.chosen, plan.count));
}

Tensor Experts::Product(Tensor rows, Tensor weight, Tensor offsets) const {
  const Tensor turned = plan.limited ? weight : b().Call("aten::transpose.int", weight, -2, -1);
  // What transformers traces in bfloat16, and in other dtypes; it runs the one for all.
  const bool native = Generates(net()) || net().dtype() == DType::kBFloat16;
  return b().Call(native ? "aten::_grouped_mm" : "transformers::grouped_mm_fallback", rows, turned,
                  offsets);
}

Tensor Experts::Gated(Tensor both) const {
  if (plan.limited) return GatedWithLimits(both);
  const std::vector<Tensor> halves = b().CallMany("aten::chunk", 2, both, 2, -1);
  const Tensor gated = b().Call("aten::mul.Tensor", (*act)(halves[0]), halves[1]);
  Leave(net(), {halves[0], halves[1], both});
  return gated;
}

// Gate and up lie in turns.
Tensor Experts::GatedWithLimits(Tensor both) const {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const auto each_second = [&](std::int64_t from) {
    return b().Call("aten::slice.Tensor", both, 1, from, kEnd, 2);
  };
  const double limit = plan.limited->limit;
  const Tensor gates = each_second(0);
  const Tensor ups = each_second(1);
  const Tensor gate = b().Call("aten::clamp", gates, std::nullopt, limit);
  const Tensor up = b().Call("aten::clamp", ups, -limit, limit);
  const Tensor gained = b().Call("aten::mul.Tensor", gate, plan.limited->gain);
  const Tensor open = b().Call("aten::mul.Tensor", gate, b().Call("aten::sigmoid", gained));
  const Tensor gated = b().Call("aten::mul.Tensor", b().Call("aten::add.Tensor", up, 1), open);
  Leave(net(), {gate, up, open, both});
  return gated;
}

Tensor Experts::operator()(Tensor rows, const Routed& routed) const {
  const auto call = Enter();
  const auto at = [&](Tensor of, Tensor where) {
    return b().Call("aten::index.Tensor", of, std::vector<Tensor>{where});
  };
  const Dim pairs = b().Product(b().Product(net().batch, net().seq), plan.chosen);
  const Tensor weights = b().Call("aten::reshape", routed.weights, Shape{-1});
  const Tensor chosen = b().Call("aten::reshape", routed.chosen, Shape{-1});
  const std::vector<Tensor> sorted = b().CallMany("aten::sort", 2, chosen);
  const Tensor order = sorted[1];
  const Tensor given = at(rows, b().Call("aten::floor_divide", order, plan.chosen));
  const Tensor given_weights = at(weights, order);
  // On the CPU, of which a model that is traced on the meta device does not know.
  const Tensor counted =
      b().Call("aten::to.dtype", sorted[0], Generates(net()) ? DType::kFloat32 : DType::kInt32);
  const Tensor counts = b().Call("aten::histc", counted, plan.count, 0, plan.count - 1);
  const Tensor offsets =
      b().Call("aten::cumsum", counts, 0, Builder::Named("dtype", DType::kInt32));

  const auto bias_of = [&](Tensor bias) { return bias.defined() ? at(bias, sorted[0]) : Tensor(); };
  const auto with = [&](Tensor bias, Tensor product) {
    return bias.defined() ? b().Call("aten::add_.Tensor", product, bias) : product;
  };
  const Tensor first_bias = bias_of(gate_up_bias);
  const Tensor both = with(first_bias, Product(given, gate_up, offsets));
  const Tensor gated = Gated(both);
  const Tensor bias = bias_of(down_bias);
  Leave(net(), {first_bias});
  const Tensor found = with(bias, Product(gated, down, offsets));

  Tensor x = b().Call("aten::mul.Tensor", found, b().Call("aten::unsqueeze", given_weights, -1));
  Tensor back = b().Call("aten::empty_like", order);
  const Tensor line = b().Call("aten::arange", pairs);
  back = b().Call("aten::index_put_", back, std::vector<Tensor>{order}, line);
  x = at(x, back);
  const Tensor weighted = x;
  const Dim tokens = b().Product(net().batch, net().seq);
  x = b().Call("aten::view", x, Shape{tokens, plan.chosen, plan.hidden});
  const Tensor sum = b().Call("aten::sum.dim_IntList", x, Shape{1});
  const Tensor out = plan.wide_weights ? Cast(net(), sum, DType::kFloat32, net().dtype()) : sum;
  Leave(net(), {sorted[0], order, given, given_weights, counted, counts, offsets, bias, found,
                weighted, back, sum});
  return out;
}

Tensor LoadBalancingLoss(const Net& net, const std::vector<Tensor>& logits,
                         const ExpertPlan& plan) {
  Builder& b = net.b;
  const auto zeros = [&] {
    return b.Call("aten::zeros", Shape{plan.count}, Builder::Named("dtype", DType::kFloat32));
  };
  Tensor counts = zeros();
  Tensor sums = zeros();
  for (const Tensor& of_layer : logits) {
    const Tensor shares = b.Call("aten::softmax.int", of_layer, -1);
    const std::vector<Tensor> best = b.CallMany("aten::topk", 2, shares, plan.chosen, -1);
    Tensor chosen = b.Call("aten::reshape", best[1], Shape{-1});
    chosen = b.Call("aten::to.dtype", chosen, DType::kInt32);
    const Tensor count = b.Call("aten::histc", chosen, plan.count, 0, plan.count);
    counts = b.Call("aten::add.Tensor", counts, count);
    const DType given = plan.wide_logits ? DType::kFloat32 : net.dtype();
    const Tensor wide = Cast(net, shares, given, DType::kFloat32);
    sums = b.Call("aten::add.Tensor", sums, b.Call("aten::sum.dim_IntList", wide, Shape{0}));
  }
  // By a number that changes neither sizes nor work.
  counts = b.Call("aten::div.Tensor", counts, 1.0);
  sums = b.Call("aten::div.Tensor", sums, 1.0);
  const Tensor product = b.Call("aten::mul.Tensor", counts, b.Call("aten::unsqueeze", sums, 0));
  return b.Call("aten::mul.Tensor", b.Call("aten::sum", product), plan.count);
}

}  // namespace steelyard::models
