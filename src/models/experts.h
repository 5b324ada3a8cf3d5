// SPDX-License-Identifier: Apache-2.0
//
// Mixtures of experts: a router chooses a few experts for each token, whose weights lie in one
// tensor. transformers multiplies them grouped (integrations/moe.py, "grouped_mm").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/layers.h"

namespace steelyard::models {

struct ExpertPlan {
  std::int64_t count = 0, chosen = 1;  // experts, and of them for each token
  std::int64_t hidden = 1, inner = 1;
  // Of the router.
  bool normalised = true;     // weights of a token add up to one
  bool wide_weights = false;  // weights stay in float32
  double jitter = 0.0;        // of what a block is given, while it trains
  // Of the one that shares out the logits of those it chooses.
  bool router_bias = true;
  bool wide_logits = false;  // float32
  // Experts with biases, whose weights are not transposed, and whose gate has limits: GPT-OSS's.
  struct LimitedGate {
    double gain = 1.0, limit = 1.0;
  };
  std::optional<LimitedGate> limited = {};
};

// Rows for tokens: `x` of [batch, seq, width] as [batch * seq, width], and back.
Tensor RowsOf(const Net& net, Tensor x, std::int64_t width);
Tensor BatchOf(const Net& net, Tensor rows, std::int64_t width);

struct Routed {
  Tensor logits;           // of every expert
  Tensor weights, chosen;  // of the chosen ones
};

struct TopKRouter : Layer {
  TopKRouter(const Layer& parent, std::string_view name, std::string_view class_name,
             const ExpertPlan& plan);
  Routed operator()(Tensor rows) const;
  ExpertPlan plan;
  Tensor weight;
};

// With or without a bias; weights of a token are shares of the logits of those that are chosen.
struct ChosenRouter : Layer {
  ChosenRouter(const Layer& parent, std::string_view name, std::string_view class_name,
               const ExpertPlan& plan);
  Routed operator()(Tensor rows) const;
  ExpertPlan plan;
  Tensor weight, bias;
};

struct Experts : Layer {
  Experts(const Layer& parent, std::string_view name, std::string_view class_name,
          const ExpertPlan& plan);
  Tensor operator()(Tensor rows, const Routed& routed) const;
  ExpertPlan plan;
  Tensor gate_up, gate_up_bias, down, down_bias;
  std::optional<Activation> act;

 private:
  Tensor Product(Tensor rows, Tensor weight, Tensor offsets) const;
  // What the gate lets through of the product of gate and up.
  Tensor Gated(Tensor both) const;
  Tensor GatedWithLimits(Tensor both) const;
};

// What is added to a loss so that experts are chosen evenly, of the logits of every router.
Tensor LoadBalancingLoss(const Net& net, const std::vector<Tensor>& logits, const ExpertPlan& plan);

}  // namespace steelyard::models
