// SPDX-License-Identifier: Apache-2.0
//
// State is made in a first step and found in any later one, in the layout that PyTorch gives it, so
// that one function of an optimizer serves for both. Parameters of different dtypes are taken in
// the order of C++'s hash table. Master weights, where there are, are updated in the parameters'
// place, then copied back.

#include "ops/optimizers/step.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "ir/layout.h"
#include "ops/dispatch/autograd.h"

namespace steelyard::ops {

namespace {

constexpr std::array<std::string_view, 2> kTakeSparse{"SGD", "Adagrad"};

}  // namespace

void Set(Tensors& variable, Tensors list) {
  variable.swap(list);
  Drop(list);
}

Step::Step(Dispatcher& d, const OpView& op, std::string_view class_name)
    : d_(d),
      op_(op),
      outside_(d),
      frame_(d, "Optimizer.step#" + std::string(class_name) + ".step") {
  for (Tensor& parameter : d.tensors(op, 0)) {
    Tensor gradient = d.autograd().gradient(parameter.id());
    if (!gradient.defined()) continue;
    const Way* way = d.autograd().WayOfGradient(parameter.id());
    if (way != nullptr) d.autograd().SetWay(gradient.id(), *way);
    parameters.push_back(std::move(parameter));
    gradients.push_back(std::move(gradient));
  }
  if (std::ranges::find(kTakeSparse, class_name) != kTakeSparse.end()) return;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!HasSparse(i)) continue;
    Refuse(
        fmt::format("a step of {} on a sparse gradient is not modelled", class_name),
        "SGD and Adagrad take it, as few optimizers of PyTorch do. With sparse=False it is dense.");
  }
}

bool Step::HasSparse(std::size_t i) const { return d_.autograd().IsSparse(gradients[i].id()); }

double Step::Number(std::string_view option) const {
  const Argument& argument = Option(option);
  if (argument.kind == ArgKind::kFloat) return argument.real;
  return static_cast<double>(argument.dim.number());
}

std::vector<double> Step::Numbers(std::string_view option) const {
  return op_.reals(op_.def().signature->IndexOf(option));
}

Tensor Step::Operand(std::string_view name) const {
  return d_.tensor(op_, op_.def().signature->IndexOf(name));
}

std::string_view Step::Word(std::string_view option) const {
  return op_.text(op_.def().signature->IndexOf(option));
}

double Step::number() const {
  constexpr double kMiddle = 1000;
  if (is_first()) return 1;
  return IsGiven("step") ? Number("step") : kMiddle;
}

bool Step::On(std::string_view option) const { return IsGiven(option) && Number(option) != 0; }

bool Step::IsGiven(std::string_view option) const { return Option(option).kind != ArgKind::kNone; }

const Argument& Step::Option(std::string_view name) const {
  return op_.arg(op_.def().signature->IndexOf(name));
}

Tensor Step::Adopt(Tensor made) {
  d_.SetRole(made, Role::kOptimizerState);
  d_.Keep(made);
  return made;
}

Tensor Step::Present(std::string_view name, const Dims& sizes, const Dims& strides, DType dtype,
                     double number) {
  Tensor state = d_.AddResident(name, sizes, strides, dtype, Role::kOptimizerState);
  if (number != 0) d_.BeginWith(state, number);
  return state;
}

Tensor Step::Counter(std::string_view name, double number) {
  Tensor counter = is_first() ? Adopt(d_.NumberTensor(number))
                              : Present(name, Dims(), Dims(), DType::kFloat32, number);
  return AsCounter(std::move(counter));
}

Tensor Step::AsCounter(Tensor made) {
  if (!counts_on_device_) d_.PutOnHost(made);
  return made;
}

Tensor Step::Like(const Tensor& tensor, std::string_view name) {
  return Like(tensor, name, tensor.dtype());
}

Tensor Step::Like(const Tensor& tensor, std::string_view name, DType dtype) {
  if (is_first()) return Adopt(d_.Call("aten::zeros_like", tensor, dtype));
  Tensor state = Present(name, Dims(tensor.sizes()),
                         EmptyLikeStrides(tensor.sizes(), tensor.strides()), dtype);
  const Way* way = d_.autograd().WayOf(tensor.id());
  if (way != nullptr) d_.autograd().SetWay(state.id(), *way);
  return state;
}

Tensor Step::Zeros(std::string_view name, const Dims& sizes, DType dtype) {
  if (is_first()) return Adopt(d_.Call("aten::zeros", sizes, dtype));
  return Present(name, sizes, ContiguousStrides(sizes), dtype);
}

void Step::TakeMasters() {
  if (!On("master_weights")) return;
  constexpr int kFullBits = 32;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor parameter = parameters[i];
    if (BitsOf(parameter.dtype()) >= kFullBits) continue;
    parameters[i] =
        Present("master", Dims(parameter.sizes()),
                EmptyLikeStrides(parameter.sizes(), parameter.strides()), DType::kFloat32);
    d_.BeginAs(parameters[i], parameter);
    gradients[i] = d_.Call("aten::to.dtype", gradients[i], DType::kFloat32);
    lowered_.emplace_back(i, parameter);
  }
}

void Step::ReturnMasters() {
  for (const auto& [place, parameter] : lowered_) {
    gradients[place].reset();
    d_.Call("aten::copy_", parameter, parameters[place]);
  }
}

void RunForm(Dispatcher& d, Step& step, const Forms& forms) {
  const bool fused = forms.fused != nullptr && step.On("fused");
  // Lists are what PyTorch takes on CUDA if nobody says anything of the form
  // (_default_to_fused_or_foreach).
  const bool is_open = forms.foreach != nullptr && forms.lists_unasked &&
                       !step.IsGiven("foreach") &&
                       !(forms.fused != nullptr && step.IsGiven("fused"));
  const bool by_default = is_open && d.target().device == Device::kCuda;
  const bool foreach = forms.foreach != nullptr && (by_default || step.On("foreach"));
  if (fused) step.CountOnDevice();
  if (foreach && fused)
    Contradict("an optimizer is either foreach or fused", "Leave one of them out.");
  if (step.parameters.empty()) return;
  const Forms::Form form = fused ? forms.fused : foreach ? forms.foreach : forms.one_by_one;
  step.TakeMasters();
  form(d, step);
  step.ReturnMasters();
}

// A hash table of C++ goes through its keys from the last inserted to the first, but where two
// share a bucket; of three dtypes and more that is not modelled.
std::vector<std::vector<std::size_t>> ByDType(Dispatcher& d, const Tensors& tensors) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto group = std::ranges::find_if(
        groups, [&](const auto& g) { return tensors[g[0]].dtype() == tensors[i].dtype(); });
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  if (groups.size() > 2) {
    d.Note("of parameters of three dtypes, the order in which the optimizer takes them is assumed");
  }
  std::ranges::reverse(groups);
  return groups;
}

Tensors Pick(const Tensors& tensors, const std::vector<std::size_t>& places) {
  Tensors out;
  for (const std::size_t place : places) out.push_back(tensors[place]);
  return out;
}

Tensor GradientAt(Dispatcher& d, const Step& step, std::size_t i) {
  return step.On("maximize") ? d.Call("aten::neg", step.gradients[i]) : step.gradients[i];
}

void SetGradients(Dispatcher& d, const Step& step, const std::vector<std::size_t>& places,
                  Tensors& gradients) {
  Set(gradients, Pick(step.gradients, places));
  if (step.On("maximize")) Set(gradients, d.CallMany("aten::_foreach_neg", gradients));
}

Tensor AsPairs(Dispatcher& d, const Tensor& tensor) {
  return IsComplex(tensor.dtype()) ? d.Call("aten::view_as_real", tensor) : tensor;
}
Tensors AsPairs(Dispatcher& d, const Tensors& tensors) {
  Tensors pairs;
  pairs.reserve(tensors.size());
  for (const Tensor& tensor : tensors) pairs.push_back(AsPairs(d, tensor));
  return pairs;
}

void AddDecay(Dispatcher& d, const Step& step, const Tensor& parameter, Tensor& gradient) {
  if (!step.On("weight_decay")) return;
  gradient = d.Call("aten::add.Tensor", gradient, parameter, step.Number("weight_decay"));
}

void AddDecay(Dispatcher& d, const Step& step, const Tensors& parameters, Tensors& gradients) {
  if (!step.On("weight_decay")) return;
  if (step.On("maximize")) {
    d.CallMany("aten::_foreach_add_.List", gradients, parameters, step.Number("weight_decay"));
  } else {
    Set(gradients,
        d.CallMany("aten::_foreach_add.List", gradients, parameters, step.Number("weight_decay")));
  }
}

Corrections CorrectionsOf(const Step& step) {
  return {.first = 1 - std::pow(step.Number("beta1"), step.number()),
          .second = 1 - std::pow(step.Number("beta2"), step.number())};
}

void CountUpFused(Dispatcher& d, const Tensors& counters) {
  d.CallMany("aten::_foreach_add_.Scalar", counters, 1);
}

void CountDownSkipped(Dispatcher& d, const Step& step, const Tensors& counters) {
  const Tensor found = step.Operand("found_inf");
  if (!found.defined()) return;
  d.CallMany("aten::_foreach_sub_.List", counters, Tensors(counters.size(), found));
}

void CountUp(Dispatcher& d, const Tensors& counters) {
  const Tensor one = d.NumberTensor(1);
  d.PutOnHost(one);
  d.Call("aten::_foreach_add_.Tensor", counters, one, 1.0);
}

}  // namespace steelyard::ops
