// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/composite.h"

#include <vector>

namespace steelyard::decompose {

std::vector<Tensor> CallWith(Dispatcher& d, const OpView& op, OpName target, int boxed) {
  const Tensor box = boxed < 0 ? Tensor() : d.Box(op.arg(boxed));
  std::vector<Argument> args;
  args.reserve(static_cast<std::size_t>(op.arg_count()));
  for (int i = 0; i < op.arg_count(); ++i) {
    args.push_back(i == boxed ? Argument::OfValue(box.id()) : op.arg(i));
  }
  std::vector<Tensor> results = d.CallWith(target, args);
  results.resize(1);
  return results;
}

std::vector<Tensor> Itself(Dispatcher& d, const OpView& op) { return {d.tensor(op, 0)}; }

void RequireTrue(Dispatcher& d, const Tensor& condition) {
  const Tensor one = d.Call("aten::new_ones", condition, Dims{});
  // Which makes nothing on the CPU.
  if (d.target().device == Device::kCuda) d.CallMany("aten::equal", condition, one);
}

}  // namespace steelyard::decompose
