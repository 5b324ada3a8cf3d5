// SPDX-License-Identifier: Apache-2.0
//
// modeling_deepseek_v3.py, of transformers 5: Llama's frame around attention with latent keys and
// values, and experts in groups beside some that all tokens share.
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "models/decoder_model.h"
#include "models/registry.h"

namespace steelyard::models {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr double kLatentEps = 1e-6;

struct LatentConfig : DecoderConfig {
  std::optional<std::int64_t> query_rank;
  std::int64_t key_rank = 1;
  std::int64_t plain = 1, turned = 1, value = 1;  // widths of a head
  Bias bias = Bias::kNone;
  bool interleaved = true;
  std::int64_t groups = 1, chosen_groups = 1;
  std::int64_t first_sparse = 0;
  double expert_scale = 1.0;
};

LatentConfig Read(const Settings& c) {
  LatentConfig out;
  static_cast<DecoderConfig&>(out) =
      ReadDecoder(c, "transformers.models.deepseek_v3.modeling_deepseek_v3.DeepseekV3",
                  {.hidden = 7168,
                   .inner = 18432,
                   .layers = 61,
                   .heads = 128,
                   .vocabulary = 129280,
                   .positions = 4096});
  out.query_rank = c.CountOrNone("q_lora_rank", 1536);
  out.key_rank = c.Size("kv_lora_rank", 512);
  out.turned = c.Size("qk_rope_head_dim", 64);
  out.plain = c.Size("qk_nope_head_dim", 128);
  out.value = c.Size("v_head_dim", 128);
  out.rotated = out.turned;
  // Keys and values are of all heads, whatever num_key_value_heads says.
  out.heads.key = out.heads.query;
  out.scale = 1.0 / std::sqrt(static_cast<double>(out.plain + out.turned));
  out.bias = BiasOf(c, "attention_bias", false);
  out.interleaved = c.Flag("rope_interleave", true);
  out.experts = {.count = c.Count("n_routed_experts", c.Count("num_local_experts", 256)),
                 .chosen = c.Size("num_experts_per_tok", 8),
                 .hidden = out.hidden,
                 .inner = c.Size("moe_intermediate_size", 2048),
                 .normalised = c.Flag("norm_topk_prob", true),
                 .wide_weights = true};
  out.shared_inner = out.experts.inner * c.Count("n_shared_experts", 1);
  out.groups = c.Size("n_group", 8);
  out.chosen_groups = c.Count("topk_group", 4);
  out.first_sparse = c.Count("first_k_dense_replace", 3);
  out.expert_scale = c.Real("routed_scaling_factor", 2.5);
  c.Quotient("n_routed_experts", out.experts.count, "n_group", out.groups);
  if (c.Flag("output_router_logits", false)) {
    c.Refuse("output_router_logits", "routers' logits are not returned by this model");
  }
  return out;
}

// What keys and values of all heads are found from, in the place of one head's.
CacheLayer KeptBy(const LatentConfig& config, std::optional<std::int64_t>) {
  return {.heads = 1,
          .key_width = config.key_rank,
          .value_width = config.turned,
          .expanded = config.heads.query * (config.plain + config.turned + config.value)};
}

// apply_rotary_pos_emb_interleave of one tensor: pairs of neighbours are turned.
Tensor RotatePairs(const Net& net, const std::array<Tensor, 2>& pairs, Tensor cos, Tensor sin) {
  Builder& b = net.b;
  const auto times = [&](Tensor x, Tensor y) { return b.Call("aten::mul.Tensor", x, y); };
  const Tensor even = times(pairs[0], cos);
  const Tensor low = b.Call("aten::sub.Tensor", even, times(pairs[1], sin));
  const Tensor odd = times(pairs[1], cos);
  const Tensor high = b.Call("aten::add.Tensor", odd, times(pairs[0], sin));
  return b.Call("aten::cat", std::vector<Tensor>{low, high}, -1);
}

struct LatentAttention : Layer {
  LatentAttention(const Layer& parent, const LatentConfig& config)
      : Layer(parent, "self_attn", config.classes + "Attention"), c(config) {
    const std::int64_t width = c.heads.query * (c.plain + c.turned);
    if (c.query_rank) {
      query.emplace_back(*this, "q_a_proj", c.hidden, *c.query_rank, c.bias);
      query_norm.emplace(*this, "q_a_layernorm", c, *c.query_rank, kLatentEps);
      query.emplace_back(*this, "q_b_proj", *c.query_rank, width, Bias::kNone);
    } else {
      query.emplace_back(*this, "q_proj", c.hidden, width, Bias::kNone);
    }
    latent.emplace(*this, "kv_a_proj_with_mqa", c.hidden, c.key_rank + c.turned, c.bias);
    latent_norm.emplace(*this, "kv_a_layernorm", c, c.key_rank, kLatentEps);
    expand.emplace(*this, "kv_b_proj", c.key_rank, c.heads.query * (c.plain + c.value),
                   Bias::kNone);
    out.emplace(*this, "o_proj", c.heads.query * c.value, c.hidden, c.bias);
  }
  std::vector<Tensor> Split(Tensor x, std::int64_t first, std::int64_t second) const {
    return b().CallMany("aten::split_with_sizes", 2, x, Shape{first, second}, -1);
  }
  // The parts of queries and keys that are turned, turned.
  std::array<Tensor, 2> Turned(Tensor of_query, Tensor of_key, const Rotary& rotary) const {
    if (!c.interleaved) {
      const Tensor cos = b().Call("aten::unsqueeze", rotary.cos, 1);
      const Tensor sin = b().Call("aten::unsqueeze", rotary.sin, 1);
      const Tensor first = Rotate(net(), of_query, c.turned, cos, sin);
      return {first, Rotate(net(), of_key, c.turned, cos, sin)};
    }
    const auto half = [&](Tensor x) {
      const Tensor low = b().Call("aten::slice.Tensor", x, 2, 0, c.turned / 2);
      return b().Call("aten::unsqueeze", low, 1);
    };
    const Tensor cos = half(rotary.cos);
    const Tensor sin = half(rotary.sin);
    const auto pairs = [&](Tensor x) {
      const Tensor even = b().Call("aten::slice.Tensor", x, 3, 0, kEnd, 2);
      return std::array{even, b().Call("aten::slice.Tensor", x, 3, 1, kEnd, 2)};
    };
    const std::array<Tensor, 2> query_pairs = pairs(of_query);
    const std::array<Tensor, 2> key_pairs = pairs(of_key);
    const Tensor first = RotatePairs(net(), query_pairs, cos, sin);
    return {first, RotatePairs(net(), key_pairs, cos, sin)};
  }
  // Keys and values of all heads from what they have in common.
  std::array<Tensor, 2> Expanded(Tensor common, Tensor turned, Dim seq) const {
    const Tensor all = SplitHeads(net(), (*expand)(common), c.plain + c.value, seq);
    const std::vector<Tensor> parts = Split(all, c.plain, c.value);
    turned = b().Call("aten::expand", turned, Shape{-1, c.heads.query, -1, -1});
    const Tensor keys = b().Call("aten::new_empty", all,
                                 Shape{net().batch, c.heads.query, seq, c.plain + c.turned});
    const Tensor low = b().Call("aten::slice.Tensor", keys, 3, 0, c.plain);
    b().Call("aten::copy_", low, parts[0]);
    const Tensor high = b().Call("aten::slice.Tensor", keys, 3, c.plain, kEnd);
    b().Call("aten::copy_", high, turned);
    return {keys, parts[1]};
  }
  Attended operator()(Tensor x, Tensor mask, const Rotary& rotary, const CacheLayer& layer) const {
    const auto call = Enter();
    Tensor queries = query[0](x);
    if (query_norm) queries = query[1]((*query_norm)(queries));
    queries = SplitHeads(net(), queries, c.plain + c.turned, net().seq);
    const std::vector<Tensor> of_query = Split(queries, c.plain, c.turned);
    const std::vector<Tensor> of_key = Split((*latent)(x), c.key_rank, c.turned);
    const auto one_head = [&](Tensor of, std::int64_t width) {
      return b().Call("aten::view", of, Shape{net().batch, 1, net().seq, width});
    };
    const Tensor common = one_head((*latent_norm)(of_key[0]), c.key_rank);
    const auto turned = Turned(of_query[1], one_head(of_key[1], c.turned), rotary);
    const States latents = Updated(net(), {.key = common, .value = turned[1]}, layer);
    const Tensor whole = b().Call("aten::cat", std::vector<Tensor>{of_query[0], turned[0]}, -1);
    const std::int64_t given = KeysGiven(net(), layer);
    const auto keys_values =
        Expanded(latents.key, latents.value, given > 0 ? Dim(given) : net().seq);
    const AttentionCall attention{.query = whole,
                                  .key = keys_values[0],
                                  .value = keys_values[1],
                                  .mask = mask,
                                  .heads = c.heads,
                                  .scale = c.scale,
                                  .dropout = c.attention_dropout};
    const StepSizes sizes{.keys = given, .key_width = c.plain + c.turned, .value_width = c.value};
    Attended seen = Generates(net()) ? AttendInStep(net(), attention, sizes)
                                     : Attended{.out = Attend(net(), attention)};
    const Tensor rows = b().Call("aten::reshape", seen.out, Shape{net().batch, net().seq, -1});
    seen.out = (*out)(rows);
    Leave(net(), {queries, turned[0], of_key[0], of_key[1], latents.key, latents.value, whole,
                  keys_values[0], keys_values[1]});
    return seen;
  }
  const LatentConfig& c;
  std::vector<Linear> query;
  std::optional<DecoderNorm> query_norm, latent_norm;
  std::optional<Linear> latent, expand, out;
};

// Chooses some groups by their two best experts, then experts within them.
struct GroupRouter : Layer {
  GroupRouter(const Layer& parent, const LatentConfig& config)
      : Layer(parent, "gate", config.classes + "TopkRouter"),
        c(config),
        weight(Parameter("weight", {c.experts.count, c.hidden})),
        correction(Buffer("e_score_correction_bias", net().dtype(), {c.experts.count}, true)) {}
  std::vector<Tensor> Best(Tensor x, std::int64_t count) const {
    return b().CallMany("aten::topk", 2, x, count, -1, true, false);
  }
  // The scores of experts in chosen groups; those of others are infinitely low.
  Tensor OfChosenGroups(Tensor scores, std::vector<Tensor>& variables) const {
    const std::int64_t size = c.experts.count / c.groups;
    const Tensor apart = b().Call("aten::view", scores, Shape{-1, c.groups, size});
    const std::vector<Tensor> two = b().CallMany("aten::topk", 2, apart, 2, -1);
    const Tensor of_groups = b().Call("aten::sum.dim_IntList", two[0], Shape{-1});
    const Tensor chosen = Best(of_groups, c.chosen_groups)[1];
    const Tensor zeros = b().Call("aten::zeros_like", of_groups);
    Tensor mask = b().Call("aten::scatter_.value", zeros, 1, chosen, 1);
    mask = b().Call("aten::unsqueeze", mask, -1);
    mask = b().Call("aten::expand", mask, Shape{-1, c.groups, size});
    const Tensor wide = b().Call("aten::reshape", mask, Shape{-1, c.experts.count});
    mask = b().Call("aten::to.dtype", wide, DType::kBool);
    mask = b().Call("aten::bitwise_not", mask);
    const Tensor found = b().Call("aten::masked_fill.Scalar", scores, mask,
                                  -std::numeric_limits<double>::infinity());
    Leave(net(), {mask, scores});
    variables.insert(variables.end(), {found, of_groups, chosen, zeros, wide});
    return found;
  }
  Routed operator()(Tensor x) const {
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
    weights = b().Call("aten::mul.Tensor", weights, c.expert_scale);
    Leave(net(), variables);
    return {.logits = logits, .weights = weights, .chosen = chosen};
  }
  const LatentConfig& c;
  Tensor weight, correction;
};

struct SparseBlock : Layer {
  SparseBlock(const Layer& parent, const LatentConfig& config)
      : Layer(parent, "mlp", config.classes + "MoE"),
        c(config),
        experts(*this, "experts", c.classes + "Experts", c.experts),
        gate(*this, c),
        shared(*this, "shared_experts", c, c.shared_inner) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Routed routed = gate(x);
    const Tensor rows = experts(RowsOf(net(), x, c.hidden), routed);
    const Tensor found = BatchOf(net(), rows, c.hidden);
    const Tensor sum = b().Call("aten::add.Tensor", found, shared(x));
    Leave(net(), {found, routed.logits, routed.weights, routed.chosen});
    return sum;
  }
  const LatentConfig& c;
  Experts experts;
  GroupRouter gate;
  GatedMlp shared;
};

struct FeedForward {
  FeedForward(const Layer& parent, const LatentConfig& c, std::int64_t number) {
    if (number >= c.first_sparse) {
      sparse.emplace(parent, c);
    } else {
      dense.emplace(parent, "mlp", c, c.inner);
    }
  }
  Tensor operator()(Tensor x, std::vector<Tensor>&) const {
    return dense ? (*dense)(x) : (*sparse)(x);
  }
  std::optional<GatedMlp> dense;
  std::optional<SparseBlock> sparse;
};

void Build(Net& net) {
  const LatentConfig config = Read(net.config);
  BuildDecoderText<DecoderModel<LatentAttention, FeedForward, LatentConfig>>(net, config);
}

constexpr std::array<std::string_view, 4> kHeads{
    "ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification"};

}  // namespace

const Architecture kDeepseekV3{.type = "deepseek_v3",
                               .prefix = "DeepseekV3",
                               .summary = "DeepSeek V3 and R1",
                               .heads = kHeads,
                               .build = Build,
                               .generates = true};

}  // namespace steelyard::models
