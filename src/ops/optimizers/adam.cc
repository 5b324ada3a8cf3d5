// SPDX-License-Identifier: Apache-2.0
//
// torch.optim.Adam, AdamW, NAdam and RAdam (torch/optim/*.py): one tensor after another, lists of
// them, or fused. The states of all parameters are made before the first is updated.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/optimizers/step.h"
#include "ops/registry.h"

namespace steelyard::ops {
namespace {

// What becomes of `weight_decay`: it shrinks the parameter, or is added to the gradient.
enum class Decay : std::uint8_t { kOfParameter, kOfGradient };

// By parameter.
struct States {
  Tensors counters, products, means, squares, maxima;
};

States StatesOf(Step& step, bool with_products, bool with_maxima) {
  States states;
  for (const Tensor& parameter : step.parameters) {
    states.counters.push_back(step.Counter());
    if (with_products) states.products.push_back(step.Counter("mu_product"));
    states.means.push_back(step.Like(parameter, "exp_avg"));
    states.squares.push_back(step.Like(parameter, "exp_avg_sq"));
    if (with_maxima) states.maxima.push_back(step.Like(parameter, "max_exp_avg_sq"));
  }
  return states;
}

// The states of some parameters.
States StatesAt(const std::vector<std::size_t>& places, const States& all) {
  const auto pick = [&](const Tensors& list) { return list.empty() ? list : Pick(list, places); };
  return {pick(all.counters), pick(all.products), pick(all.means), pick(all.squares),
          pick(all.maxima)};
}

// The same as pairs of real numbers, if they are complex.
States StatesAsPairs(Dispatcher& d, const States& states) {
  return {states.counters, states.products, AsPairs(d, states.means), AsPairs(d, states.squares),
          AsPairs(d, states.maxima)};
}

// --- The steps that all four begin with ---------------------------------------------------------

void Decayed(Dispatcher& d, const Step& step, Decay decay, const Tensor& parameter,
             Tensor& gradient, double lr = kAnyNumber) {
  if (decay == Decay::kOfGradient) return AddDecay(d, step, parameter, gradient);
  if (!step.On("weight_decay")) return;
  d.Call("aten::mul_.Tensor", parameter, 1 - lr * step.Number("weight_decay"));
}
void Decayed(Dispatcher& d, const Step& step, Decay decay, const Tensors& parameters,
             Tensors& gradients) {
  if (decay == Decay::kOfGradient) return AddDecay(d, step, parameters, gradients);
  if (step.On("weight_decay")) d.CallMany("aten::_foreach_mul_.Scalar", parameters, kAnyNumber);
}

struct Betas {
  double first = kAnyNumber;
  double second = kAnyNumber;
};
void UpdateMoments(Dispatcher& d, const Tensor& gradient, const Tensor& mean, const Tensor& square,
                   const Betas& betas = {}) {
  d.Call("aten::lerp_.Scalar", mean, gradient, 1 - betas.first);
  d.Call("aten::mul_.Tensor", square, betas.second);
  d.Call("aten::addcmul_", square, gradient, gradient, 1 - betas.second);
}
void UpdateMoments(Dispatcher& d, const Tensors& gradients, const States& states) {
  d.CallMany("aten::_foreach_lerp_.Scalar", states.means, gradients, kAnyNumber);
  d.CallMany("aten::_foreach_mul_.Scalar", states.squares, kAnyNumber);
  d.CallMany("aten::_foreach_addcmul_.Scalar", states.squares, gradients, gradients, kAnyNumber);
}

// --- Adam and AdamW -----------------------------------------------------------------------------

template <Decay kDecay>
void AdamOneByOne(Dispatcher& d, Step& step) {
  const bool with_maxima = step.On("amsgrad");
  const States states = StatesAsPairs(d, StatesOf(step, false, with_maxima));
  const double lr = step.Number("lr");
  const Betas betas{step.Number("beta1"), step.Number("beta2")};
  const double step_size = lr / (1 - std::pow(betas.first, step.number()));
  const double bias_correction2_sqrt = std::sqrt(1 - std::pow(betas.second, step.number()));
  Tensor gradient, denominator;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    gradient = GradientAt(d, step, i);
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    Decayed(d, step, kDecay, step.parameters[i], gradient, lr);
    gradient = AsPairs(d, gradient);
    const Tensor parameter = AsPairs(d, step.parameters[i]);
    UpdateMoments(d, gradient, states.means[i], states.squares[i], betas);
    // torch.maximum(..., out=...): nothing is made.
    if (with_maxima) d.Call("aten::clamp_min_.Tensor", states.maxima[i], states.squares[i]);
    const Tensor& square = with_maxima ? states.maxima[i] : states.squares[i];
    Tensor ratio = d.Call("aten::div.Tensor", d.Call("aten::sqrt", square), bias_correction2_sqrt);
    d.Call("aten::add_.Tensor", ratio, step.Number("eps"));
    denominator = std::move(ratio);
    d.Call("aten::addcdiv_", parameter, states.means[i], denominator, -step_size);
  }
  Return(gradient, denominator);
}

template <Decay kDecay>
void AdamLists(Dispatcher& d, Step& step) {
  const bool with_maxima = step.On("amsgrad");
  const States all = StatesOf(step, false, with_maxima);
  Tensors gradients, roots;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const States states = StatesAsPairs(d, StatesAt(places, all));
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    CountUp(d, states.counters);
    Decayed(d, step, kDecay, parameters, gradients);
    UpdateMoments(d, gradients, states);
    Drop(gradients);
    if (with_maxima) d.CallMany("aten::_foreach_maximum_.List", states.maxima, states.squares);
    Set(roots, d.CallMany("aten::_foreach_sqrt", with_maxima ? states.maxima : states.squares));
    d.CallMany("aten::_foreach_div_.ScalarList", roots, NumbersFor(roots));
    d.CallMany("aten::_foreach_add_.Scalar", roots, kAnyNumber);
    d.CallMany("aten::_foreach_addcdiv_.ScalarList", parameters, states.means, roots,
               NumbersFor(roots));
  }
  Return(roots);
}

template <Label kKernel>
void AdamFused(Dispatcher& d, Step& step) {
  const bool with_maxima = step.On("amsgrad");
  const States all = StatesOf(step, false, with_maxima);
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const States states = StatesAt(places, all);
    d.CallMany("aten::_foreach_add_.Scalar", states.counters, 1);
    d.CallMany(kOpNamed<kKernel>, Pick(step.parameters, places), Pick(step.gradients, places),
               states.means, states.squares, states.maxima, states.counters, kAnyNumber, kAnyNumber,
               kAnyNumber, kAnyNumber, kAnyNumber, with_maxima, step.On("maximize"));
  }
}

constexpr Forms kDecoupled{.one_by_one = AdamOneByOne<Decay::kOfParameter>,
                           .foreach = AdamLists<Decay::kOfParameter>,
                           .fused = AdamFused<"aten::_fused_adamw_">,
                           .exact = AdamOneByOne<Decay::kOfParameter>};

std::vector<Tensor> Adam(Dispatcher& d, const OpView& op) {
  Step step(d, op, "Adam");
  if (step.On("decoupled_weight_decay")) {
    RunForm(d, step, kDecoupled);
    return {};
  }
  RunForm(d, step,
          {.one_by_one = AdamOneByOne<Decay::kOfGradient>,
           .foreach = AdamLists<Decay::kOfGradient>,
           .fused = AdamFused<"aten::_fused_adam_">,
           .exact = AdamOneByOne<Decay::kOfGradient>});
  return {};
}

std::vector<Tensor> AdamW(Dispatcher& d, const OpView& op) {
  Step step(d, op, "AdamW");
  RunForm(d, step, kDecoupled);
  return {};
}

// --- NAdam --------------------------------------------------------------------------------------

Decay DecayOf(const Step& step) {
  return step.On("decoupled_weight_decay") ? Decay::kOfParameter : Decay::kOfGradient;
}

void NAdamOneByOne(Dispatcher& d, Step& step) {
  const States states = StatesAsPairs(d, StatesOf(step, true, false));
  Tensor gradient, denominator;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor parameter = AsPairs(d, step.parameters[i]);
    gradient = AsPairs(d, GradientAt(d, step, i));
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    Decayed(d, step, DecayOf(step), parameter, gradient);
    d.Call("aten::mul_.Tensor", states.products[i], kAnyNumber);
    UpdateMoments(d, gradient, states.means[i], states.squares[i]);
    Tensor root = d.Call("aten::sqrt", d.Call("aten::div.Tensor", states.squares[i], kAnyNumber));
    denominator = std::move(root);
    d.Call("aten::add_.Tensor", denominator, kAnyNumber);
    d.Call("aten::addcdiv_", parameter, gradient, denominator, -kAnyNumber);
    d.Call("aten::addcdiv_", parameter, states.means[i], denominator, -kAnyNumber);
  }
  Return(gradient, denominator);
}

void NAdamLists(Dispatcher& d, Step& step) {
  const States all = StatesOf(step, true, false);
  Tensors gradients, roots;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const States states = StatesAsPairs(d, StatesAt(places, all));
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    CountUp(d, states.counters);
    Decayed(d, step, DecayOf(step), parameters, gradients);
    UpdateMoments(d, gradients, states);
    Set(roots, d.CallMany("aten::_foreach_sqrt", states.squares));
    d.CallMany("aten::_foreach_mul_.ScalarList", states.products, NumbersFor(roots));
    d.CallMany("aten::_foreach_div_.ScalarList", roots, NumbersFor(roots));
    d.CallMany("aten::_foreach_add_.Scalar", roots, kAnyNumber);
    d.CallMany("aten::_foreach_addcdiv_.ScalarList", parameters, gradients, roots,
               NumbersFor(roots));
    d.CallMany("aten::_foreach_addcdiv_.ScalarList", parameters, states.means, roots,
               NumbersFor(roots));
  }
  Return(gradients, roots);
}

std::vector<Tensor> NAdam(Dispatcher& d, const OpView& op) {
  Step step(d, op, "NAdam");
  RunForm(d, step, {.one_by_one = NAdamOneByOne, .foreach = NAdamLists});
  return {};
}

// --- RAdam --------------------------------------------------------------------------------------

// _compute_adaptive_lr(): a number divided by a tensor is a reciprocal and a product.
Tensor AdaptiveRate(Dispatcher& d, const Tensor& square) {
  const Tensor root = d.Call("aten::sqrt", square);
  d.Call("aten::add_.Tensor", root, kAnyNumber);
  return d.Call("aten::mul.Tensor", d.Call("aten::reciprocal", root), kAnyNumber);
}

// The variance is rectified from the sixth step on, which a steady step is.
void RAdamOneByOne(Dispatcher& d, Step& step) {
  const States states = StatesAsPairs(d, StatesOf(step, false, false));
  Tensor gradient, corrected;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor parameter = AsPairs(d, step.parameters[i]);
    gradient = AsPairs(d, GradientAt(d, step, i));
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    Decayed(d, step, DecayOf(step), parameter, gradient);
    UpdateMoments(d, gradient, states.means[i], states.squares[i]);
    corrected = d.Call("aten::div.Tensor", states.means[i], kAnyNumber);
    Tensor update = d.Call("aten::mul.Tensor", corrected, kAnyNumber);
    if (!step.is_first()) {
      {
        Tensor rate = AdaptiveRate(d, states.squares[i]);
        Tensor product = d.Call("aten::mul.Tensor", update, rate);
        update = std::move(product);
      }
      update = d.Call("aten::mul.Tensor", update, kAnyNumber);
    }
    d.Call("aten::add_.Tensor", parameter, update, -kAnyNumber);
  }
  Return(gradient, corrected);
}

void RAdamLists(Dispatcher& d, Step& step) {
  const States all = StatesOf(step, false, false);
  Tensors gradients, buffers;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const States states = StatesAsPairs(d, StatesAt(places, all));
    CountUp(d, states.counters);
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    Decayed(d, step, DecayOf(step), parameters, gradients);
    UpdateMoments(d, gradients, states);
    Drop(gradients);
    Set(buffers, d.CallMany("aten::_foreach_sqrt", states.squares));
    d.CallMany("aten::_foreach_add_.Scalar", buffers, kAnyNumber);
    d.CallMany("aten::_foreach_div_.ScalarList", buffers, NumbersFor(buffers));
    d.CallMany("aten::_foreach_reciprocal_", buffers);
    d.CallMany("aten::_foreach_add_.ScalarList", buffers, NumbersFor(buffers));
    d.CallMany("aten::_foreach_addcmul_.Scalar", parameters, states.means, buffers);
  }
  Return(buffers);
}

std::vector<Tensor> RAdam(Dispatcher& d, const OpView& op) {
  Step step(d, op, "RAdam");
  if (!step.is_first()) d.Note("RAdam: the steady step is the sixth or a later one");
  RunForm(d, step, {.one_by_one = RAdamOneByOne, .foreach = RAdamLists});
  return {};
}

constexpr std::array kRows{
    OptimizerRow(
        "steelyard::adam", "torch.optim.Adam.",
        "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
        "beta2=0.999, float eps=1e-08, float weight_decay=0, bool amsgrad=False, bool "
        "maximize=False, bool? foreach=None, bool? fused=None, bool decoupled_weight_decay=False, "
        "bool capturable=False, bool differentiable=False, bool master_weights=False, int "
        "step=1) -> ()",
        Adam),
    OptimizerRow(
        "steelyard::adamw", "torch.optim.AdamW.",
        "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
        "beta2=0.999, float eps=1e-08, float weight_decay=0.01, bool amsgrad=False, bool "
        "maximize=False, bool? foreach=None, bool? fused=None, bool capturable=False, bool "
        "differentiable=False, bool master_weights=False, int step=1) -> ()",
        AdamW),
    OptimizerRow("steelyard::nadam", "torch.optim.NAdam.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.002, float beta1=0.9, float "
                 "beta2=0.999, float eps=1e-08, float weight_decay=0, float momentum_decay=0.004, "
                 "bool decoupled_weight_decay=False, bool maximize=False, bool? foreach=None, bool "
                 "capturable=False, bool differentiable=False, bool master_weights=False) -> ()",
                 NAdam),
    OptimizerRow("steelyard::radam",
                 "torch.optim.RAdam; a steady step is one with rectified variance, the sixth or "
                 "later.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
                 "beta2=0.999, float eps=1e-08, float weight_decay=0, bool "
                 "decoupled_weight_decay=False, bool maximize=False, bool? foreach=None, bool "
                 "capturable=False, bool differentiable=False, bool master_weights=False) -> ()",
                 RAdam),
};

}  // namespace

std::span<const OpDef> Adam() { return kRows; }

}  // namespace steelyard::ops
