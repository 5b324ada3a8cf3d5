// SPDX-License-Identifier: Apache-2.0
#include "ir/cache_layer.h"

#include <algorithm>

namespace steelyard {

std::int64_t TokensHeld(const CacheLayer& layer, std::int64_t seen) {
  // Of a window of one token it keeps all: the slice of the last -1 + 1 is that from the first on.
  if (layer.window <= 1) return seen;
  return std::min(seen, layer.window - 1);
}

std::int64_t TokensStored(const CacheLayer& layer, std::int64_t past, std::int64_t tokens) {
  const std::int64_t held = TokensHeld(layer, past + tokens);
  if (held == past + tokens) return held;
  return TokensHeld(layer, past) + tokens;
}

}  // namespace steelyard
