// SPDX-License-Identifier: Apache-2.0
//
// The layers of modeling_bart.py and modeling_whisper.py, of transformers 5.
#include <cmath>

#include "models/bart.h"

namespace steelyard::models {
namespace {

constexpr double kEps = 1e-5;  // of torch.nn.LayerNorm

BartSide SideOf(const Settings& c, const BartKind& kind, std::string_view side,
                std::int64_t hidden) {
  const auto key = [&](std::string_view rest) { return std::string(side).append(rest); };
  const std::string heads_key = key("_attention_heads");
  const std::int64_t heads = c.Size(heads_key, kind.heads);
  return {
      .layers = c.Layers(key("_layers"), kind.layers),
      .inner = c.Size(key("_ffn_dim"), kind.inner),
      .heads = {
          .query = heads, .key = heads, .width = c.Quotient("d_model", hidden, heads_key, heads)}};
}

}  // namespace

std::string BartConfig::ClassOf(std::string_view name) const {
  return std::string(kind.module).append(kind.prefix).append(name);
}

BartConfig ReadBart(const Net& net, const BartKind& kind) {
  const Settings& c = net.config;
  for (const std::string_view key : {"encoder_layerdrop", "decoder_layerdrop"}) {
    if (!net.options.training || c.Real(key, 0.0) == 0.0) continue;
    c.Refuse(key, "a step that leaves layers out by chance has no one size");
  }
  const std::int64_t hidden = c.Size("d_model", kind.hidden);
  return {.kind = kind,
          .hidden = hidden,
          .vocabulary = c.Size("vocab_size", kind.vocabulary),
          .encoder = SideOf(c, kind, "encoder", hidden),
          .decoder = SideOf(c, kind, "decoder", hidden),
          .dropout = c.Share("dropout", kind.dropout),
          .attention_dropout = c.Share("attention_dropout", 0.0),
          .activation_dropout = c.Share("activation_dropout", 0.0),
          .shift = {.first = c.Count("decoder_start_token_id", kind.shift.first),
                    .padding = c.Count("pad_token_id", kind.shift.padding)},
          .tied = c.Flag("tie_word_embeddings", true)};
}

BartAttention::BartAttention(const Layer& parent, std::string_view name, const BartConfig& config,
                             const Heads& of)
    : Layer(parent, name, config.ClassOf("Attention")),
      c(config),
      heads(of),
      k(*this, "k_proj", c.hidden, c.hidden, c.kind.scaled_queries ? Bias::kNone : Bias::kOne),
      v(*this, "v_proj", c.hidden, c.hidden),
      q(*this, "q_proj", c.hidden, c.hidden),
      out(*this, "out_proj", c.hidden, c.hidden) {}

Tensor BartAttention::operator()(Tensor x, const Source& source, Tensor mask,
                                 bool backwards) const {
  const auto call = Enter();
  const double scale = 1.0 / std::sqrt(static_cast<double>(heads.width));
  const auto split = [&](Tensor of, Dim seq) { return SplitHeads(net(), of, heads.width, seq); };
  AttentionCall attend{.mask = mask,
                       .heads = heads,
                       .scale = scale,
                       .dropout = c.attention_dropout,
                       .backwards = backwards,
                       .wide_softmax = false};
  if (c.kind.scaled_queries) {
    const auto copied = [&](Tensor of, Dim seq) {
      return b().Call("aten::contiguous", split(of, seq));
    };
    attend.scale = 1.0;
    attend.query = copied(b().Call("aten::mul.Tensor", q(x), scale), net().seq);
    attend.key = copied(k(source.hidden), source.seq);
    attend.value = copied(v(source.hidden), source.seq);
  } else {
    attend.query = split(q(x), net().seq);
    const Tensor keys = k(source.hidden);
    const Tensor values = v(source.hidden);
    attend.key = split(keys, source.seq);
    attend.value = split(values, source.seq);
  }
  return out(b().Call("aten::reshape", Attend(net(), attend), Shape{net().batch, net().seq, -1}));
}

BartLayer::BartLayer(const Layer& parent, const std::string& name, const BartConfig& c, Sees sees)
    : Layer(parent, name, c.ClassOf(sees == Sees::kItself ? "EncoderLayer" : "DecoderLayer")),
      c_(c),
      self_(*this, "self_attn", c, sees == Sees::kItself ? c.encoder.heads : c.decoder.heads),
      self_norm_(*this, "self_attn_layer_norm", c.hidden, kEps),
      cross_(sees == Sees::kItself
                 ? std::nullopt
                 : std::optional<Cross>(
                       Cross{BartAttention(*this, "encoder_attn", c, c.decoder.heads),
                             LayerNorm(*this, "encoder_attn_layer_norm", c.hidden, kEps)})),
      act_(*this, "activation_fn", "activation_function", "gelu"),
      in_(*this, "fc1", c.hidden, sees == Sees::kItself ? c.encoder.inner : c.decoder.inner),
      out_(*this, "fc2", sees == Sees::kItself ? c.encoder.inner : c.decoder.inner, c.hidden),
      norm_(*this, "final_layer_norm", c.hidden, kEps) {}

Tensor BartLayer::Added(Tensor x, const LayerNorm& norm,
                        const std::function<Tensor(Tensor x)>& sublayer) const {
  const bool before = c_.kind.norm_before;
  Tensor y = sublayer(before ? norm(x) : x);
  y = b().Call("aten::dropout", y, c_.dropout, net().options.training);
  y = b().Call("aten::add.Tensor", x, y);
  return before ? y : norm(y);
}

Tensor BartLayer::operator()(Tensor x, Tensor mask, const Source& source, Tensor cross_mask) const {
  const auto call = Enter();
  x = Added(x, self_norm_, [&](Tensor y) {
    return self_(y, {.hidden = y, .seq = net().seq}, mask, cross_.has_value());
  });
  if (cross_) {
    x = Added(x, cross_->norm, [&](Tensor y) { return cross_->attention(y, source, cross_mask); });
  }
  return Added(x, norm_, [&](Tensor y) {
    const Tensor inner = act_(in_(y));
    return out_(b().Call("aten::dropout", inner, c_.activation_dropout, net().options.training));
  });
}

}  // namespace steelyard::models
