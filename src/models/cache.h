// SPDX-License-Identifier: Apache-2.0
//
// Models that go on from what they have seen, as transformers runs them: a DynamicCache, which
// grows by concatenation, and Python's functions, whose variables live until they return or are
// assigned again (where torch.export lets go of each after its last use).
#pragma once

#include <cstdint>
#include <vector>

#include "models/model.h"

namespace steelyard::models {

// Whether what is built is a call of a generation.
inline bool Generates(const Net& net) { return net.options.cache.has_value(); }
// Tokens that it has seen before; those that it has seen when the call returns.
std::int64_t SeenBefore(const Net& net);

// A function returns: its variables go, in their order. Nothing in what torch.export writes.
void Leave(const Net& net, const std::vector<Tensor>& variables);

// How many keys attention is given in a call of a generation: those that are held and the new ones.
std::int64_t KeysGiven(const Net& net, const CacheLayer& layer);

struct States {
  Tensor key, value;
};
// DynamicLayer.update and DynamicSlidingWindowLayer.update: the keys and values that attention is
// given. `now` are variables of the caller, which assigns to them.
States Updated(Net& net, const States& now, const CacheLayer& layer);

// The caches stay, when all else has been returned. Beams that are chosen take over the caches of
// those they go on from (Cache.reorder_cache).
void KeepCaches(Net& net);

}  // namespace steelyard::models
