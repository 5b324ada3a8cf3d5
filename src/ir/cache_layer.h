// SPDX-License-Identifier: Apache-2.0
//
// How many tokens a layer of a model that writes text keeps: the one place that says it, for the
// programs that are built and for what is told of them.
#pragma once

#include <cstdint>

#include "steelyard/program.h"

namespace steelyard {

// Tokens that the layer needs of a sequence of which it has seen so many: a window of w tokens
// needs the last w - 1 besides the next one.
std::int64_t TokensHeld(const CacheLayer& layer, std::int64_t seen);

// Tokens that transformers' DynamicCache holds on to when a call was given `tokens` after `past`
// others: where a window leaves some away, the kept ones are a view of all that attention was given
// (DynamicSlidingWindowLayer.update in cache_utils.py of transformers 5).
std::int64_t TokensStored(const CacheLayer& layer, std::int64_t past, std::int64_t tokens);

}  // namespace steelyard
