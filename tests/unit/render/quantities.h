// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steelyard/units.h"

namespace steelyard {

inline Quantity Bytes(std::int64_t value, Claim claim = Claim::kExact) {
  return {.value = value, .unit = Unit::kBytes, .claim = claim};
}

}  // namespace steelyard
