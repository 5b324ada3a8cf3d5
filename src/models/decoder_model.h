// SPDX-License-Identifier: Apache-2.0
//
// The frame of Llama's likes: embedding, masks, layers and norm, around an attention and what
// follows it in each layer.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/decoder.h"

namespace steelyard::models {

// Cohere's norm, which is written out in float32.
struct CentredNorm : Layer {
  CentredNorm(const Layer& parent, std::string_view name, std::string_view class_name,
              const Shape& sizes, double eps);
  Tensor operator()(Tensor x) const;
  Tensor weight;
  double eps;
};

// OLMo's norm: PyTorch's in float32, without a weight.
struct BareNorm : Layer {
  BareNorm(const Layer& parent, std::string_view name, std::string_view class_name,
           std::int64_t width, double eps);
  Tensor operator()(Tensor x) const;
  std::int64_t width;
  double eps;
};

struct DecoderNorm {
  DecoderNorm(const Layer& parent, std::string_view name, const DecoderConfig& c,
              std::int64_t width, double epsilon, std::int64_t heads = 0);
  DecoderNorm(const Layer& parent, std::string_view name, const DecoderConfig& c)
      : DecoderNorm(parent, name, c, c.hidden, c.eps) {}
  Tensor operator()(Tensor x) const;
  // One of them.
  std::optional<RmsNorm> root;
  std::optional<LayerNorm> mean;
  std::optional<CentredNorm> centred;
  std::optional<BareNorm> bare;
};

// What an MLP gives, and what it returns besides.
struct Fed {
  Fed(Tensor rows, Tensor besides = {}) : out(rows), kept(besides) {}
  Tensor out, kept;
};

// Gemma's is times a number that lies in a buffer.
struct TokenEmbedding : Layer {
  TokenEmbedding(const Layer& parent, const DecoderConfig& c);
  Tensor operator()(Tensor tokens) const;
  Tensor weight, scale;
  std::optional<std::int64_t> padding;
};

// `Attention` is called with a mask and a rotation, `FeedForward` with a list that it may add the
// logits of its router to.
template <class Attention, class FeedForward, class Config>
struct DecoderLayer : Layer {
  DecoderLayer(const Layer& parent, const std::string& name, std::int64_t number, const Config& c)
      : Layer(parent, name, c.classes + "DecoderLayer"),
        halves(c.halves),
        residual_scale(c.residual_scale),
        attention(*this, c) {
    if (!c.mlp_behind_norms) mlp.emplace(*this, c, number);
    for (const NormAt& norm : c.norms) {
      norms.at(static_cast<std::size_t>(norm.place)).emplace(*this, norm.name, c);
    }
    if (c.mlp_behind_norms) mlp.emplace(*this, c, number);
    const auto drop = [&](std::string_view of) {
      dropouts.emplace_back(*this, of, c.residual_dropout);
    };
    if (!c.attention_dropout_name.empty())
      attention_dropout = dropouts.size(), drop(c.attention_dropout_name);
    if (c.mlp_dropout_name.empty()) return;
    if (c.mlp_dropout_name != c.attention_dropout_name) drop(c.mlp_dropout_name);
    mlp_dropout = dropouts.size() - 1;
  }
  // What that norm, if the layer has it, makes of x.
  Tensor Normed(NormPlace place, Tensor x) const {
    const auto& norm = norms.at(static_cast<std::size_t>(place));
    return norm ? (*norm)(x) : x;
  }
  Tensor Added(Tensor x, Tensor y) const {
    if (!residual_scale) return b().Call("aten::add.Tensor", x, y);
    const Tensor scaled = b().Call("aten::mul.Tensor", y, *residual_scale);
    const Tensor sum = b().Call("aten::add.Tensor", x, scaled);
    Leave(net(), {y});
    return sum;
  }
  Tensor operator()(Tensor x, Tensor mask, const Rotary& rotary, const CacheLayer& layer,
                    std::vector<Tensor>& routers) const {
    const auto call = Enter();
    const Tensor first = Normed(NormPlace::kBeforeAttention, x);
    const Attended attended = attention(first, mask, rotary, layer);
    if (halves == Halves::kBeside || halves == Halves::kBesideLast)
      return Beside(x, first, attended, routers);
    const bool named = halves == Halves::kInTurnNamed;
    if (has(NormPlace::kBeforeAttention) && !named) Leave(net(), {first});
    Tensor y = Normed(NormPlace::kBehindAttention, attended.out);
    if (attention_dropout) y = dropouts[*attention_dropout](y);
    const Tensor between = Added(x, y);
    const Tensor second = Normed(NormPlace::kBeforeMlp, between);
    const Fed fed = (*mlp)(second, routers);
    y = fed.out;
    if (has(NormPlace::kBeforeMlp)) Leave(net(), {second});
    if (fed.kept.defined()) Leave(net(), {attended.weights});
    y = Normed(NormPlace::kBehindMlp, y);
    if (mlp_dropout) y = dropouts[*mlp_dropout](y);
    const Tensor out = Added(between, y);
    if (named) {
      Leave(net(), {first, between, attended.out, attended.weights, y});
    } else {
      Leave(net(), {between, fed.kept.defined() ? fed.kept : attended.weights});
    }
    return out;
  }
  // Attention and MLP of the same.
  Tensor Beside(Tensor x, Tensor first, const Attended& attended,
                std::vector<Tensor>& routers) const {
    Tensor y = attended.out;
    if (attention_dropout) y = dropouts[*attention_dropout](y);
    Tensor z = Fed((*mlp)(first, routers)).out;
    if (mlp_dropout) z = dropouts[*mlp_dropout](z);
    const bool last = halves == Halves::kBesideLast;
    const Tensor sum =
        last ? b().Call("aten::add.Tensor", y, z) : b().Call("aten::add.Tensor", x, y);
    const Tensor out = b().Call("aten::add.Tensor", sum, last ? x : z);
    Leave(net(), {first, y, z, attended.weights});
    return out;
  }
  bool has(NormPlace place) const { return norms.at(static_cast<std::size_t>(place)).has_value(); }
  Halves halves;
  std::optional<double> residual_scale;
  Attention attention;
  std::optional<FeedForward> mlp;
  std::array<std::optional<DecoderNorm>, 4> norms;  // by their places
  std::vector<Dropout> dropouts;
  std::optional<std::size_t> attention_dropout, mlp_dropout;  // which of them
};

template <class Attention, class FeedForward, class Config>
struct DecoderModel : Layer {
  DecoderModel(const Layer& parent, std::string_view name, const Config& config)
      : Layer(parent, name, config.classes + std::string(config.model_class)),
        c(config),
        embed(*this, c),
        layers(
            Numbered<DecoderLayer<Attention, FeedForward, Config>>(*this, "layers", c.layers, c)),
        norm(*this, c.last_norm, c),
        rotary(*this, "rotary_emb", c.classes + "RotaryEmbedding", c.rotated, RotaryKinds(c),
               c.rotary) {
    if (!c.embedding_dropout_name.empty()) {
      dropout.emplace(*this, c.embedding_dropout_name, c.embedding_dropout.value_or(0.0));
    }
  }
  Tensor operator()(Tensor tokens, std::vector<Tensor>& routers) const {
    const auto call = Enter();
    Tensor embedded = embed(tokens);
    const auto scale = [&](bool behind_masks) {
      if (!c.embedding_scale || c.scaled_behind_masks != behind_masks) return;
      embedded = b().Call("aten::mul.Tensor", embedded, *c.embedding_scale);
    };
    scale(false);
    const Tensor positions = Positions(net());
    const Tensor full = c.full_mask ? MaskOf(positions, {}) : Tensor();
    const Tensor near = c.window ? MaskOf(positions, c.window) : Tensor();
    scale(true);
    if (dropout) {
      embedded = (*dropout)(embedded);
    } else if (c.embedding_dropout) {
      embedded = b().Call("aten::dropout", embedded, *c.embedding_dropout, net().options.training);
    }
    Tensor x = embedded;
    std::vector<Rotary> turns;
    turns.reserve(rotary.frequencies.size());
    for (std::size_t kind = 0; kind < rotary.frequencies.size(); ++kind) {
      turns.push_back(rotary(positions, kind));
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool windowed = !c.full_mask || (i < c.windowed.size() && c.windowed[i]);
      const bool turns_not = i < c.unturned.size() && c.unturned[i];
      const Rotary turn = turns_not ? Rotary{} : turns[windowed ? turns.size() - 1 : 0];
      const Tensor next = layers[i](x, windowed ? near : full, turn,
                                    KeptBy(c, windowed ? c.window : std::nullopt), routers);
      Leave(net(), {x});
      x = next;
    }
    x = norm(x);
    // Where there are two masks, they and what they are made of stand in dictionaries.
    if (c.windowed.empty()) {
      Leave(net(), {positions, embedded, full, near});
    } else if (c.masks_know_positions) {
      Leave(net(), {full, near, embedded, positions});
    } else {
      Leave(net(), {positions, full, near, embedded});
    }
    for (const Rotary& turn : turns) Leave(net(), {turn.cos, turn.sin});
    return x;
  }
  // Of the layers that look through the window, or of the others.
  Tensor MaskOf(Tensor positions, std::optional<std::int64_t> window) const {
    if (Generates(net())) return MaskOfStep(net(), KeptBy(c, window), window);
    if (!c.masks_know_positions) return window ? NearCausalMask(net(), *window) : CausalMask(net());
    return CausalMask(net(), positions, window);
  }
  static std::vector<std::string_view> RotaryKinds(const DecoderConfig& c) {
    if (!c.rotary_by_mask) return {""};
    std::vector<std::string_view> kinds;
    if (std::ranges::find(c.windowed, false) != c.windowed.end())
      kinds.emplace_back("full_attention");
    if (std::ranges::find(c.windowed, true) != c.windowed.end()) {
      kinds.emplace_back("sliding_attention");
    }
    return kinds;
  }
  const Config& c;
  TokenEmbedding embed;
  std::vector<DecoderLayer<Attention, FeedForward, Config>> layers;
  DecoderNorm norm;
  RotaryEmbedding rotary;
  std::optional<Dropout> dropout;
};

// The heads' plan of a decoder.
HeadPlan PlanOf(const Settings& settings, const DecoderConfig& config);

// The model with the head that is asked for, which balances the routers' choices.
template <class Model, class Config>
void BuildDecoderText(Net& net, const Config& c) {
  const Layer root(net);
  const HeadPlan plan = PlanOf(net.config, c);
  const Model model(root, BaseName(net, plan), c);
  const TextHead head(root, plan, model.embed.weight);
  std::vector<Tensor> routers;
  AddToLoss balance;
  if (c.router_outputs) {
    balance = [&](Tensor loss) -> std::vector<Tensor> {
      const Tensor uneven = LoadBalancingLoss(net, routers, c.experts);
      if (!loss.defined()) return {uneven};
      const Tensor weighted = net.b.Call("aten::mul.Tensor", uneven, c.router_loss);
      return {net.b.Call("aten::add_.Tensor", loss, weighted), uneven};
    };
  }
  head.Run(net, [&](Tensor tokens) { return model(tokens, routers); }, balance);
  const bool returned =
      c.router_outputs && (TaskOf(net) == TextTask::kNextToken || TaskOf(net) == TextTask::kNone);
  for (std::size_t i = 0; returned && i < routers.size(); ++i) net.b.Return(routers[i]);
}

}  // namespace steelyard::models
