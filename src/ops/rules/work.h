// SPDX-License-Identifier: Apache-2.0
//
// Work rules: what a kernel computes, by kind, without any tool's convention of counting.
#pragma once

#include <cstdint>
#include <span>

#include "ops/op_def.h"

namespace steelyard {

Work operator+(const Work& a, const Work& b);

namespace work {

// Arithmetic done for each element.
struct PerElement {
  int alu = 0;
  int special = 0;
  int compare = 0;
  int move = 0;
};

// Elements of a tensor or shape; an expanded one may have more than fit.
Count Elements(std::span<const std::int64_t> sizes);
Count Elements(const TensorView& tensor);

// `per` for each of `count` elements.
Work Times(const PerElement& per, Count count);

// Nothing is computed or moved.
Work None(const OpView& op);
// Every element of every output is moved.
Work Move(const OpView& op);

// `kPer` for each element of the first output.
template <PerElement kPer>
Work PerOutput(const OpView& op) {
  return Times(kPer, Elements(op.output(0)));
}
// `kPer` for each element of argument 0.
template <PerElement kPer>
Work PerInput(const OpView& op) {
  return Times(kPer, Elements(op.tensor(0)));
}

}  // namespace work
}  // namespace steelyard
