// SPDX-License-Identifier: Apache-2.0
//
// What a training loop does besides the model: `loss.backward()` and `optimizer.zero_grad()`.

#include <array>
#include <string>
#include <vector>

#include "ops/autograd.h"
#include "ops/dispatcher.h"
#include "ops/engine.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"

namespace steelyard::ops {
namespace {

// The caller's variable `loss` outlives the outputs. The gradient of the loss is held by
// torch.autograd.backward until the engine has returned.
std::vector<Tensor> RunBackward(Dispatcher& d, const OpView& op) {
  const Tensor loss = d.tensor(op, 0);
  if (loss.count() != 1) {
    Refuse("a backward pass starts from a loss of one element", "Append one with --loss.");
  }
  d.Hold(loss);
  d.set_grad_enabled(false);
  Dispatcher::AsProgram outside(d);
  const Tensor seed = d.Call("aten::ones_like", loss);
  Engine(d, d.autograd()).Run(loss, seed);
  return {};
}

// zero_grad(set_to_none=True): the gradients die in the order of the parameters.
std::vector<Tensor> DropGradients(Dispatcher& d, const OpView& op) {
  Dispatcher::AsProgram outside(d);
  const Dispatcher::Inside frame(d,
                                 "Optimizer.zero_grad#" + std::string(op.text(1)) + ".zero_grad");
  for (const TensorView& parameter : op.tensors(0)) d.autograd().ClearGradient(parameter.id());
  return {};
}

constexpr std::array kRows{
    Composite("steelyard::backward", "Runs the backward pass of a loss.", "(Tensor loss) -> ()", "",
              Family::kControl, RunBackward, kNoGradient),
    Composite("steelyard::zero_grad", "Drops the gradients of parameters.",
              "(Tensor[] parameters, str optimizer) -> ()", "", Family::kControl, DropGradients,
              kNoGradient),
};

}  // namespace

std::span<const OpDef> Training() { return kRows; }

}  // namespace steelyard::ops
