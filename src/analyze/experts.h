// SPDX-License-Identifier: Apache-2.0
//
// Mixtures of experts: which parameters are stacks of experts, and how many of them a token uses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

struct ExpertShare {
  std::int64_t experts = 0;  // in the stack
  std::int64_t active = 0;   // chosen for a token
};

struct ExpertUse {
  int experts = 0;  // of the largest stack; 0: the model has none
  int active = 0;
  std::vector<ExpertShare> by_storage;  // experts 0 where the storage holds none

  std::optional<ExpertShare> Of(StorageId storage) const {
    if (storage >= by_storage.size() || by_storage[storage].experts == 0) return std::nullopt;
    return by_storage[storage];
  }
};

// A parameter whose first dimension a routed product walks is a stack of that
// many experts; a token's share is what the router's selection keeps of its last dimension.
ExpertUse FindExperts(const Program& kernels);

}  // namespace steelyard
