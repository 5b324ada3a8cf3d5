// SPDX-License-Identifier: Apache-2.0
//
// torch.optim.Adagrad and RMSprop (torch/optim/*.py).

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/cuda/releases.h"
#include "ops/gradients/sparse.h"
#include "ops/optimizers/step.h"
#include "ops/registry.h"

namespace steelyard::ops {
namespace {

// --- Adagrad ------------------------------------------------------------------------------------

// The constructor makes the state: it is there in the first step too.
struct Sums {
  Tensors counters, sums;
};
Sums SumsOf(Step& step) {
  Sums sums;
  for (const Tensor& parameter : step.parameters) {
    sums.counters.push_back(step.AsCounter(step.Present("step", Dims(), Dims(), DType::kFloat32)));
    sums.sums.push_back(step.Present("sum", Dims(parameter.sizes()), Dims(parameter.strides()),
                                     parameter.dtype(), step.Number("initial_accumulator_value")));
  }
  return sums;
}

double RateOf(const Step& step) {
  return step.Number("lr") / (1 + (step.number() - 1) * step.Number("lr_decay"));
}

// `square.sqrt().add_(eps)`
Tensor RootOf(Dispatcher& d, const Step& step, const Tensor& square) {
  Tensor root = d.Call("aten::sqrt", square);
  d.Call("aten::add_.Tensor", root, step.Number("eps"));
  return root;
}

// What _single_tensor_adagrad keeps of a sparse gradient until the next, or its end.
struct SparseVariables {
  Tensor indices, values, roots;
};

// The update is not linear: each row must be there once. `root` is what has the mask's places.
void StepSparse(Dispatcher& d, const Step& step, const Tensor& parameter, const Tensor& sum,
                Tensor& gradient, Tensor& root, SparseVariables& v) {
  const Dims sizes(parameter.sizes());
  gradient = gradients::Coalesced(d, gradient);
  v.indices = gradients::SparseIndices(d, gradient);
  v.values = gradients::SparseValues(d, gradient);
  {
    const Tensor squares = d.Call("aten::pow.Tensor_Scalar", v.values, 2);
    d.Call("aten::add_.Tensor", sum, gradients::MakeSparse(d, v.indices, squares, sizes));
  }
  root = gradients::SparseMask(d, sum, gradient);
  {
    Tensor roots = gradients::SparseValues(d, root);
    d.Call("aten::sqrt_", roots);
    d.Call("aten::add_.Tensor", roots, step.Number("eps"));
    v.roots = std::move(roots);
  }
  const Tensor ratio = d.Call("aten::div.Tensor", v.values, v.roots);
  d.Call("aten::add_.Tensor", parameter, gradients::MakeSparse(d, v.indices, ratio, sizes),
         -RateOf(step));
}

void StepOneByOne(Dispatcher& d, Step& step, const Sums& states,
                  const std::vector<std::size_t>& places) {
  Tensor gradient, root;
  SparseVariables sparse;
  for (const std::size_t i : places) {
    gradient = step.gradients[i];
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    if (step.HasSparse(i)) {
      StepSparse(d, step, step.parameters[i], states.sums[i], gradient, root, sparse);
      continue;
    }
    if (step.On("maximize")) gradient = d.Call("aten::neg", gradient);
    AddDecay(d, step, step.parameters[i], gradient);
    gradient = AsPairs(d, gradient);
    const Tensor sum = AsPairs(d, states.sums[i]), parameter = AsPairs(d, step.parameters[i]);
    d.Call("aten::addcmul_", sum, gradient, gradient, 1);
    root = RootOf(d, step, sum);
    d.Call("aten::addcdiv_", parameter, gradient, root, -RateOf(step));
  }
  Return(gradient, sparse.indices, sparse.values, root, sparse.roots);
}

void AdagradOneByOne(Dispatcher& d, Step& step) {
  const Sums states = SumsOf(step);
  std::vector<std::size_t> places(step.parameters.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  StepOneByOne(d, step, states, places);
}

void AdagradLists(Dispatcher& d, Step& step) {
  const Sums all = SumsOf(step);
  Tensors gradients, roots, numerators;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    if (std::ranges::any_of(places, [&](std::size_t i) { return step.HasSparse(i); })) {
      StepOneByOne(d, step, all, places);
      continue;
    }
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const Tensors sums = AsPairs(d, Pick(all.sums, places));
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    CountUp(d, Pick(all.counters, places));
    AddDecay(d, step, parameters, gradients);
    d.CallMany("aten::_foreach_addcmul_.Scalar", sums, gradients, gradients, 1);
    Set(roots, d.CallMany("aten::_foreach_sqrt", sums));
    d.CallMany("aten::_foreach_add_.Scalar", roots, step.Number("eps"));
    const std::vector<double> rates = ForEach(gradients, -RateOf(step));
    if (step.On("weight_decay") || step.On("maximize")) {
      d.CallMany("aten::_foreach_mul_.ScalarList", gradients, rates);
      Set(numerators, gradients);
    } else {
      Set(numerators, d.CallMany("aten::_foreach_mul.ScalarList", gradients, rates));
    }
    d.CallMany("aten::_foreach_addcdiv_.Scalar", parameters, numerators, roots);
  }
  Return(gradients, roots, numerators);
}

void AdagradFused(Dispatcher& d, Step& step) {
  if (cuda::IsBefore(d.target(), cuda::kAdagradIsFused)) {
    Contradict("this release of PyTorch has no fused Adagrad on CUDA",
               "Leave --fused away, or name a later release with --torch.");
  }
  const Sums all = SumsOf(step);
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors counters = Pick(all.counters, places);
    CountUpFused(d, counters);
    d.CallMany("aten::_fused_adagrad_", Pick(step.parameters, places), Pick(step.gradients, places),
               Pick(all.sums, places), counters, step.Number("lr"), step.Number("lr_decay"),
               step.Number("weight_decay"), step.Number("eps"), step.On("maximize"),
               step.Operand("grad_scale"), step.Operand("found_inf"));
    CountDownSkipped(d, step, counters);
  }
}

void RefuseForSparse(const Step& step) {
  if (step.On("fused") || step.On("weight_decay")) {
    Refuse("PyTorch's Adagrad takes no sparse gradients with fused or weight_decay",
           "Leave them out, or make the embedding with sparse=False.");
  }
  if (step.On("maximize")) {
    Refuse("Adagrad's maximize is not modelled for sparse gradients",
           "Leave it out, or make the embedding with sparse=False.");
  }
}

std::vector<Tensor> Adagrad(Dispatcher& d, const OpView& op) {
  Step step(d, op, "Adagrad");
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    if (step.HasSparse(i)) RefuseForSparse(step);
  }
  RunForm(d, step, {.one_by_one = AdagradOneByOne, .foreach = AdagradLists, .fused = AdagradFused});
  return {};
}

// --- RMSprop ------------------------------------------------------------------------------------

struct Averages {
  Tensors counters, squares, buffers, means;
};
// Of complex parameters pairs of real numbers.
Averages AveragesOf(Dispatcher& d, Step& step) {
  Averages averages;
  for (const Tensor& parameter : step.parameters) {
    averages.counters.push_back(step.AsCounter(step.Zeros("step", Dims(), DType::kFloat32)));
    averages.squares.push_back(AsPairs(d, step.Like(parameter, "square_avg")));
    if (step.On("momentum")) {
      averages.buffers.push_back(AsPairs(d, step.Like(parameter, "momentum_buffer")));
    }
    if (step.On("centered")) averages.means.push_back(AsPairs(d, step.Like(parameter, "grad_avg")));
  }
  return averages;
}

void RmsPropOneByOne(Dispatcher& d, Step& step) {
  const double alpha = step.Number("alpha");
  const Averages states = AveragesOf(d, step);
  Tensor gradient, average;
  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    gradient = step.gradients[i];
    if (step.On("maximize")) gradient = d.Call("aten::neg", gradient);
    d.Call("aten::add_.Tensor", states.counters[i], 1);
    AddDecay(d, step, step.parameters[i], gradient);
    gradient = AsPairs(d, gradient);
    const Tensor parameter = AsPairs(d, step.parameters[i]);
    const Tensor& square = states.squares[i];
    d.Call("aten::mul_.Tensor", square, alpha);
    d.Call("aten::addcmul_", square, gradient, gradient, 1 - alpha);
    if (step.On("centered")) {
      const Tensor& mean = states.means[i];
      d.Call("aten::lerp_.Scalar", mean, gradient, 1 - alpha);
      Tensor variance = d.Call("aten::addcmul", square, mean, mean, -1);
      d.Call("aten::sqrt_", variance);
      average = std::move(variance);
    } else {
      average = d.Call("aten::sqrt", square);
    }
    d.Call("aten::add_.Tensor", average, step.Number("eps"));
    if (step.On("momentum")) {
      d.Call("aten::mul_.Tensor", states.buffers[i], step.Number("momentum"));
      d.Call("aten::addcdiv_", states.buffers[i], gradient, average);
      d.Call("aten::add_.Tensor", parameter, states.buffers[i], -step.Number("lr"));
    } else {
      d.Call("aten::addcdiv_", parameter, gradient, average, -step.Number("lr"));
    }
  }
  Return(gradient, average);
}

void RmsPropLists(Dispatcher& d, Step& step) {
  const double alpha = step.Number("alpha");
  const Averages all = AveragesOf(d, step);
  Tensors gradients, averages;
  for (const std::vector<std::size_t>& places : ByDType(d, step.parameters)) {
    const Tensors parameters = AsPairs(d, Pick(step.parameters, places));
    const Tensors squares = Pick(all.squares, places);
    SetGradients(d, step, places, gradients);
    gradients = AsPairs(d, gradients);
    CountUp(d, Pick(all.counters, places));
    AddDecay(d, step, parameters, gradients);
    d.CallMany("aten::_foreach_mul_.Scalar", squares, alpha);
    d.CallMany("aten::_foreach_addcmul_.Scalar", squares, gradients, gradients, 1 - alpha);
    if (step.On("centered")) {
      const Tensors means = Pick(all.means, places);
      d.CallMany("aten::_foreach_lerp_.Scalar", means, gradients, 1 - alpha);
      Set(averages, d.CallMany("aten::_foreach_addcmul.Scalar", squares, means, means, -1));
      d.CallMany("aten::_foreach_sqrt_", averages);
    } else {
      Set(averages, d.CallMany("aten::_foreach_sqrt", squares));
    }
    d.CallMany("aten::_foreach_add_.Scalar", averages, step.Number("eps"));
    const double lr = step.Number("lr");
    if (step.On("momentum")) {
      const Tensors buffers = Pick(all.buffers, places);
      d.CallMany("aten::_foreach_mul_.Scalar", buffers, step.Number("momentum"));
      d.CallMany("aten::_foreach_addcdiv_.Scalar", buffers, gradients, averages);
      d.CallMany("aten::_foreach_add_.List", parameters, buffers, -lr);
    } else {
      d.CallMany("aten::_foreach_addcdiv_.Scalar", parameters, gradients, averages, -lr);
    }
  }
  Return(gradients, averages);
}

std::vector<Tensor> RmsProp(Dispatcher& d, const OpView& op) {
  Step step(d, op, "RMSprop");
  RunForm(d, step, {.one_by_one = RmsPropOneByOne, .foreach = RmsPropLists});
  return {};
}

constexpr std::array kRows{
    OptimizerRow(
        "steelyard::adagrad", "torch.optim.Adagrad, whose constructor makes the state.",
        "(Tensor[] parameters, bool first_step, *, float lr=0.01, float lr_decay=0, float "
        "weight_decay=0, float initial_accumulator_value=0, float eps=1e-10, bool maximize=False, "
        "bool? foreach=None, bool? fused=None, bool differentiable=False, bool "
        "master_weights=False, int? step=None, Tensor? grad_scale=None, Tensor? found_inf=None) "
        "-> ()",
        Adagrad),
    OptimizerRow("steelyard::rmsprop", "torch.optim.RMSprop.",
                 "(Tensor[] parameters, bool first_step, *, float lr=0.01, float alpha=0.99, float "
                 "eps=1e-08, float momentum=0, float weight_decay=0, bool centered=False, bool "
                 "maximize=False, bool? foreach=None, bool capturable=False, bool "
                 "differentiable=False, bool master_weights=False) -> ()",
                 RmsProp),
};

}  // namespace

std::span<const OpDef> Adaptive() { return kRows; }

}  // namespace steelyard::ops
