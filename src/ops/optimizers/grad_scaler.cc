// SPDX-License-Identifier: Apache-2.0
//
// torch.amp.GradScaler, which a step in float16 takes: the loss is scaled, so that small gradients
// do not become zero, and gradients are scaled back and looked through before the optimizer's step.
// Scale and growth tracker are kept between steps. The step is taken to be finite.

#include <array>
#include <cstdint>
#include <vector>

#include "ops/dispatch/autocast.h"
#include "ops/dispatch/autograd.h"
#include "ops/gradients/not_implemented.h"
#include "ops/optimizers/step.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- torch/amp/grad_scaler.py -------------------------------------------------------------------

// Its defaults.
constexpr double kFirstScale = 65536;
constexpr double kGrowth = 2;
constexpr double kBackoff = 0.5;
constexpr std::int64_t kInterval = 2000;

// `scaler.scale(loss)`; the first one makes the scaler's state.
std::vector<Tensor> ScaledLoss(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsProgram outside(d);
  const Dispatcher::FromPython python(d);
  const Tensor loss = d.tensor(op, 0);
  d.Hold(loss);
  ScalerState& state = d.autocast().scaler();
  if (!state.scale.defined()) {
    const auto make = [&](std::string_view name, DType dtype, double number) {
      if (!op.boolean(1)) {
        Tensor there = d.AddResident(name, Dims(), Dims(), dtype, Role::kOptimizerState);
        d.BeginWith(there, number);
        return there;
      }
      Tensor made = d.Call("aten::full", Dims(), number, dtype);
      d.SetRole(made, Role::kOptimizerState);
      return made;
    };
    state.scale = make("GradScaler.scale", DType::kFloat32, kFirstScale);
    state.growth_tracker = make("GradScaler.growth_tracker", DType::kInt32, 0);
  }
  return {d.Call("aten::mul.Tensor", loss, state.scale)};
}

// In double precision, as small scales have no inverse in float32.
Tensor InverseOf(Dispatcher& d, const Tensor& scale) {
  Tensor inverse;
  {
    const Tensor wide = d.Call("aten::to.dtype", scale, DType::kFloat64);
    inverse = d.Call("aten::reciprocal", wide);
  }
  return d.Call("aten::to.dtype", inverse, DType::kFloat32);
}

// A copy for the device that the gradients are on, even if it is the one that it is on already.
Tensor Replica(Dispatcher& d, const Tensor& tensor) {
  return d.Call("aten::to.dtype", tensor, tensor.dtype(), false, true);
}

// `scaler.unscale_(optimizer)`, or of an optimizer that unscales in its own kernels
// `_check_inf_per_device`; gives what it has found.
std::vector<Tensor> Unscale(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  Tensors gradients;
  for (const TensorView& parameter : op.tensors(0)) {
    Tensor gradient = d.autograd().gradient(parameter.id());
    if (gradient.defined()) gradients.push_back(std::move(gradient));
  }
  Tensor inverse = op.boolean(1) ? d.Call("aten::full", Dims(), 1.0, DType::kFloat32)
                                 : InverseOf(d, d.autocast().scaler().scale);
  Tensor found = d.Call("aten::full", Dims(), 0.0, DType::kFloat32);
  Tensor found_here, inverse_here;
  for (const std::vector<std::size_t>& places : ByDType(d, gradients)) {
    if (!found_here.defined()) {
      found_here = Replica(d, found);
      inverse_here = Replica(d, inverse);
    }
    d.CallMany("aten::_amp_foreach_non_finite_check_and_unscale_", Pick(gradients, places),
               found_here, inverse_here);
  }
  Return(inverse_here, inverse, found);
  return {found_here};
}

// What `scaler.step` gives an optimizer that unscales in its own kernels: the sum over all devices.
std::vector<Tensor> SumFound(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  return {d.Call("aten::add.Tensor", d.tensor(op, 0), 0)};
}
// And `scale * 1`, the product with what the optimizer has already.
std::vector<Tensor> ScaleOfGradients(Dispatcher& d, const OpView&) {
  const Outside outside(d);
  return {d.Call("aten::mul.Tensor", d.autocast().scaler().scale, 1)};
}

// `scaler.update()`
std::vector<Tensor> Update(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  const ScalerState& state = d.autocast().scaler();
  const Tensor found = d.tensor(op, 0);
  if (!found.defined()) return {};
  d.Call("aten::_amp_update_scale_", state.scale, state.growth_tracker, found, kGrowth, kBackoff,
         kInterval);
  return {};
}

// --- Kernels ------------------------------------------------------------------------------------

void NoOutputs(const OpView& op, Outputs&) {
  for (int i : {1, 2}) {
    if (op.tensor(i).count() != 1) Refuse("the scale and what is found are one number each");
  }
}

// A product and a test of each element.
Work UnscaleWork(const OpView& op) {
  Count count = 0;
  for (const TensorView& tensor : op.tensors(0)) count += tensor.count();
  return {.alu = count, .compare = count};
}

Traffic UnscaleTraffic(const OpView& op) {
  Count bytes = 0;
  for (const TensorView& tensor : op.tensors(0)) bytes += traffic::Bytes(tensor);
  return {.read = bytes, .written = bytes};
}

void ScaleShape(const OpView& op, Outputs& out) { out.AddLike(op.self()); }

constexpr std::array kRows{
    Composite("steelyard::scaled_loss", "torch.amp.GradScaler.scale.",
              "(Tensor loss, bool first_step=False) -> Tensor", "", Family::kControl, ScaledLoss,
              precision::kFollow),
    OptimizerRow("steelyard::unscale_gradients",
                 "torch.amp.GradScaler.unscale_, or a look at the gradients only.",
                 "(Tensor[] parameters, bool only_looks=False) -> Tensor", Unscale),
    OptimizerRow("steelyard::found_inf", "What GradScaler.step tells a fused optimizer.",
                 "(Tensor found_inf) -> Tensor", SumFound),
    OptimizerRow("steelyard::grad_scale", "By what a fused optimizer divides gradients.",
                 "() -> Tensor", ScaleOfGradients),
    OptimizerRow("steelyard::update_scaler", "torch.amp.GradScaler.update.",
                 "(Tensor? found_inf) -> ()", Update),
    Kernel(Family::kOptimizer,
           {"aten::_amp_foreach_non_finite_check_and_unscale_",
            "Scales gradients, and tells whether one is infinite or no number.",
            "(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> ()",
            "aten::_amp_foreach_non_finite_check_and_unscale_([f32[2,8], f32[3]], f32[], f32[])"},
           {NoOutputs, Fusion::kOpaque, allocations::None, UnscaleWork, kNoGradient,
            precision::kFollow},
           Alias::kInPlace, UnscaleTraffic),
    Kernel(Family::kOptimizer,
           {"aten::_amp_update_scale_", "Grows or shrinks the scale of a loss.",
            "(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float "
            "scale_growth_factor, float scale_backoff_factor, int growth_interval) -> Tensor(a!)",
            "aten::_amp_update_scale_(f32[], i32[], f32[], 2.0, 0.5, 2000)"},
           {ScaleShape, Fusion::kOpaque, allocations::None, work::None,
            gradients::kNotImplementedOf<0, 2>, precision::kFollow},
           Alias::kInPlace, traffic::ReadAllWriteAll),
};

}  // namespace

std::span<const OpDef> GradScaler() { return kRows; }

}  // namespace steelyard::ops
