// SPDX-License-Identifier: Apache-2.0
//
// The operands of a kernel that iterates over tensors, of which there are few: no heap is asked.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "ops/op_def.h"
#include "support/assert.h"

namespace steelyard {

// Those of some arguments that are given, in their order.
class GivenTensors {
 public:
  static constexpr std::size_t kMost = 4;

  // Requires: at most `kMost` operands.
  GivenTensors(const OpView& op, std::span<const int> operands) : all_(Nothing(op)) {
    SY_ASSERT(operands.size() <= kMost, "a kernel iterates over few tensors");
    for (const int i : operands) {
      if (op.given(i)) all_[count_++] = op.tensor(i);
    }
  }

  std::size_t size() const { return count_; }
  const TensorView* begin() const { return all_.data(); }
  const TensorView* end() const { return all_.data() + count_; }
  operator std::span<const TensorView>() const {  // NOLINT(google-explicit-constructor)
    return {all_.data(), count_};
  }

 private:
  static std::array<TensorView, kMost> Nothing(const OpView& op) {
    const TensorView none(op.program(), kNoId);
    return {none, none, none, none};
  }

  std::array<TensorView, kMost> all_;
  std::size_t count_ = 0;
};

}  // namespace steelyard
