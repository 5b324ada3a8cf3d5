// SPDX-License-Identifier: Apache-2.0
//
// torch.optim.SGD (torch/optim/sgd.py): one tensor after another, lists of them, or fused.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "ops/optimizers/step.h"
#include "ops/registry.h"

namespace steelyard::ops {
namespace {

// Whether there is no momentum yet: its buffers, if there are any, hold zeros.
bool Begins(const Step& step) { return step.number() == 1; }

// What is added to the momentum of a gradient.
double ShareOfGradient(const Step& step) { return Begins(step) ? 1 : 1 - step.Number("dampening"); }

Tensor Buffer(Step& step, const Tensor& gradient) { return step.Like(gradient, "momentum_buffer"); }

void OneByOne(Dispatcher& d, Step& step) {
  Tensor gradient;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor& parameter = step.parameters[i];
    gradient = GradientAt(d, step, i);
    AddDecay(d, step, parameter, gradient);
    const double momentum = step.Number("momentum");
    if (momentum != 0) {
      Tensor buffer;
      if (step.is_first()) {
        buffer = step.Adopt(d.Call("aten::clone", gradient));
      } else {
        buffer = Buffer(step, gradient);
        d.Call("aten::mul_.Tensor", buffer, momentum);
        d.Call("aten::add_.Tensor", buffer, gradient, ShareOfGradient(step));
      }
      gradient =
          step.On("nesterov") ? d.Call("aten::add.Tensor", gradient, buffer, momentum) : buffer;
    }
    d.Call("aten::add_.Tensor", parameter, gradient, -step.Number("lr"));
  }
}

void ListsOf(Dispatcher& d, Step& step) {
  Tensors gradients;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = Pick(step.parameters, places);
    SetGradients(d, step, places, gradients);
    AddDecay(d, step, parameters, gradients);
    const double momentum = step.Number("momentum");
    if (momentum != 0) {
      Tensors buffers;
      for (const Tensor& gradient : gradients) {
        buffers.push_back(step.is_first() ? step.Adopt(d.Call("aten::clone", gradient))
                                          : Buffer(step, gradient));
      }
      if (!step.is_first()) {
        d.CallMany("aten::_foreach_mul_.Scalar", buffers, momentum);
        d.CallMany("aten::_foreach_add_.List", buffers, gradients, ShareOfGradient(step));
      }
      if (step.On("nesterov")) {
        d.CallMany("aten::_foreach_add_.List", gradients, buffers, momentum);
      } else {
        Set(gradients, std::move(buffers));
      }
    }
    if (std::ranges::any_of(places, [&](std::size_t i) { return step.HasSparse(i); })) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        d.Call("aten::add_.Tensor", parameters[i], gradients[i], -step.Number("lr"));
      }
    } else {
      d.CallMany("aten::_foreach_add_.List", parameters, gradients, -step.Number("lr"));
    }
  }
  Return(gradients);
}

void Fused(Dispatcher& d, Step& step) {
  Tensors buffers;
  if (step.On("momentum")) {
    for (const Tensor& gradient : step.gradients) {
      buffers.push_back(step.is_first() ? step.Adopt(d.Call("aten::empty_like", gradient))
                                        : Buffer(step, gradient));
    }
  }
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    d.CallMany("aten::_fused_sgd_", Pick(step.parameters, places), Pick(step.gradients, places),
               buffers.empty() ? buffers : Pick(buffers, places), step.Number("weight_decay"),
               step.Number("momentum"), step.Number("lr"), step.Number("dampening"),
               step.On("nesterov"), step.On("maximize"), Begins(step), step.Operand("grad_scale"),
               step.Operand("found_inf"));
  }
}

std::vector<Tensor> Sgd(Dispatcher& d, const OpView& op) {
  Step step(d, op, "SGD");
  if (step.On("nesterov") && !step.On("momentum")) {
    Contradict("Nesterov's momentum needs a momentum", "Give one, such as momentum=0.9.");
  }
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    if (!step.HasSparse(i)) continue;
    if (step.On("fused")) {
      Refuse("PyTorch's fused form takes no sparse gradients", "Leave --fused out.");
    }
    if (!step.On("momentum")) continue;
    Refuse("momentum of sparse gradients keeps those of all steps, and grows with each",
           "Leave --momentum out, or make the embedding with sparse=False.");
  }
  RunForm(d, step, {.one_by_one = OneByOne, .foreach = ListsOf, .fused = Fused});
  return {};
}

constexpr std::array kRows{
    OptimizerRow("steelyard::sgd", "torch.optim.SGD.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.001, float momentum=0, "
                 "float dampening=0, float weight_decay=0, bool nesterov=False, bool "
                 "maximize=False, bool? foreach=None, "
                 "bool? fused=None, bool differentiable=False, bool master_weights=False, int? "
                 "step=None, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
                 Sgd),
};

}  // namespace

std::span<const OpDef> Sgd() { return kRows; }

}  // namespace steelyard::ops
