// SPDX-License-Identifier: Apache-2.0
//
// DeBERTa's layers, of versions 2 and 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/disentangled.h"
#include "models/encoder.h"

namespace steelyard::models {

struct DebertaConfig {
  std::int64_t hidden, inner, layers, vocabulary, positions, types, embedding, padding;
  std::int64_t heads, width;
  double eps, dropout, attention_dropout;
  DistanceConfig distances;
  bool positions_added, normed_distances, legacy, tied;
  std::int64_t kernel, groups;  // of a convolution beside the first layer; 0: there is none
};

DebertaConfig ReadDeberta(const Settings& config);

// Of modeling_deberta_v2.py.
std::string DebertaClass(std::string_view name);

// DebertaV2SelfOutput and DebertaV2Output: back to the hidden width, added to what came in, normed.
struct DebertaOutput : Layer {
  DebertaOutput(const Layer& parent, std::string_view class_name, std::int64_t in,
                const DebertaConfig& c);
  Tensor operator()(Tensor x, Tensor before) const;
  Linear dense;
  LayerNorm norm;
  Dropout dropout;
};

struct DebertaLayer : Layer {
  DebertaLayer(const Layer& parent, const std::string& name, std::int64_t number,
               const DebertaConfig& c);
  Tensor operator()(Tensor x, Tensor mask, Tensor distances, Tensor table) const;

 private:
  struct Attention : Layer {
    Attention(const Layer& parent, std::int64_t layer, const DebertaConfig& c);
    DisentangledAttention self;
    DebertaOutput output;
  };
  struct Intermediate : Layer {
    Intermediate(const Layer& parent, const DebertaConfig& c);
    Linear dense;
    Activation act;
  };
  Attention attention_;
  Intermediate intermediate_;
  DebertaOutput output_;
};

// A convolution beside the first layer.
struct DebertaConvolution : Layer {
  DebertaConvolution(const Layer& parent, const DebertaConfig& c);
  // `mask` of [batch, seq] is one for what is seen.
  Tensor operator()(Tensor x, Tensor residual, Tensor mask) const;

 private:
  const DebertaConfig& c_;
  Convolution conv_;
  LayerNorm norm_;
  Dropout dropout_;
  Activation act_;
};

// A mask of [batch, seq] as it multiplies hidden states.
Tensor AsFactor(const Net& net, Tensor mask);

}  // namespace steelyard::models
