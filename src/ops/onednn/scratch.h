// SPDX-License-Identifier: Apache-2.0
//
// A kernel's scratch: one allocation for all of its buffers.
#pragma once

#include <cstdint>

#include "steelyard/op.h"

namespace steelyard::onednn {

class Scratch {
 public:
  // A buffer, if it has any bytes.
  void Add(Count bytes) {
    if (bytes != Count(0)) total_ += bytes + kGap;
  }
  Count total() const { return total_; }

 private:
  // What aligning each buffer may take (oneDNN, src/common/memory_tracking.hpp).
  static constexpr std::int64_t kGap = 128;
  Count total_;
};

}  // namespace steelyard::onednn
