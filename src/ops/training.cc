// SPDX-License-Identifier: Apache-2.0
//
// What a training loop does besides the model and the optimizer's step: `loss.backward()`, the
// clipping of gradients and `optimizer.zero_grad()`.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/engine.h"
#include "ops/gradients/sparse.h"
#include "ops/optimizers/step.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"

namespace steelyard::ops {
namespace {

// The caller's variable `loss` outlives the outputs, where it has one. The gradient of the loss is
// held by torch.autograd.backward until the engine has returned.
std::vector<Tensor> RunBackward(Dispatcher& d, const OpView& op) {
  const Tensor loss = d.tensor(op, 0);
  if (loss.count() != 1) {
    Refuse("a backward pass starts from a loss of one element", "Append one with --loss.");
  }
  if (op.boolean(2, true)) d.Hold(loss);
  const Dispatcher::GradMode off(d, false);
  const Dispatcher::AsProgram outside(d);
  const Tensor given = d.tensor(op, 1);
  const Tensor seed = given.defined() ? given : d.Call("aten::ones_like", loss);
  Engine(d, d.autograd()).Run(loss, seed);
  return {};
}

// `loss / steps`
std::vector<Tensor> ScaleLoss(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsProgram outside(d);
  const Dispatcher::FromPython python(d);
  return {d.Call("aten::div.Tensor", d.tensor(op, 0), op.arg(1))};
}

// The outputs, which are its arguments, die after it.
std::vector<Tensor> EndMicroStep(Dispatcher& d, const OpView&) {
  d.LetGo();
  return {};
}

std::vector<Tensor> KeepGradients(Dispatcher& d, const OpView&) {
  d.autograd().KeepGradients();
  return {};
}

// The gradients die in the order of the parameters, or are overwritten.
std::vector<Tensor> ZeroGradients(Dispatcher& d, const OpView& op) {
  Dispatcher::AsProgram outside(d);
  const Dispatcher::Inside frame(d,
                                 "Optimizer.zero_grad#" + std::string(op.text(1)) + ".zero_grad");
  const bool keep = op.boolean(2);
  for (const TensorView& parameter : op.tensors(0)) {
    const Tensor gradient = keep ? d.autograd().gradient(parameter.id()) : Tensor();
    if (gradient.defined()) {
      d.Call("aten::zero_", gradient);
    } else {
      d.autograd().ClearGradient(parameter.id());
    }
  }
  return {};
}

// --- torch/nn/utils/clip_grad.py ----------------------------------------------------------------

Tensors GradientsOf(Dispatcher& d, const OpView& op) {
  Tensors gradients;
  for (const TensorView& parameter : op.tensors(0)) {
    Tensor gradient = d.autograd().gradient(parameter.id());
    if (gradient.defined()) gradients.push_back(std::move(gradient));
  }
  return gradients;
}

// Of a list with a sparse tensor PyTorch takes one after another.
bool HasSparse(Dispatcher& d, const Tensors& tensors) {
  return std::ranges::any_of(tensors,
                             [&](const Tensor& t) { return d.autograd().IsSparse(t.id()); });
}
Tensor NormOf(Dispatcher& d, const Tensor& tensor) {
  if (d.autograd().IsSparse(tensor.id())) return gradients::SparseNorm(d, tensor);
  return d.Call("aten::linalg_vector_norm", tensor, 2.0);
}
void Scale(Dispatcher& d, const Tensors& tensors, const Tensor& factor) {
  if (!HasSparse(d, tensors)) {
    d.CallMany("aten::_foreach_mul_.Tensor", tensors, factor);
    return;
  }
  for (const Tensor& tensor : tensors) {
    if (d.autograd().IsSparse(tensor.id())) {
      gradients::ScaleSparse(d, tensor, factor);
    } else {
      d.Call("aten::mul_.Tensor", tensor, factor);
    }
  }
}

Tensor TotalNorm(Dispatcher& d, const Tensors& gradients) {
  Tensors norms;
  for (const auto& places : ByDType(d, gradients)) {
    const Tensors group = Pick(gradients, places);
    if (HasSparse(d, group)) {
      for (const Tensor& gradient : group) norms.push_back(NormOf(d, gradient));
      continue;
    }
    for (Tensor& norm : d.CallMany("aten::_foreach_norm.Scalar", group, 2.0)) {
      norms.push_back(std::move(norm));
    }
  }
  Tensor total;
  {
    const Tensor stacked = d.Call("aten::stack", norms);
    total = d.Call("aten::linalg_vector_norm", stacked, 2.0);
  }
  Return(norms);
  return total;
}

// `max_norm / (total_norm + 1e-6)`: a number divided by a tensor is a reciprocal and a product.
Tensor ClipCoefficient(Dispatcher& d, const Tensor& total, double max_norm) {
  const Tensor sum = d.Call("aten::add.Tensor", total, 1e-6);
  return d.Call("aten::mul.Tensor", d.Call("aten::reciprocal", sum), max_norm);
}

std::vector<Tensor> ClipByNorm(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  const Tensors gradients = GradientsOf(d, op);
  if (gradients.empty()) return {};
  Tensor total = TotalNorm(d, gradients);
  Tensor coefficient = ClipCoefficient(d, total, op.real(1));
  Tensor clamped = d.Call("aten::clamp", coefficient, std::nullopt, 1.0);
  for (const auto& places : ByDType(d, gradients)) {
    Scale(d, Pick(gradients, places), clamped);
  }
  Return(coefficient, clamped, total);
  return {};
}

std::vector<Tensor> ClipByValue(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  const double limit = op.real(1);
  const Tensors gradients = GradientsOf(d, op);
  for (const auto& places : ByDType(d, gradients)) {
    const Tensors group = Pick(gradients, places);
    d.CallMany("aten::_foreach_clamp_min_.Scalar", group, -limit);
    d.CallMany("aten::_foreach_clamp_max_.Scalar", group, limit);
  }
  return {};
}

constexpr OpDef Part(OpName name, std::string_view summary, Signature signature,
                     DecomposeFn decompose) {
  return Composite(name, summary, signature, "", Family::kControl, decompose, precision::kFollow,
                   kNoGradient);
}

constexpr std::array kRows{
    Part("steelyard::backward",
         "Runs the backward pass of a loss, from a gradient of ones or a given one.",
         "(Tensor loss, Tensor? gradient=None, bool held=True) -> ()", RunBackward),
    Composite("steelyard::scale_loss", "Divides a loss by the number of micro-steps.",
              "(Tensor loss, int steps) -> Tensor", "", Family::kControl, ScaleLoss,
              precision::kFollow),
    Part("steelyard::end_micro_step", "Lets the outputs and the loss of a micro-step go.",
         "(Any... outputs) -> ()", EndMicroStep),
    Part("steelyard::keep_gradients", "The step before has left its gradients, as zeros.",
         "() -> ()", KeepGradients),
    Part("steelyard::zero_grad", "Drops the gradients of parameters, or overwrites them.",
         "(Tensor[] parameters, str optimizer, bool keep=False) -> ()", ZeroGradients),
    Part("steelyard::clip_grad_norm_", "torch.nn.utils.clip_grad_norm_.",
         "(Tensor[] parameters, float max_norm) -> ()", ClipByNorm),
    Part("steelyard::clip_grad_value_", "torch.nn.utils.clip_grad_value_.",
         "(Tensor[] parameters, float clip_value) -> ()", ClipByValue),
};

}  // namespace

std::span<const OpDef> Training() { return kRows; }

}  // namespace steelyard::ops
