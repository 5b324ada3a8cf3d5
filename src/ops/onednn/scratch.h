// SPDX-License-Identifier: Apache-2.0
//
// A kernel's scratch: one allocation for all of its buffers.
#pragma once

#include <cstdint>

#include "ops/onednn/problem.h"
#include "ops/op_def.h"

namespace steelyard::onednn {

// A list of pairs of matrices: it fills whole pages, and then whole pairs.
inline std::int64_t PairListBytes(std::int64_t pairs) {
  constexpr std::int64_t kPage = 4096, kPair = 40;
  return DivideUp(RoundUp(pairs * kPair, kPage), kPair) * kPair;
}

class Scratch {
 public:
  // `gap`: what aligning each buffer may take (oneDNN, src/common/memory_tracking.hpp).
  explicit Scratch(std::int64_t gap = 128) : gap_(gap) {}
  // A buffer, if it has any bytes.
  void Add(Count bytes) { Add(bytes, gap_); }
  void Add(Count bytes, std::int64_t gap) {
    if (bytes != Count(0)) total_ += bytes + gap;
  }
  Count total() const { return total_; }

 private:
  std::int64_t gap_;
  Count total_;
};

}  // namespace steelyard::onednn
