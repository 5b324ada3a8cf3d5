// SPDX-License-Identifier: Apache-2.0
//
// Layers whose weight is stored as several tensors: packed numbers, their scales, zero points and
// whatever a scheme adds. Schemes are known by the names, dtypes and sizes of these tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/weights/stored.h"
#include "steelyard/tables.h"

namespace steelyard::weights {

// One weight of the model, as it is computed with.
struct QuantisedWeight {
  std::string name;                    // "model.layers.0.self_attn.q_proj.weight"
  std::string packing;                 // "gptq_int4_g128"
  DType dtype = DType::kFloat32;       // of the numbers that it unpacks to
  std::vector<std::int64_t> sizes;     // one, the count, where the headers do not tell them
  std::vector<std::uint32_t> tensors;  // of the stored ones; the packed numbers first
};

// What the headers do not tell, and a configuration beside the files may.
struct LayerHints {
  int bits = 0;            // of one number; 0: not known, or several
  std::int64_t group = 0;  // numbers that share a scale; the same
};
struct QuantisationHints {
  int bits = 0;            // of all layers but those below
  std::int64_t group = 0;  // the same
  // Of layers that are told of by name, "model.layers.0.mlp.down_proj", and are otherwise.
  std::map<std::string, LayerHints, std::less<>> layers = {};
};

// Every layer that is stored in a scheme that is known, in the order of the tensors.
std::vector<QuantisedWeight> FindQuantisedWeights(const StoredWeights& weights,
                                                  const QuantisationHints& hints);

}  // namespace steelyard::weights
