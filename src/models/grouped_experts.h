// SPDX-License-Identifier: Apache-2.0
//
// DeepSeek V3's experts, which others have, too: they lie in groups, of which a router chooses
// some, and stand beside one that all tokens share.
#pragma once

#include <cstdint>
#include <vector>

#include "models/decoder.h"

namespace steelyard::models {

struct GroupDefaults {
  std::int64_t experts, inner, groups, chosen, dense;
  double scale;
};
// The keys of a config that say so.
void ReadGroups(const Settings& c, DecoderConfig& config, const GroupDefaults& defaults);

// Chooses some groups by their two best experts, then experts within them.
struct GroupRouter : Layer {
  GroupRouter(const Layer& parent, const DecoderConfig& config);
  Routed operator()(Tensor x) const;
  const DecoderConfig& c;
  Tensor weight, correction;

 private:
  std::vector<Tensor> Best(Tensor x, std::int64_t count) const;
  // The scores of experts in chosen groups; those of others are infinitely low.
  Tensor OfChosenGroups(Tensor scores, std::vector<Tensor>& variables) const;
};

struct GroupedBlock : Layer {
  GroupedBlock(const Layer& parent, const DecoderConfig& config);
  Tensor operator()(Tensor x) const;
  const DecoderConfig& c;
  Experts experts;
  GroupRouter gate;
  GatedMlp shared;
};

}  // namespace steelyard::models
