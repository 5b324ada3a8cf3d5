// SPDX-License-Identifier: Apache-2.0
//
// Models written from their configs: one file for each architecture, one row for each in
// registry.cc. A file mirrors transformers' modeling code, module by module, so that the program is
// the one that torch.export makes of it: same operators in the same order, same names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/settings.h"
#include "steelyard/builder.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard::models {

using Tensor = Builder::Tensor;
using Shape = Builder::Shape;

// Tokens of a text whose length nobody says.
inline constexpr std::int64_t kUsualSeq = 512;

// The implementation of attention: transformers' attn_implementation "sdpa", "eager" and
// "flash_attention_2", which makes no masks.
enum class Attention : std::uint8_t { kSdpa, kEager, kFlash };

struct AttentionRow {
  std::string_view name;
  Attention attention;
};
// The first is taken where none is named.
std::span<const AttentionRow> Attentions();
// Nothing for a name that is not known.
std::optional<Attention> AttentionNamed(std::string_view name);

// What is built of an architecture.
struct ModelOptions {
  std::string head = {};          // "ForCausalLM"; "Model" for none
  DType dtype = DType::kFloat32;  // of parameters and activations
  Attention attention = Attention::kSdpa;
  bool training = false;                // dropout runs
  bool labelled = false;                // takes labels and returns its loss before the rest
  std::optional<CacheStep> cache = {};  // what is built is a call of a generation
  bool holds_variables = false;         // as Python runs it, not as it is traced
};

// What every module of a model being built shares.
struct Net {
  Builder& b;
  const Settings& config;
  const ModelOptions& options;
  Dim batch{1};
  Dim seq{1};
  bool noted_scratch = false;     // of experts
  std::vector<Tensor> kept = {};  // of a generation: keys and values, layer by layer
  DType dtype() const { return options.dtype; }
};

struct Architecture {
  std::string_view type;                    // model_type of the config: "llama"
  std::string_view prefix;                  // of its classes: "Llama"
  std::string_view summary;                 // one line
  std::span<const std::string_view> heads;  // the first is built where the config names none
  void (*build)(Net& net);
  bool generates = false;  // calls that keep keys and values are built of it
  // The one implementation of attention that there is of it.
  std::optional<Attention> only_attention = {};
  bool flash = false;  // flash attention is built of it, too
};

std::span<const Architecture* const> Architectures();
// The architecture of a model_type; nullptr where there is none.
const Architecture* FindArchitecture(std::string_view type);

}  // namespace steelyard::models
