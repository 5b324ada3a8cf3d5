// SPDX-License-Identifier: Apache-2.0
//
// A kernel's scratch: one allocation for all of its buffers.
#pragma once

#include <cstdint>

#include "steelyard/op.h"

namespace steelyard::onednn {

class Scratch {
 public:
  // `gap`: what aligning each buffer may take (oneDNN, src/common/memory_tracking.hpp).
  explicit Scratch(std::int64_t gap = 128) : gap_(gap) {}
  // A buffer, if it has any bytes.
  void Add(Count bytes) {
    if (bytes != Count(0)) total_ += bytes + gap_;
  }
  Count total() const { return total_; }

 private:
  std::int64_t gap_;
  Count total_;
};

}  // namespace steelyard::onednn
