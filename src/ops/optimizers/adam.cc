// SPDX-License-Identifier: Apache-2.0
//
// torch.optim.Adam, AdamW, NAdam and RAdam (torch/optim/*.py): one tensor after another, lists of
// them, or fused. The states of all parameters are made before the first is updated.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
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
    if (with_products) states.products.push_back(step.Counter("mu_product", 1));
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

// What decoupled weight decay leaves of a parameter.
double Shrinking(const Step& step) { return 1 - step.Number("lr") * step.Number("weight_decay"); }

// --- The steps that all four begin with ---------------------------------------------------------

void Decayed(Dispatcher& d, const Step& step, Decay decay, const Tensor& parameter,
             Tensor& gradient) {
  if (decay == Decay::kOfGradient) return AddDecay(d, step, parameter, gradient);
  if (step.On("weight_decay")) d.Call("aten::mul_.Tensor", parameter, Shrinking(step));
}
void Decayed(Dispatcher& d, const Step& step, Decay decay, const Tensors& parameters,
             Tensors& gradients) {
  if (decay == Decay::kOfGradient) return AddDecay(d, step, parameters, gradients);
  if (step.On("weight_decay")) {
    d.CallMany("aten::_foreach_mul_.Scalar", parameters, Shrinking(step));
  }
}

void UpdateMoments(Dispatcher& d, const Step& step, const Tensor& gradient, const Tensor& mean,
                   const Tensor& square) {
  const double beta2 = step.Number("beta2");
  d.Call("aten::lerp_.Scalar", mean, gradient, 1 - step.Number("beta1"));
  d.Call("aten::mul_.Tensor", square, beta2);
  d.Call("aten::addcmul_", square, gradient, gradient, 1 - beta2);
}
void UpdateMoments(Dispatcher& d, const Step& step, const Tensors& gradients,
                   const States& states) {
  const double beta2 = step.Number("beta2");
  d.CallMany("aten::_foreach_lerp_.Scalar", states.means, gradients, 1 - step.Number("beta1"));
  d.CallMany("aten::_foreach_mul_.Scalar", states.squares, beta2);
  d.CallMany("aten::_foreach_addcmul_.Scalar", states.squares, gradients, gradients, 1 - beta2);
}

// --- Adam and AdamW -----------------------------------------------------------------------------

template <Decay kDecay>
void AdamOneByOne(Dispatcher& d, Step& step) {
  const bool with_maxima = step.On("amsgrad");
  const States states = StatesAsPairs(d, StatesOf(step, false, with_maxima));
  const Corrections corrections = CorrectionsOf(step);
  Tensor gradient, denominator;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    gradient = GradientAt(d, step, i);
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    Decayed(d, step, kDecay, step.parameters[i], gradient);
    gradient = AsPairs(d, gradient);
    const Tensor parameter = AsPairs(d, step.parameters[i]);
    UpdateMoments(d, step, gradient, states.means[i], states.squares[i]);
    // torch.maximum(..., out=...): nothing is made.
    if (with_maxima) d.Call("aten::clamp_min_.Tensor", states.maxima[i], states.squares[i]);
    const Tensor& square = with_maxima ? states.maxima[i] : states.squares[i];
    Tensor ratio =
        d.Call("aten::div.Tensor", d.Call("aten::sqrt", square), Root(corrections.second));
    d.Call("aten::add_.Tensor", ratio, step.Number("eps"));
    denominator = std::move(ratio);
    d.Call("aten::addcdiv_", parameter, states.means[i], denominator,
           -(step.Number("lr") / corrections.first));
  }
  Return(gradient, denominator);
}

template <Decay kDecay>
void AdamLists(Dispatcher& d, Step& step) {
  const bool with_maxima = step.On("amsgrad");
  const States all = StatesOf(step, false, with_maxima);
  const Corrections corrections = CorrectionsOf(step);
  Tensors gradients, roots;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const States states = StatesAsPairs(d, StatesAt(places, all));
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    CountUp(d, states.counters);
    Decayed(d, step, kDecay, parameters, gradients);
    UpdateMoments(d, step, gradients, states);
    Drop(gradients);
    if (with_maxima) d.CallMany("aten::_foreach_maximum_.List", states.maxima, states.squares);
    Set(roots, d.CallMany("aten::_foreach_sqrt", with_maxima ? states.maxima : states.squares));
    d.CallMany("aten::_foreach_div_.ScalarList", roots, ForEach(roots, Root(corrections.second)));
    d.CallMany("aten::_foreach_add_.Scalar", roots, step.Number("eps"));
    d.CallMany("aten::_foreach_addcdiv_.ScalarList", parameters, states.means, roots,
               ForEach(roots, -(step.Number("lr") / corrections.first)));
  }
  Return(roots);
}

template <Label kKernel>
void AdamFused(Dispatcher& d, Step& step) {
  const bool with_maxima = step.On("amsgrad");
  const States all = StatesOf(step, false, with_maxima);
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const States states = StatesAt(places, all);
    CountUpFused(d, states.counters);
    d.CallMany(kOpNamed<kKernel>, Pick(step.parameters, places), Pick(step.gradients, places),
               states.means, states.squares, states.maxima, states.counters, step.Number("lr"),
               step.Number("beta1"), step.Number("beta2"), step.Number("weight_decay"),
               step.Number("eps"), with_maxima, step.On("maximize"), step.Operand("grad_scale"),
               step.Operand("found_inf"));
    CountDownSkipped(d, step, states.counters);
  }
}

constexpr Forms kDecoupled{.one_by_one = AdamOneByOne<Decay::kOfParameter>,
                           .foreach = AdamLists<Decay::kOfParameter>,
                           .fused = AdamFused<"aten::_fused_adamw_">};

std::vector<Tensor> Adam(Dispatcher& d, const OpView& op) {
  Step step(d, op, "Adam");
  if (step.On("decoupled_weight_decay")) {
    RunForm(d, step, kDecoupled);
    return {};
  }
  RunForm(d, step,
          {.one_by_one = AdamOneByOne<Decay::kOfGradient>,
           .foreach = AdamLists<Decay::kOfGradient>,
           .fused = AdamFused<"aten::_fused_adam_">});
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

// How much of the momentum, and of that of the next step, and the product of all until now, which
// is kept in float32.
struct Momenta {
  double now, next, product;
};
Momenta MomentaOf(const Step& step) {
  const double beta1 = step.Number("beta1"), decay = step.Number("momentum_decay");
  const auto at = [&](double number) {
    return beta1 * (1.0 - 0.5 * std::pow(0.96, number * decay));
  };
  float product = 1;
  for (int number = 1; number <= step.number(); ++number) {
    product *= static_cast<float>(at(number));
  }
  return {.now = at(step.number()), .next = at(step.number() + 1), .product = product};
}

// By what a parameter is moved along its gradient, and along the mean of gradients.
struct Moves {
  double gradient, mean;
};
Moves MovesOf(const Step& step, const Momenta& momenta) {
  const double lr = step.Number("lr");
  return {.gradient = -lr * (1.0 - momenta.now) / (1.0 - momenta.product),
          .mean = -lr * momenta.next / (1.0 - momenta.product * momenta.next)};
}

void NAdamOneByOne(Dispatcher& d, Step& step) {
  const Momenta momenta = MomentaOf(step);
  const Moves moves = MovesOf(step, momenta);
  const double correction = CorrectionsOf(step).second;
  const States states = StatesAsPairs(d, StatesOf(step, true, false));
  Tensor gradient, denominator;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor parameter = AsPairs(d, step.parameters[i]);
    gradient = AsPairs(d, GradientAt(d, step, i));
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    Decayed(d, step, DecayOf(step), parameter, gradient);
    d.Call("aten::mul_.Tensor", states.products[i], momenta.now);
    UpdateMoments(d, step, gradient, states.means[i], states.squares[i]);
    Tensor root = d.Call("aten::sqrt", d.Call("aten::div.Tensor", states.squares[i], correction));
    denominator = std::move(root);
    d.Call("aten::add_.Tensor", denominator, step.Number("eps"));
    d.Call("aten::addcdiv_", parameter, gradient, denominator, moves.gradient);
    d.Call("aten::addcdiv_", parameter, states.means[i], denominator, moves.mean);
  }
  Return(gradient, denominator);
}

void NAdamLists(Dispatcher& d, Step& step) {
  const Momenta momenta = MomentaOf(step);
  const Moves moves = MovesOf(step, momenta);
  const double root = Root(CorrectionsOf(step).second);
  const States all = StatesOf(step, true, false);
  Tensors gradients, roots;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const States states = StatesAsPairs(d, StatesAt(places, all));
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    CountUp(d, states.counters);
    Decayed(d, step, DecayOf(step), parameters, gradients);
    UpdateMoments(d, step, gradients, states);
    Set(roots, d.CallMany("aten::_foreach_sqrt", states.squares));
    d.CallMany("aten::_foreach_mul_.ScalarList", states.products, ForEach(roots, momenta.now));
    d.CallMany("aten::_foreach_div_.ScalarList", roots, ForEach(roots, root));
    d.CallMany("aten::_foreach_add_.Scalar", roots, step.Number("eps"));
    d.CallMany("aten::_foreach_addcdiv_.ScalarList", parameters, gradients, roots,
               ForEach(roots, moves.gradient));
    d.CallMany("aten::_foreach_addcdiv_.ScalarList", parameters, states.means, roots,
               ForEach(roots, moves.mean));
  }
  Return(gradients, roots);
}

std::vector<Tensor> NAdam(Dispatcher& d, const OpView& op) {
  Step step(d, op, "NAdam");
  RunForm(d, step, {.one_by_one = NAdamOneByOne, .foreach = NAdamLists});
  return {};
}

// --- RAdam --------------------------------------------------------------------------------------

// What rectifies the variance, as soon as there were steps enough to tell it (rho_t > 5): with the
// default options from the sixth on.
std::optional<double> RectificationOf(const Step& step) {
  const double number = step.number(), beta2 = step.Number("beta2");
  const double most = 2 / (1 - beta2) - 1;
  const double length = most - 2 * number * std::pow(beta2, number) / (1 - std::pow(beta2, number));
  if (!(length > 5.0)) return std::nullopt;
  return Root((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length));
}

// _compute_adaptive_lr(): a number divided by a tensor is a reciprocal and a product.
Tensor AdaptiveRate(Dispatcher& d, const Step& step, const Corrections& corrections,
                    const Tensor& square) {
  const Tensor root = d.Call("aten::sqrt", square);
  d.Call("aten::add_.Tensor", root, step.Number("eps"));
  return d.Call("aten::mul.Tensor", d.Call("aten::reciprocal", root), Root(corrections.second));
}

void RAdamOneByOne(Dispatcher& d, Step& step) {
  const std::optional<double> rectification = RectificationOf(step);
  const Corrections corrections = CorrectionsOf(step);
  const States states = StatesAsPairs(d, StatesOf(step, false, false));
  Tensor gradient, corrected;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const Tensor parameter = AsPairs(d, step.parameters[i]);
    gradient = AsPairs(d, GradientAt(d, step, i));
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    Decayed(d, step, DecayOf(step), parameter, gradient);
    UpdateMoments(d, step, gradient, states.means[i], states.squares[i]);
    corrected = d.Call("aten::div.Tensor", states.means[i], corrections.first);
    Tensor update = d.Call("aten::mul.Tensor", corrected, step.Number("lr"));
    if (rectification) {
      {
        Tensor rate = AdaptiveRate(d, step, corrections, states.squares[i]);
        Tensor product = d.Call("aten::mul.Tensor", update, rate);
        update = std::move(product);
      }
      update = d.Call("aten::mul.Tensor", update, *rectification);
    }
    d.Call("aten::add_.Tensor", parameter, update, -1.0);
  }
  Return(gradient, corrected);
}

void RAdamLists(Dispatcher& d, Step& step) {
  const std::optional<double> rectification = RectificationOf(step);
  const Corrections corrections = CorrectionsOf(step);
  const double lr = step.Number("lr");
  const double rectified =
      -(Root(corrections.second) * (lr * rectification.value_or(0) / corrections.first));
  const double unrectified = rectification ? -0.0 : -(lr / corrections.first);
  const States all = StatesOf(step, false, false);
  Tensors gradients, buffers;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const States states = StatesAsPairs(d, StatesAt(places, all));
    CountUp(d, states.counters);
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    Decayed(d, step, DecayOf(step), parameters, gradients);
    UpdateMoments(d, step, gradients, states);
    Drop(gradients);
    Set(buffers, d.CallMany("aten::_foreach_sqrt", states.squares));
    d.CallMany("aten::_foreach_add_.Scalar", buffers, step.Number("eps"));
    d.CallMany("aten::_foreach_div_.ScalarList", buffers, ForEach(buffers, rectified));
    d.CallMany("aten::_foreach_reciprocal_", buffers);
    d.CallMany("aten::_foreach_add_.ScalarList", buffers, ForEach(buffers, unrectified));
    d.CallMany("aten::_foreach_addcmul_.Scalar", parameters, states.means, buffers);
  }
  Return(buffers);
}

std::vector<Tensor> RAdam(Dispatcher& d, const OpView& op) {
  Step step(d, op, "RAdam");
  if (!step.knows_number()) d.Note("RAdam: the steady step is the sixth or a later one");
  RunForm(d, step, {.one_by_one = RAdamOneByOne, .foreach = RAdamLists});
  return {};
}

constexpr std::array kRows{
    OptimizerRow(
        "steelyard::adam", "torch.optim.Adam.",
        "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
        "beta2=0.999, float eps=1e-08, float weight_decay=0, bool amsgrad=False, bool "
        "maximize=False, bool? foreach=None, bool? fused=None, bool decoupled_weight_decay=False, "
        "bool capturable=False, bool differentiable=False, bool master_weights=False, int? "
        "step=None, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
        Adam),
    OptimizerRow(
        "steelyard::adamw", "torch.optim.AdamW.",
        "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
        "beta2=0.999, float eps=1e-08, float weight_decay=0.01, bool amsgrad=False, bool "
        "maximize=False, bool? foreach=None, bool? fused=None, bool capturable=False, bool "
        "differentiable=False, bool master_weights=False, int? step=None, Tensor? "
        "grad_scale=None, Tensor? found_inf=None) -> ()",
        AdamW),
    OptimizerRow("steelyard::nadam", "torch.optim.NAdam.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.002, float beta1=0.9, float "
                 "beta2=0.999, float eps=1e-08, float weight_decay=0, float momentum_decay=0.004, "
                 "bool decoupled_weight_decay=False, bool maximize=False, bool? foreach=None, bool "
                 "capturable=False, bool differentiable=False, bool master_weights=False, int? "
                 "step=None) -> ()",
                 NAdam),
    OptimizerRow("steelyard::radam",
                 "torch.optim.RAdam; a steady step is one with rectified variance, the sixth or "
                 "later.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.001, float beta1=0.9, float "
                 "beta2=0.999, float eps=1e-08, float weight_decay=0, bool "
                 "decoupled_weight_decay=False, bool maximize=False, bool? foreach=None, bool "
                 "capturable=False, bool differentiable=False, bool master_weights=False, int? "
                 "step=None) -> ()",
                 RAdam),
};

}  // namespace

std::span<const OpDef> Adam() { return kRows; }

}  // namespace steelyard::ops
