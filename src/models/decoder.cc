// SPDX-License-Identifier: Apache-2.0
//
// What differs between these models is asked of the config where it matters, so that layers are
// declared in each model's order, which is that of its parameters, and operators stand in that of
// its Python code. `Leave` says where the variables of that code go, on which the memory of a
// generation depends.

#include "models/decoder.h"

#include <algorithm>
#include <limits>

#include "models/decoder_model.h"
#include "models/grouped_experts.h"

namespace steelyard::models {

CentredNorm::CentredNorm(const Layer& parent, std::string_view name, std::string_view class_name,
                         const Shape& sizes, double epsilon)
    : Layer(parent, name, class_name), weight(Parameter("weight", sizes)), eps(epsilon) {}

Tensor CentredNorm::operator()(Tensor x) const {
  const auto call = Enter();
  const Tensor wide = Cast(net(), x, net().dtype(), DType::kFloat32);
  const Tensor mean = b().Call("aten::mean.dim", wide, Shape{-1}, true);
  const Tensor square =
      b().Call("aten::pow.Tensor_Scalar", b().Call("aten::sub.Tensor", wide, mean), 2);
  const Tensor variance = b().Call("aten::mean.dim", square, Shape{-1}, true);
  const Tensor centred = b().Call("aten::sub.Tensor", wide, mean);
  const Tensor scale = b().Call("aten::rsqrt", b().Call("aten::add.Tensor", variance, eps));
  const Tensor normed = b().Call("aten::mul.Tensor", centred, scale);
  Leave(net(), {wide});
  const Tensor product =
      b().Call("aten::mul.Tensor", Cast(net(), weight, net().dtype(), DType::kFloat32), normed);
  Leave(net(), {normed});
  const Tensor found = Cast(net(), product, DType::kFloat32, net().dtype());
  Leave(net(), {product, mean, variance, x});
  return found;
}

BareNorm::BareNorm(const Layer& parent, std::string_view name, std::string_view class_name,
                   std::int64_t size, double epsilon)
    : Layer(parent, name, class_name), width(size), eps(epsilon) {}

Tensor BareNorm::operator()(Tensor x) const {
  const auto call = Enter();
  const Tensor wide = Cast(net(), x, net().dtype(), DType::kFloat32);
  const Tensor normed =
      b().Call("aten::layer_norm", wide, Shape{width}, std::nullopt, std::nullopt, eps);
  return Cast(net(), normed, DType::kFloat32, net().dtype());
}

DecoderNorm::DecoderNorm(const Layer& parent, std::string_view name, const DecoderConfig& c,
                         std::int64_t width, double epsilon, std::int64_t heads) {
  switch (c.norm) {
    case NormForm::kRoot:
      root.emplace(parent, name, c.classes + "RMSNorm", width, epsilon,
                   c.gemma ? RmsWeight::kOneMore : RmsWeight::kPlain);
      return;
    case NormForm::kWideRoot:
      root.emplace(parent, name, c.classes + "RMSNorm", width, epsilon, RmsWeight::kOfWide);
      return;
    case NormForm::kMean:
      mean.emplace(parent, name, width, epsilon);
      return;
    case NormForm::kCentred:
      centred.emplace(parent, name, c.classes + "LayerNorm",
                      heads > 0 ? Shape{heads, width} : Shape{width}, epsilon);
      return;
    case NormForm::kBare:
      bare.emplace(parent, name, c.classes + "LayerNorm", width, epsilon);
      return;
  }
}

Tensor DecoderNorm::operator()(Tensor x) const {
  if (root) return (*root)(x);
  if (bare) return (*bare)(x);
  return mean ? (*mean)(x) : (*centred)(x);
}

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> WindowOf(const CacheLayer& layer) {
  return layer.window > 0 ? std::optional(layer.window) : std::nullopt;
}

// A norm of each head.
struct NormPerHead : Layer {
  NormPerHead(const Layer& parent, std::string_view name, const DecoderConfig& c,
              std::int64_t heads)
      : Layer(parent, name, c.classes + "LayerNormPerHead"),
        norms(Repeated<LayerNorm>(*this, "norms", heads, c.heads.width, c.eps, Bias::kNone)) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const std::vector<Tensor> heads = b().CallMany("aten::split.Tensor", norms.size(), x, 1, 1);
    std::vector<Tensor> normed;
    normed.reserve(norms.size());
    for (std::size_t i = 0; i < norms.size(); ++i) normed.push_back(norms[i](heads[i]));
    return b().Call("aten::cat", normed, 1);
  }
  std::vector<LayerNorm> norms;
};

struct SelfAttention : Layer {
  SelfAttention(const Layer& parent, const DecoderConfig& config)
      : Layer(parent, "self_attn", config.classes + "Attention"), c(config) {
    const std::int64_t width = c.heads.width;
    const std::int64_t query = c.heads.query * width;
    const std::int64_t key = c.heads.key * width;
    if (c.sinks) sinks = Parameter("sinks", {c.heads.query});
    if (c.fused) {
      out.emplace(*this, "o_proj", query, c.hidden, c.out_bias);
      in.emplace_back(*this, "qkv_proj", c.hidden, query + 2 * key, c.qkv_bias);
      return;
    }
    in.emplace_back(*this, "q_proj", c.hidden, query, c.qkv_bias);
    in.emplace_back(*this, "k_proj", c.hidden, key, c.qkv_bias);
    in.emplace_back(*this, "v_proj", c.hidden, key, c.qkv_bias);
    out.emplace(*this, c.out_name, query, c.hidden, c.out_bias);
    const bool flat = c.head_norm == HeadNorm::kFlat;
    for (const std::size_t i : {0U, 1U}) {
      const std::int64_t heads = i == 0 ? c.heads.query : c.heads.key;
      if (c.head_norm == HeadNorm::kNone) return;
      if (c.head_norm == HeadNorm::kEach) {
        each.emplace_back(*this, c.head_norm_names[i], c, heads);
      } else {
        norms.emplace_back(*this, c.head_norm_names[i], c, flat ? heads * width : width, c.eps,
                           heads);
      }
    }
  }
  // Query, key and value, as [batch, heads, seq, width], and what holds all of them, if it is one.
  std::vector<Tensor> Parts(Tensor x) const {
    if (c.fused) return FusedParts(x);
    std::vector<Tensor> parts(in.size());
    const auto project = [&](std::size_t i) {
      parts[i] = in[i](x);
      if (c.head_norm == HeadNorm::kFlat) Norm(parts, i);
    };
    const auto view = [&](std::size_t i) {
      parts[i] = b().Call("aten::view", parts[i], Shape{net().batch, net().seq, -1, c.heads.width});
    };
    const auto norm = [&](std::size_t i) {
      if (c.head_norm == HeadNorm::kBefore) Norm(parts, i);
    };
    const auto turn = [&](std::size_t i) {
      parts[i] = b().Call("aten::transpose.int", parts[i], 1, 2);
    };
    const auto each_part = [&](auto... steps) {
      for (std::size_t i = 0; i < parts.size(); ++i) (steps(i), ...);
    };
    switch (c.parting) {
      case Parting::kOneByOne:
        each_part(project, view, norm, turn);
        break;
      case Parting::kProjectedFirst:
        each_part(project);
        if (c.clip) each_part([&](std::size_t i) { Clip(parts[i], *c.clip); });
        each_part(view, norm, turn);
        break;
      case Parting::kTurnedLast:
        each_part(project, view);
        each_part(norm);
        each_part(turn);
        break;
    }
    for (std::size_t i = 0; i < each.size(); ++i) parts[i] = each[i](parts[i]);
    if (c.head_norm != HeadNorm::kBehind) return parts;
    for (std::size_t i = 0; i < norms.size(); ++i) Norm(parts, i);
    return parts;
  }
  void Clip(Tensor part, double most) const { b().Call("aten::clamp_", part, -most, most); }
  // Of queries and keys.
  void Norm(std::vector<Tensor>& parts, std::size_t i) const {
    if (i < norms.size()) parts[i] = norms[i](parts[i]);
  }
  std::vector<Tensor> FusedParts(Tensor x) const {
    const Tensor all = in[0](x);
    const std::int64_t query = c.heads.query * c.heads.width;
    const std::int64_t key = query + c.heads.key * c.heads.width;
    std::vector<Tensor> parts = {b().Call("aten::slice.Tensor", all, 2, 0, query),
                                 b().Call("aten::slice.Tensor", all, 2, query, key),
                                 b().Call("aten::slice.Tensor", all, 2, key, kEnd)};
    for (Tensor& part : parts) part = SplitHeads(net(), part, c.heads.width, net().seq);
    parts.push_back(all);
    return parts;
  }
  // Queries and keys turned by their places, and the other variables of what turned them.
  struct TurnedHeads {
    std::vector<Tensor> heads, kept = {};
  };
  TurnedHeads Turned(const std::vector<Tensor>& parts, Tensor cos, Tensor sin) const {
    std::vector<Tensor> heads = {parts[0], parts[1]};
    const DType dtype = net().dtype();
    switch (c.rotary) {
      case RotaryForm::kHalves:
        if (c.joined_last) {
          heads =
              RotateParts(net(), heads,
                          {.width = c.rotated, .of = c.heads.width, .joined_last = true}, cos, sin);
        } else if (c.fused) {
          heads = RotateParts(net(), heads, {.width = c.rotated, .of = c.heads.width}, cos, sin);
        } else if (c.rotated != c.heads.width) {
          return PartlyTurned(heads, cos, sin);
        } else {
          for (Tensor& of : heads) of = Rotate(net(), of, c.rotated, cos, sin);
        }
        break;
      case RotaryForm::kWideHalves:
        for (Tensor& of : heads) of = Rotate(net(), of, c.rotated, cos, sin);
        for (Tensor& of : heads) of = Cast(net(), of, DType::kFloat32, dtype);
        break;
      case RotaryForm::kNeighbours:
        heads = NeighboursTurned(heads, cos, sin);
        break;
      case RotaryForm::kWideNeighbours:
        for (Tensor& of : heads) of = Cast(net(), of, dtype, DType::kFloat32);
        for (Tensor& of : heads) of = RotateNeighbours(net(), of, cos, sin);
        for (Tensor& of : heads) of = Cast(net(), of, DType::kFloat32, dtype);
        break;
      case RotaryForm::kAllWideNeighbours:
        heads = WideNeighboursTurned(heads, cos, sin);
        break;
      case RotaryForm::kChunks:
        for (Tensor& of : heads) of = RotateChunks(net(), of, cos, sin);
        break;
    }
    Leave(net(), {parts[0], parts[1]});
    return {.heads = heads};
  }
  // Each half of cosines and sines serves two neighbours.
  Tensor Doubled(Tensor of) const {
    const Tensor half = b().Call("aten::slice.Tensor", of, 3, 0, c.rotated / 2);
    return b().Call("aten::repeat_interleave.self_int", half, 2, -1);
  }
  // Neighbours change places in the model's dtype; products and sums are float32.
  std::vector<Tensor> WideNeighboursTurned(std::vector<Tensor> heads, Tensor cos,
                                           Tensor sin) const {
    const DType dtype = net().dtype();
    const Tensor cosines = Doubled(cos);
    const Tensor sines = Doubled(sin);
    for (Tensor& of : heads) {
      const Tensor straight =
          b().Call("aten::mul.Tensor", Cast(net(), of, dtype, DType::kFloat32), cosines);
      const Tensor turned = Cast(net(), NeighboursChanged(net(), of), dtype, DType::kFloat32);
      of = b().Call("aten::add.Tensor", straight, b().Call("aten::mul.Tensor", turned, sines));
    }
    const std::vector<Tensor> wide = heads;
    for (Tensor& of : heads) of = Cast(net(), of, DType::kFloat32, dtype);
    Leave(net(), {cosines, sines});
    if (dtype != DType::kFloat32) Leave(net(), wide);
    return heads;
  }
  // As attention itself writes it: what is turned and what is not stay variables of it.
  TurnedHeads PartlyTurned(const std::vector<Tensor>& heads, Tensor cos, Tensor sin) const {
    TurnedHeads turned;
    std::vector<Tensor>& kept = turned.kept;
    for (const Tensor& of : heads) {
      kept.push_back(b().Call("aten::slice.Tensor", of, 3, 0, c.rotated));
      kept.push_back(b().Call("aten::slice.Tensor", of, 3, c.rotated, kEnd));
    }
    for (const std::size_t i : {0U, 2U}) kept[i] = Rotate(net(), kept[i], c.rotated, cos, sin);
    for (const std::size_t i : {0U, 2U}) {
      const std::vector<Tensor> both{kept[i], kept[i + 1]};
      turned.heads.push_back(b().Call("aten::cat", both, -1));
    }
    return turned;
  }
  std::vector<Tensor> NeighboursTurned(const std::vector<Tensor>& heads, Tensor cos,
                                       Tensor sin) const {
    const Tensor cosines = Doubled(cos);
    const Tensor sines = Doubled(sin);
    const RotatedPart part{
        .width = c.rotated, .of = c.heads.width, .joined_last = true, .neighbours = true};
    std::vector<Tensor> turned = RotateParts(net(), heads, part, cosines, sines);
    Leave(net(), {cosines, sines});
    return turned;
  }
  Attended operator()(Tensor x, Tensor mask, const Rotary& rotary, const CacheLayer& layer) const {
    const auto call = Enter();
    const std::vector<Tensor> parts = Parts(x);
    Tensor cos, sin;
    TurnedHeads turned{.heads = {parts[0], parts[1]}};
    if (rotary.cos.defined()) {
      cos = b().Call("aten::unsqueeze", rotary.cos, 1);
      sin = b().Call("aten::unsqueeze", rotary.sin, 1);
      turned = Turned(parts, cos, sin);
    }
    if (c.head_norm == HeadNorm::kTurned) {
      for (std::size_t i = 0; i < norms.size(); ++i) Norm(turned.heads, i);
    }
    const States states = Updated(net(), {.key = turned.heads[1], .value = parts[2]}, layer);
    const AttentionCall attention{.query = turned.heads[0],
                                  .key = states.key,
                                  .value = states.value,
                                  .mask = mask,
                                  .heads = c.heads,
                                  .scale = c.scale,
                                  .dropout = c.attention_dropout,
                                  .backwards = true,
                                  .window = WindowOf(layer),
                                  .sinks = sinks,
                                  .softcap = c.score_cap};
    Attended seen = AttendInCall(net(), attention, layer);
    const Tensor rows = b().Call("aten::reshape", seen.out, Shape{net().batch, net().seq, -1});
    seen.out = (*out)(rows);
    if (c.inner_dropout) {
      seen.out = b().Call("aten::dropout", seen.out, c.residual_dropout, net().options.training);
    }
    if (c.fused) Leave(net(), {parts[3]});
    Leave(net(), {turned.heads[0], states.key, states.value, cos, sin});
    Leave(net(), turned.kept);
    return seen;
  }
  const DecoderConfig& c;
  Tensor sinks;
  std::vector<Linear> in;
  std::optional<Linear> out;
  std::vector<DecoderNorm> norms;
  std::vector<NormPerHead> each;
};

// Without a gate.
struct PlainMlp : Layer {
  PlainMlp(const Layer& parent, const DecoderConfig& config)
      : Layer(parent, "mlp", config.classes + "MLP"),
        c(config),
        in(*this, c.plain_mlp->in, c.hidden, c.inner, c.mlp_bias),
        down(*this, c.plain_mlp->out, c.inner, c.hidden, c.mlp_bias),
        act(*this, c.plain_mlp->act, c.activation) {}
  Tensor operator()(Tensor x) const {
    const auto call = Enter();
    const Tensor inner = in(x);
    const Tensor acted = act(inner);
    Leave(net(), {inner});
    const Tensor found = down(acted);
    if (!c.inner_dropout) return found;
    return b().Call("aten::dropout", found, c.residual_dropout, net().options.training);
  }
  const DecoderConfig& c;
  Linear in, down;
  Activation act;
};

// A router with its experts, and with one that all tokens share.
struct SparseBlock : Layer {
  SparseBlock(const Layer& parent, const DecoderConfig& config)
      : Layer(parent, "mlp", config.classes + "SparseMoeBlock"), c(config) {
    const bool experts_first = c.sparse == Sparse::kExpertsFirst;
    if (experts_first) experts.emplace(*this, "experts", c.classes + "Experts", c.experts);
    gate.emplace(*this, "gate", c.classes + "TopKRouter", c.experts);
    if (!experts_first) experts.emplace(*this, "experts", c.classes + "Experts", c.experts);
    if (c.sparse != Sparse::kShared) return;
    shared.emplace(*this, "shared_expert", c, c.shared_inner);
    shared_gate.emplace(*this, "shared_expert_gate", c.hidden, 1, Bias::kNone);
  }
  Tensor operator()(Tensor x, std::vector<Tensor>& routers) const {
    const auto call = Enter();
    if (net().options.training && c.experts.jitter > 0.0) {
      const double jitter = c.experts.jitter;
      Tensor noise = b().Call("aten::empty_like", x);
      noise = b().Call("aten::uniform_", noise, 1.0 - jitter, 1.0 + jitter);
      x = b().Call("aten::mul_.Tensor", x, noise);
    }
    const Tensor rows = RowsOf(net(), x, c.hidden);
    const Tensor common = shared ? (*shared)(rows) : Tensor();
    const Routed routed = (*gate)(rows);
    routers.push_back(routed.logits);
    Tensor out = (*experts)(rows, routed);
    if (shared) {
      const Tensor share = b().Call("aten::sigmoid", (*shared_gate)(rows));
      out = b().Call("aten::add.Tensor", out, b().Call("aten::mul.Tensor", share, common));
    }
    out = BatchOf(net(), out, c.hidden);
    Leave(net(), {routed.logits, routed.weights, routed.chosen});
    return out;
  }
  const DecoderConfig& c;
  std::optional<Experts> experts;
  std::optional<TopKRouter> gate;
  std::optional<GatedMlp> shared;
  std::optional<Linear> shared_gate;
};

// A router with its experts, which returns what the router gives the chosen ones.
struct ScoredBlock : Layer {
  ScoredBlock(const Layer& parent, const DecoderConfig& config)
      : Layer(parent, "mlp", config.classes + "MLP"),
        c(config),
        router(*this, "router", c.classes + "TopKRouter", c.experts),
        experts(*this, "experts", c.classes + "Experts", c.experts) {}
  Fed operator()(Tensor x, std::vector<Tensor>& routers) const {
    const auto call = Enter();
    const Tensor rows = b().Call("aten::reshape", x, Shape{-1, c.hidden});
    const Routed routed = router(rows);
    routers.push_back(routed.logits);
    const Tensor out = BatchOf(net(), experts(rows, routed), c.hidden);
    Leave(net(), {routed.logits, routed.chosen});
    return {out, routed.weights};
  }
  const DecoderConfig& c;
  ChosenRouter router;
  Experts experts;
};

// A router that shares out the logits of those it chooses, with its experts.
struct ChosenBlock : Layer {
  ChosenBlock(const Layer& parent, const DecoderConfig& config)
      : Layer(parent, config.sparse_name, config.classes + "MoE"),
        c(config),
        router(*this, "router", c.classes + "TopKRouter", c.experts),
        experts(*this, "experts", c.classes + "Experts", c.experts) {}
  Tensor operator()(Tensor x, std::vector<Tensor>& routers) const {
    const auto call = Enter();
    const Tensor rows = b().Call("aten::reshape", x, Shape{-1, c.hidden});
    const Routed routed = router(rows);
    routers.push_back(routed.logits);
    const Tensor out = BatchOf(net(), experts(rows, routed), c.hidden);
    Leave(net(), {routed.logits, routed.weights, routed.chosen});
    return out;
  }
  const DecoderConfig& c;
  ChosenRouter router;
  Experts experts;
};

struct FeedForward {
  FeedForward(const Layer& parent, const DecoderConfig& c, std::int64_t number) {
    const auto index = static_cast<std::size_t>(number);
    if (c.plain_mlp) {
      plain.emplace(parent, c);
    } else if (c.sparse == Sparse::kNone || (index < c.dense.size() && c.dense[index])) {
      dense.emplace(parent, "mlp", c, c.inner);
    } else if (c.sparse == Sparse::kScored) {
      scored.emplace(parent, c);
    } else if (c.sparse == Sparse::kGrouped) {
      grouped.emplace(parent, c);
    } else if (c.sparse == Sparse::kChosen) {
      chosen.emplace(parent, c);
    } else {
      sparse.emplace(parent, c);
    }
  }
  Fed operator()(Tensor x, std::vector<Tensor>& routers) const {
    if (plain) return (*plain)(x);
    if (scored) return (*scored)(x, routers);
    if (grouped) return (*grouped)(x);
    if (chosen) return (*chosen)(x, routers);
    return dense ? (*dense)(x) : (*sparse)(x, routers);
  }
  std::optional<PlainMlp> plain;
  std::optional<GatedMlp> dense;
  std::optional<SparseBlock> sparse;
  std::optional<ScoredBlock> scored;
  std::optional<ChosenBlock> chosen;
  std::optional<GroupedBlock> grouped;
};

}  // namespace

DecoderConfig ReadDecoder(const Settings& c, std::string_view classes,
                          const DecoderDefaults& defaults) {
  CheckRotary(c);
  const std::int64_t hidden = c.Size("hidden_size", defaults.hidden);
  const std::int64_t heads = c.Size("num_attention_heads", defaults.heads);
  // Null is as many as there are heads.
  const std::int64_t missing = defaults.keys.value_or(heads);
  const bool told = c.Has("num_key_value_heads");
  const std::int64_t keys = told ? c.Size("num_key_value_heads", missing) : missing;
  // Where nothing says how wide a head is, the heads share the model's width.
  if (!c.Has("head_dim") && !defaults.width) {
    c.Quotient("hidden_size", hidden, "num_attention_heads", heads);
  }
  const std::int64_t width = c.Count("head_dim", defaults.width.value_or(hidden / heads));
  c.Quotient("num_attention_heads", heads, "num_key_value_heads", keys);
  if (width % 2 != 0 && !c.Has("partial_rotary_factor")) {
    c.Refuse("head_dim", "it is " + std::to_string(width) + ", and halves of a head are turned",
             "Is it even in the config that the model was made of?");
  }
  DecoderConfig out;
  out.classes = classes;
  out.hidden = hidden;
  out.inner = c.Size("intermediate_size", defaults.inner);
  out.layers = c.Layers("num_hidden_layers", defaults.layers);
  out.vocabulary = c.Size("vocab_size", defaults.vocabulary);
  out.positions = c.Size("max_position_embeddings", defaults.positions);
  out.heads = {.query = heads, .key = keys, .width = width};
  out.rotated = width;
  out.eps = c.Real("rms_norm_eps", defaults.eps);
  out.scale = out.heads.scale();
  out.attention_dropout = c.Share("attention_dropout", 0.0);
  out.activation = {.config_key = "hidden_act", .name = c.Text("hidden_act", defaults.activation)};
  out.tied = c.Flag("tie_word_embeddings", defaults.tied);
  out.padding = c.CountOrNone("pad_token_id");
  return out;
}

std::optional<std::int64_t> KeysOf(const Settings& c, std::int64_t missing) {
  if (c.Stands("num_key_value_heads")) return {};
  return missing;
}

void LookThrough(DecoderConfig& config, std::optional<std::int64_t> window) {
  config.window = window;
  config.full_mask = !window;
}

void ReadLayerTypes(const Settings& c, DecoderConfig& config,
                    const std::function<bool(std::int64_t layer)>& slides) {
  config.windowed = NearLayers(c, config.layers, slides);
}

void ReadDenseLayers(const Settings& c, DecoderConfig& config) {
  const std::vector<std::int64_t> dense = c.Counts("mlp_only_layers");
  const std::int64_t step = c.Size("decoder_sparse_step", 1);
  for (std::int64_t i = 0; i < Admitted(c, "num_hidden_layers", config.layers); ++i) {
    const bool listed = std::ranges::find(dense, i) != dense.end();
    config.dense.push_back(listed || config.experts.count == 0 || (i + 1) % step != 0);
  }
}

GatedMlp::GatedMlp(const Layer& parent, std::string_view name, const DecoderConfig& c,
                   std::int64_t inner)
    : Layer(parent, name, c.classes + "MLP"),
      in(c.fused_mlp ? Joined(*this, c, inner) : Apart(*this, c, inner)),
      down(*this, "down_proj", inner, c.hidden, c.mlp_bias),
      act(*this, c.fused_mlp ? "activation_fn" : "act_fn", c.activation),
      dropout(c.inner_dropout ? std::optional(c.residual_dropout) : std::nullopt) {}

std::vector<Linear> GatedMlp::Joined(const Layer& mlp, const DecoderConfig& c, std::int64_t inner) {
  return {Linear(mlp, "gate_up_proj", c.hidden, 2 * inner, c.mlp_bias)};
}

std::vector<Linear> GatedMlp::Apart(const Layer& mlp, const DecoderConfig& c, std::int64_t inner) {
  std::vector<Linear> both;
  both.emplace_back(mlp, "gate_proj", c.hidden, inner, c.mlp_bias);
  both.emplace_back(mlp, "up_proj", c.hidden, inner, c.mlp_bias);
  return both;
}

Tensor GatedMlp::operator()(Tensor x) const {
  const auto call = Enter();
  if (in.size() == 1) {
    const std::vector<Tensor> halves = b().CallMany("aten::chunk", 2, in[0](x), 2, -1);
    const Tensor product = b().Call("aten::mul.Tensor", halves[1], act(halves[0]));
    const Tensor found = down(product);
    Leave(net(), {product, halves[0]});
    return found;
  }
  const Tensor gated = act(in[0](x));
  const Tensor found = down(b().Call("aten::mul.Tensor", gated, in[1](x)));
  if (!dropout) return found;
  return b().Call("aten::dropout", found, *dropout, net().options.training);
}

TokenEmbedding::TokenEmbedding(const Layer& parent, const DecoderConfig& c)
    : Layer(parent, "embed_tokens",
            c.gemma ? c.classes + "TextScaledWordEmbedding"
                    : std::string("torch.nn.modules.sparse.Embedding")),
      weight(Parameter("weight", {c.vocabulary, c.hidden})),
      scale(c.gemma ? Buffer("embed_scale", net().dtype(), {}, false) : Tensor()),
      padding(c.padding) {}

Tensor TokenEmbedding::operator()(Tensor tokens) const {
  const auto call = Enter();
  const Tensor found = b().Call("aten::embedding", weight, tokens, padding.value_or(-1));
  return scale.defined() ? b().Call("aten::mul.Tensor", found, scale) : found;
}

HeadPlan PlanOf(const Settings& settings, const DecoderConfig& config) {
  return {.hidden = config.hidden,
          .vocabulary = config.vocabulary,
          .positions = config.positions,
          .tied = config.tied,
          .softcap = config.logit_cap,
          .divisor = config.logit_divisor,
          .factor = config.logit_factor,
          .next_token_bias = config.logit_bias,
          .dropout = settings.Share("classifier_dropout", settings.Share("hidden_dropout", 0.1)),
          .span_base = config.span_base};
}

CacheLayer KeptBy(const DecoderConfig& config, std::optional<std::int64_t> window) {
  return {.heads = config.heads.key,
          .key_width = config.heads.width,
          .value_width = config.heads.width,
          .window = window.value_or(0)};
}

void BuildDecoder(Net& net, const DecoderConfig& config) {
  BuildDecoderText<DecoderModel<SelfAttention, FeedForward, DecoderConfig>>(net, config);
}

}  // namespace steelyard::models
