// SPDX-License-Identifier: Apache-2.0
//
// Optimizers, one row each: the calls that torch.optim makes for a step, in the order and with the
// local variables of its single-tensor loop (torch/optim/*.py).

#include <array>
#include <string_view>
#include <vector>

#include "ops/autograd.h"
#include "ops/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"

namespace steelyard::ops {
namespace {

// A parameter that has a gradient.
struct Updated {
  Tensor parameter, gradient;
};

std::vector<Updated> Parameters(Dispatcher& d, const OpView& op) {
  std::vector<Updated> out;
  for (Tensor& parameter : d.tensors(op, 0)) {
    Tensor gradient = d.autograd().gradient(parameter.id());
    if (gradient.defined()) out.push_back({std::move(parameter), std::move(gradient)});
  }
  return out;
}

// x.op_(number): the number is boxed.
constexpr double kAnyNumber = 0.9;

// sgd(parameters)
std::vector<Tensor> Sgd(Dispatcher& d, const OpView& op) {
  Dispatcher::AsProgram outside(d);
  const Dispatcher::Inside frame(d, "Optimizer.step#SGD.step");
  for (const Updated& u : Parameters(d, op)) {
    d.Call("aten::add_.Tensor", u.parameter, u.gradient, -kAnyNumber);
  }
  return {};
}

// State that a first step makes, and that is there before every later one.
class States {
 public:
  States(Dispatcher& d, bool first) : d_(d), first_(first) {}
  // torch.tensor(0.0, dtype=float32)
  Tensor Counter() {
    if (first_) return Made(d_.Call("aten::empty.memory_format", Dims(), DType::kFloat32));
    return d_.AddResident("step", Dims(), Dims(), DType::kFloat32, Role::kOptimizerState);
  }
  // torch.zeros_like(parameter, memory_format=torch.preserve_format)
  Tensor Like(const Tensor& parameter, std::string_view name) {
    if (first_) return Made(d_.Call("aten::zeros_like", parameter));
    return d_.AddResident(name, Dims(parameter.sizes()), Dims(parameter.strides()),
                          parameter.dtype(), Role::kOptimizerState);
  }

 private:
  Tensor Made(Tensor state) {
    d_.SetRole(state, Role::kOptimizerState);
    d_.Keep(state);
    return state;
  }
  Dispatcher& d_;
  bool first_;
};

// adamw(parameters, first_step): torch.optim.AdamW's defaults.
std::vector<Tensor> AdamW(Dispatcher& d, const OpView& op) {
  Dispatcher::AsProgram outside(d);
  const Dispatcher::Inside frame(d, "Optimizer.step#AdamW.step");
  const std::vector<Updated> updated = Parameters(d, op);
  struct State {
    Tensor step, mean, square;
  };
  std::vector<State> states;
  States make(d, op.boolean(1));
  for (const Updated& u : updated) {
    State state;
    state.step = make.Counter();
    state.mean = make.Like(u.parameter, "exp_avg");
    state.square = make.Like(u.parameter, "exp_avg_sq");
    states.push_back(std::move(state));
  }
  Tensor denominator;  // a local of the loop: it dies when the next one replaces it
  for (std::size_t i = 0; i < updated.size(); ++i) {
    const auto& [parameter, gradient] = updated[i];
    const auto& [step, mean, square] = states[i];
    d.Call("aten::add_.Tensor", step, std::int64_t{1});
    d.Call("aten::mul_.Tensor", parameter, kAnyNumber);  // weight decay
    d.Call("aten::lerp_.Scalar", mean, gradient, kAnyNumber);
    d.Call("aten::mul_.Tensor", square, kAnyNumber);
    d.Call("aten::addcmul_", square, gradient, gradient, kAnyNumber);
    Tensor ratio = d.Call("aten::div.Tensor", d.Call("aten::sqrt", square), kAnyNumber);
    d.Call("aten::add_.Tensor", ratio, kAnyNumber);
    denominator = std::move(ratio);
    d.Call("aten::addcdiv_", parameter, mean, denominator, -kAnyNumber);
  }
  return {};
}

constexpr OpDef Optimizer(OpName name, std::string_view summary, Signature signature,
                          DecomposeFn decompose) {
  return Composite(name, summary, signature, "", Family::kOptimizer, decompose, kNoGradient);
}

constexpr std::array kRows{
    Optimizer("steelyard::sgd", "torch.optim.SGD.", "(Tensor[] parameters, bool first_step) -> ()",
              Sgd),
    Optimizer("steelyard::adamw", "torch.optim.AdamW, one tensor after another.",
              "(Tensor[] parameters, bool first_step) -> ()", AdamW),
};

}  // namespace

std::span<const OpDef> Optimizer() { return kRows; }

}  // namespace steelyard::ops
