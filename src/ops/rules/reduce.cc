// SPDX-License-Identifier: Apache-2.0
#include "ops/rules/reduce.h"

#include <fmt/core.h>

namespace steelyard::ops {

LossReduction ReductionOf(const OpView& op, int i) {
  const std::int64_t number = op.integer(i, 1);
  if (number < 0 || number > 2) Refuse(fmt::format("a reduction of {}", number));
  return static_cast<LossReduction>(number);
}

Tensor Reduce(Dispatcher& d, const Tensor& terms, LossReduction reduction) {
  switch (reduction) {
    case LossReduction::kNone:
      return terms;
    case LossReduction::kMean:
      return d.Call("aten::mean", terms);
    case LossReduction::kSum:
      return d.Call("aten::sum", terms);
  }
  __builtin_unreachable();
}

}  // namespace steelyard::ops
