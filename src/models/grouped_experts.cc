// SPDX-License-Identifier: Apache-2.0
//
// As DeepSeek V3's modeling code writes it; `Leave` says where its variables go.
#include "models/grouped_experts.h"

#include <algorithm>
#include <limits>

namespace steelyard::models {

void ReadGroups(const Settings& c, DecoderConfig& config, const GroupDefaults& defaults) {
  config.sparse = Sparse::kGrouped;
  config.experts = {
      .count = c.Count("n_routed_experts", c.Count("num_local_experts", defaults.experts)),
      .chosen = c.Size("num_experts_per_tok", 8),
      .hidden = config.hidden,
      .inner = c.Size("moe_intermediate_size", defaults.inner),
      .normalised = c.Flag("norm_topk_prob", true),
      .wide_weights = true};
  config.shared_inner = config.experts.inner * c.Count("n_shared_experts", 1);
  config.groups.count = c.Size("n_group", defaults.groups);
  config.groups.chosen = c.Count("topk_group", defaults.chosen);
  config.groups.scale = c.Real("routed_scaling_factor", defaults.scale);
  const std::int64_t dense = c.Count("first_k_dense_replace", defaults.dense);
  const std::int64_t layers = Admitted(c, "num_hidden_layers", config.layers);
  config.dense.assign(static_cast<std::size_t>(std::min(dense, layers)), true);
  c.Quotient("n_routed_experts", config.experts.count, "n_group", config.groups.count);
  if (c.Flag("output_router_logits", false)) {
    c.Refuse("output_router_logits", "routers' logits are not returned by this model");
  }
}

GroupRouter::GroupRouter(const Layer& parent, const DecoderConfig& config)
    : Layer(parent, "gate", config.classes + "TopkRouter"),
      c(config),
      weight(Parameter("weight", {c.experts.count, c.hidden})),
      correction(Buffer("e_score_correction_bias",
                        c.groups.wide_correction ? DType::kFloat32 : net().dtype(),
                        {c.experts.count}, true)) {}

std::vector<Tensor> GroupRouter::Best(Tensor x, std::int64_t count) const {
  return b().CallMany("aten::topk", 2, x, count, -1, true, false);
}

Tensor GroupRouter::OfChosenGroups(Tensor scores, std::vector<Tensor>& variables) const {
  const std::int64_t size = c.experts.count / c.groups.count;
  const Tensor apart = b().Call("aten::view", scores, Shape{-1, c.groups.count, size});
  const std::vector<Tensor> two = b().CallMany("aten::topk", 2, apart, 2, -1);
  const Tensor of_groups = b().Call("aten::sum.dim_IntList", two[0], Shape{-1});
  const Tensor chosen = Best(of_groups, c.groups.chosen)[1];
  const Tensor zeros = b().Call("aten::zeros_like", of_groups);
  Tensor mask = b().Call("aten::scatter_.value", zeros, 1, chosen, 1);
  mask = b().Call("aten::unsqueeze", mask, -1);
  mask = b().Call("aten::expand", mask, Shape{-1, c.groups.count, size});
  const Tensor wide = b().Call("aten::reshape", mask, Shape{-1, c.experts.count});
  mask = b().Call("aten::to.dtype", wide, DType::kBool);
  mask = b().Call("aten::bitwise_not", mask);
  const Tensor found =
      b().Call("aten::masked_fill.Scalar", scores, mask, -std::numeric_limits<double>::infinity());
  Leave(net(), {mask, scores});
  variables.insert(variables.end(), {found, of_groups, chosen, zeros, wide});
  return found;
}

Routed GroupRouter::operator()(Tensor x) const {
  const auto call = Enter();
  const auto wide = [&](Tensor of) { return Cast(net(), of, net().dtype(), DType::kFloat32); };
  const Tensor rows = wide(RowsOf(net(), x, c.hidden));
  const Tensor logits = b().Call("aten::linear", rows, wide(weight));
  const Tensor scores = b().Call("aten::sigmoid", logits);
  const Tensor corrected = b().Call("aten::add.Tensor", scores, correction);
  std::vector<Tensor> variables{scores};
  const Tensor chosen = Best(OfChosenGroups(corrected, variables), c.experts.chosen)[1];
  Tensor weights = b().Call("aten::gather", scores, 1, chosen);
  if (c.experts.normalised) {
    Tensor sum = b().Call("aten::sum.dim_IntList", weights, Shape{-1}, true);
    sum = b().Call("aten::add.Tensor", sum, 1e-20);
    weights = b().Call("aten::div_.Tensor", weights, sum);
    variables.push_back(sum);
  }
  weights = b().Call("aten::mul.Tensor", weights, c.groups.scale);
  Leave(net(), variables);
  return {.logits = logits, .weights = weights, .chosen = chosen};
}

GroupedBlock::GroupedBlock(const Layer& parent, const DecoderConfig& config)
    : Layer(parent, "mlp", config.classes + "MoE"),
      c(config),
      experts(*this, "experts", c.classes + "Experts", c.experts),
      gate(*this, c),
      shared(*this, "shared_experts", c, c.shared_inner) {}

Tensor GroupedBlock::operator()(Tensor x) const {
  const auto call = Enter();
  const Routed routed = gate(x);
  const Tensor rows = experts(RowsOf(net(), x, c.hidden), routed);
  const Tensor found = BatchOf(net(), rows, c.hidden);
  const Tensor sum = b().Call("aten::add.Tensor", found, shared(x));
  Leave(net(), {found, routed.logits, routed.weights, routed.chosen});
  return sum;
}

}  // namespace steelyard::models
