// SPDX-License-Identifier: Apache-2.0
//
// How the layers of a model are shared by the processes of a group, as the styles of
// torch.distributed.tensor.parallel say, and which operators run instead of a module's own.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ops/parallel/placement.h"

namespace steelyard::ops {

// What a style makes of one operator that a module calls.
struct LayerStyle {
  std::string_view name;  // "colwise"
  std::string_view op;    // what the module calls
  std::string_view replacement;
  // What transformers' own layers are without gradients, where that is another one.
  std::string_view without_gradients = {};
  // What of its arguments the replacement takes, in this order; then how many processes there are,
  // which this one is, in which placements its input comes and its result goes, how large the whole
  // is along what its parameter is shared by, and whether it comes and goes as a DTensor.
  std::array<std::string_view, 3> arguments;
  std::string_view input;    // the one of them that is no parameter
  int weight_dim = 0;        // the weight's dimension that is shared
  Placement takes = {};      // what it computes with
  Placement gives = {};      // and what that makes
  bool splits_bias = false;  // with its bias
};

// Several rows of one name are of several operators.
std::span<const LayerStyle> LayerStyles();

// An operator whose arguments name sizes or places in its first tensor, and what runs instead where
// each process has a part of that: the same with the sizes of the whole after it.
struct PartCall {
  std::string_view op, replacement;
};
std::span<const PartCall> PartCalls();

}  // namespace steelyard::ops
