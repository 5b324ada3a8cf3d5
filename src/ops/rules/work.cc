// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/work.h"

namespace steelyard {

Work operator+(const Work& a, const Work& b) {
  return {.mac = a.mac + b.mac,
          .alu = a.alu + b.alu,
          .special = a.special + b.special,
          .compare = a.compare + b.compare,
          .move = a.move + b.move,
          .masked = a.masked + b.masked};
}

namespace work {

Count Elements(std::span<const std::int64_t> sizes) {
  // A tensor with a size of 0 is empty, whatever its other sizes multiply to.
  bool empty = false, overflowed = false;
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    empty |= size == 0;
    overflowed |= __builtin_mul_overflow(count, size, &count) | (size < 0);
  }
  return empty ? 0 : overflowed ? -1 : count;
}

Count Elements(const TensorView& tensor) { return Elements(tensor.sizes()); }

Work Times(const PerElement& per, Count count) {
  return {.alu = count * per.alu,
          .special = count * per.special,
          .compare = count * per.compare,
          .move = count * per.move};
}

Work None(const OpView&) { return {}; }

Work Move(const OpView& op) {
  Work total;
  for (int i = 0; i < op.output_count(); ++i) total.move += Elements(op.output(i));
  return total;
}

}  // namespace work
}  // namespace steelyard
