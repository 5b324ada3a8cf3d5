// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/composite.h"

#include <array>
#include <cstddef>

namespace steelyard::decompose {

std::vector<Tensor> CallWith(Dispatcher& d, const OpView& op, OpName target, int boxed) {
  const Tensor box = boxed < 0 ? Tensor() : d.Box(op.arg(boxed));
  std::array<Argument, 4> args;
  const auto count = static_cast<std::size_t>(op.arg_count());
  if (count == 0 || count > args.size()) Refuse("too many arguments to pass on");
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_box = static_cast<int>(i) == boxed;
    args[i] = is_box ? Argument::OfValue(box.id()) : op.arg(static_cast<int>(i));
  }
  if (count == 1) return {d.Call(target, args[0])};
  if (count == 2) return {d.Call(target, args[0], args[1])};
  if (count == 3) return {d.Call(target, args[0], args[1], args[2])};
  return {d.Call(target, args[0], args[1], args[2], args[3])};
}

}  // namespace steelyard::decompose
