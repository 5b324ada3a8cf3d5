// SPDX-License-Identifier: Apache-2.0
//
// modeling_deepseek_v3.py, of transformers 5: Llama's frame around attention with latent keys and
// values, and experts in groups beside some that all tokens share.
#include <array>
#include <cmath>
#include <limits>

#include "models/decoder_model.h"
#include "models/grouped_experts.h"
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
  ReadGroups(c, out,
             {.experts = 256, .inner = 2048, .groups = 8, .chosen = 4, .dense = 3, .scale = 2.5});
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
    Heads heads = c.heads;
    heads.width = c.plain + c.turned;
    const AttentionCall attention{.query = whole,
                                  .key = keys_values[0],
                                  .value = keys_values[1],
                                  .mask = mask,
                                  .heads = heads,
                                  .scale = c.scale,
                                  .dropout = c.attention_dropout,
                                  .backwards = true,
                                  .value_width = c.value};
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

struct FeedForward {
  FeedForward(const Layer& parent, const LatentConfig& c, std::int64_t number) {
    const auto index = static_cast<std::size_t>(number);
    if (index < c.dense.size() && c.dense[index]) {
      dense.emplace(parent, "mlp", c, c.inner);
    } else {
      sparse.emplace(parent, c);
    }
  }
  Tensor operator()(Tensor x, std::vector<Tensor>&) const {
    return dense ? (*dense)(x) : (*sparse)(x);
  }
  std::optional<GatedMlp> dense;
  std::optional<GroupedBlock> sparse;
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
                               .generates = true,
                               .flash = true};

}  // namespace steelyard::models
