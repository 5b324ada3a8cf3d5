// SPDX-License-Identifier: Apache-2.0
//
// The frame of Llama's likes: embedding, masks, layers and norm, around an attention and what
// follows it in each layer.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/decoder.h"

namespace steelyard::models {

struct DecoderNorm : RmsNorm {
  DecoderNorm(const Layer& parent, std::string_view name, const DecoderConfig& c,
              std::int64_t width, double epsilon)
      : RmsNorm(parent, name, c.classes + "RMSNorm", width, epsilon,
                c.gemma ? RmsWeight::kOneMore : RmsWeight::kPlain) {}
  DecoderNorm(const Layer& parent, std::string_view name, const DecoderConfig& c)
      : DecoderNorm(parent, name, c, c.hidden, c.eps) {}
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
        norms_behind(c.norms_behind),
        attention(*this, c),
        mlp(*this, c, number) {
    norms.emplace_back(*this, "input_layernorm", c);
    norms.emplace_back(*this, "post_attention_layernorm", c);
    if (norms_behind) {
      norms.emplace_back(*this, "pre_feedforward_layernorm", c);
      norms.emplace_back(*this, "post_feedforward_layernorm", c);
    }
    if (c.fused) {
      dropouts.emplace_back(*this, "resid_attn_dropout", c.residual_dropout);
      dropouts.emplace_back(*this, "resid_mlp_dropout", c.residual_dropout);
    }
  }
  Tensor operator()(Tensor x, Tensor mask, const Rotary& rotary, const CacheLayer& layer,
                    std::vector<Tensor>& routers) const {
    const auto call = Enter();
    const Tensor first = norms[0](x);
    const Attended attended = attention(first, mask, rotary, layer);
    Leave(net(), {first});
    Tensor y = attended.out;
    if (norms_behind) y = norms[1](y);
    if (!dropouts.empty()) y = dropouts[0](y);
    const Tensor between = b().Call("aten::add.Tensor", x, y);
    const Tensor second = norms[norms_behind ? 2 : 1](between);
    y = mlp(second, routers);
    Leave(net(), {second});
    if (norms_behind) y = norms[3](y);
    if (!dropouts.empty()) y = dropouts[1](y);
    y = b().Call("aten::add.Tensor", between, y);
    Leave(net(), {between, attended.weights});
    return y;
  }
  bool norms_behind;
  Attention attention;
  FeedForward mlp;
  std::vector<DecoderNorm> norms;
  std::vector<Dropout> dropouts;
};

template <class Attention, class FeedForward, class Config>
struct DecoderModel : Layer {
  DecoderModel(const Layer& parent, std::string_view name, const Config& config)
      : Layer(parent, name, config.classes + std::string(config.model_class)),
        c(config),
        embed(*this, c),
        layers(
            Numbered<DecoderLayer<Attention, FeedForward, Config>>(*this, "layers", c.layers, c)),
        norm(*this, "norm", c),
        rotary(*this, "rotary_emb", c.classes + "RotaryEmbedding", c.rotated, RotaryKinds(c)) {}
  Tensor operator()(Tensor tokens, std::vector<Tensor>& routers) const {
    const auto call = Enter();
    const Tensor embedded = embed(tokens);
    Tensor x = embedded;
    const Tensor positions = Positions(net());
    const Tensor full = c.full_mask ? MaskOf(positions, {}) : Tensor();
    const Tensor near = c.window ? MaskOf(positions, c.window) : Tensor();
    std::vector<Rotary> turns;
    turns.reserve(rotary.frequencies.size());
    for (std::size_t kind = 0; kind < rotary.frequencies.size(); ++kind) {
      turns.push_back(rotary(positions, kind));
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool windowed = !c.full_mask || (i < c.windowed.size() && c.windowed[i]);
      const Rotary& turn = turns[windowed ? turns.size() - 1 : 0];
      const Tensor next = layers[i](x, windowed ? near : full, turn,
                                    KeptBy(c, windowed ? c.window : std::nullopt), routers);
      Leave(net(), {x});
      x = next;
    }
    x = norm(x);
    // Where there are two masks, they and what they are made of stand in dictionaries.
    Leave(net(), c.windowed.empty() ? std::vector<Tensor>{positions, embedded, full, near}
                                    : std::vector<Tensor>{full, near, embedded, positions});
    for (const Rotary& turn : turns) Leave(net(), {turn.cos, turn.sin});
    return x;
  }
  // Of the layers that look through the window, or of the others.
  Tensor MaskOf(Tensor positions, std::optional<std::int64_t> window) const {
    if (Generates(net())) return MaskOfStep(net(), KeptBy(c, window), window);
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
