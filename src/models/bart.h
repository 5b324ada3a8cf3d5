// SPDX-License-Identifier: Apache-2.0
//
// BART's layers, which Whisper has under names of its own and in another order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/seq2seq.h"

namespace steelyard::models {

// What an architecture's config class says where a config says nothing, and what it differs in.
struct BartKind {
  std::string_view module, prefix;  // of its classes: "transformers...modeling_bart.", "Bart"
  std::int64_t hidden = 1024, layers = 12, heads = 16, inner = 4096, vocabulary = 50265;
  double dropout = 0.1;
  Shift shift = {.first = 2, .padding = 1};
  bool norm_before = false;  // layers norm what they are given, not what they have added
  bool scaled_queries =
      false;  // before heads are apart, all of which are copied; keys have no bias
};

// One of the two sides.
struct BartSide {
  std::int64_t layers, inner;
  Heads heads;
};

struct BartConfig {
  const BartKind& kind;
  std::int64_t hidden, vocabulary;
  BartSide encoder, decoder;
  double dropout, attention_dropout, activation_dropout;
  Shift shift;
  bool tied;
  std::string ClassOf(std::string_view name) const;
};

BartConfig ReadBart(const Net& net, const BartKind& kind);

struct BartAttention : Layer {
  BartAttention(const Layer& parent, std::string_view name, const BartConfig& c,
                const Heads& heads);
  // `x` sees `source`, or of itself what comes before.
  Tensor operator()(Tensor x, const Source& source, Tensor mask, bool backwards = false) const;
  const BartConfig& c;
  Heads heads;
  Linear k, v, q, out;
};

// An encoder's layer, or a decoder's, which sees the encoder's output too.
struct BartLayer : Layer {
  enum class Sees : std::uint8_t { kItself, kSourceToo };
  BartLayer(const Layer& parent, const std::string& name, const BartConfig& c, Sees sees);
  // Masks may be none: nothing is hidden.
  Tensor operator()(Tensor x, Tensor mask, const Source& source = {}, Tensor cross_mask = {}) const;

 private:
  struct Cross {
    BartAttention attention;
    LayerNorm norm;
  };
  Tensor Added(Tensor x, const LayerNorm& norm,
               const std::function<Tensor(Tensor x)>& sublayer) const;

  const BartConfig& c_;
  BartAttention self_;
  LayerNorm self_norm_;
  std::optional<Cross> cross_;
  Activation act_;
  Linear in_, out_;
  LayerNorm norm_;
};

}  // namespace steelyard::models
