// SPDX-License-Identifier: Apache-2.0
//
// What rows of optimizers are written with. A row's function reads like the Python function it
// stands for: variables that outlive an iteration are declared before the loop, lists die last
// element first, and the variables of a function die in the order in which they were first set.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/rules/composite.h"

namespace steelyard::ops {

using Tensors = std::vector<Tensor>;

// What stands for a number that only the data tell: what a step costs does not depend on it.
inline constexpr double kAnyNumber = 0.9;

// The end of a Python variable: a tensor, or a list of them, which dies last element first.
inline void Drop(Tensor& variable) { variable.reset(); }
inline void Drop(Tensors& variable) {
  while (!variable.empty()) variable.pop_back();
}
// A Python function returns: its variables in the order in which it set them first.
template <class... Variables>
void Return(Variables&... variables) {
  (Drop(variables), ...);
}
// `variable = list`: the old one dies once the new one is there.
void Set(Tensors& variable, Tensors list);

// As long as it lives, what runs is Python code of the training loop, under torch.no_grad.
class Outside {
 public:
  explicit Outside(Dispatcher& d) : outside_(d), python_(d), off_(d, false) {}

 private:
  Dispatcher::AsProgram outside_;
  Dispatcher::FromPython python_;
  Dispatcher::GradMode off_;
};

// A step of an optimizer, as one record of the profiler. Arguments 0 and 1 of its row are the
// parameters and whether it is the first step; all others are options by name.
class Step {
 public:
  // `class_name` is the optimizer's in Python: "AdamW".
  Step(Dispatcher& d, const OpView& op, std::string_view class_name);

  // A switch that is on, or a number that is not zero. Requires: the row has the option.
  bool On(std::string_view option) const;
  // False: None, which is what leaves the choice to PyTorch.
  bool IsGiven(std::string_view option) const;
  bool is_first() const { return op_.boolean(1); }
  // The option. Requires: the row has it.
  double Number(std::string_view option) const;
  std::vector<double> Numbers(std::string_view option) const;  // of a list
  std::string_view Word(std::string_view option) const;
  // An operand besides the parameters; undefined where it is None. Requires: the row has it.
  Tensor Operand(std::string_view name) const;
  // Which step it is, from 1 on; of a row that is not told, one in the middle of training.
  // Requires: the row has the parameter `step`.
  double number() const;
  bool knows_number() const { return is_first() || IsGiven("step"); }

  // The parameters that have a gradient, and these.
  Tensors parameters, gradients;
  // Whether the i-th gradient is sparse, which few optimizers take.
  bool HasSparse(std::size_t i) const;

  // State, which a first step makes and every later one finds. A counter is
  // torch.tensor(number, dtype=float32), or torch.zeros.
  Tensor Counter(std::string_view name = "step", double number = 0);
  // A number that was made in another way: it is where the form counts.
  Tensor AsCounter(Tensor made);
  // Counters are on the device that the program runs on; else in the host's memory.
  void CountOnDevice() { counts_on_device_ = true; }
  Tensor Like(const Tensor& tensor, std::string_view name);
  Tensor Like(const Tensor& tensor, std::string_view name, DType dtype);
  Tensor Zeros(std::string_view name, const Dims& sizes, DType dtype);
  // What is there in the first step too; it begins with this number.
  Tensor Present(std::string_view name, const Dims& sizes, const Dims& strides, DType dtype,
                 double number = 0);
  // From now on `made` is state.
  Tensor Adopt(Tensor made);

  // With the option `master_weights`: parameters of fewer than 32 bits are stepped in copies in
  // float32, which are state that was there before the first step. Their gradients are cast to
  // float32 before the step and go after it, and what was stepped is copied back.
  void TakeMasters();
  void ReturnMasters();

 private:
  const Argument& Option(std::string_view name) const;

  bool counts_on_device_ = false;
  std::vector<std::pair<std::size_t, Tensor>> lowered_;  // places, and the parameters of the model
  Dispatcher& d_;
  const OpView& op_;
  Outside outside_;
  Dispatcher::Inside frame_;
};

// The forms of an optimizer, of which the options `foreach` and `fused` choose. Requires: the row
// has the options of the forms that are not null, and `master_weights`.
struct Forms {
  using Form = void (*)(Dispatcher& d, Step& step);
  Form one_by_one;
  Form foreach = nullptr;
  Form fused = nullptr;
  bool lists_unasked = true;  // on CUDA, as most optimizers of PyTorch
};
void RunForm(Dispatcher& d, Step& step, const Forms& forms);

// The places of tensors of one dtype, for foreach and fused forms, in the order in which
// torch.utils._foreach_utils groups them.
std::vector<std::vector<std::size_t>> ByDType(Dispatcher& d, const Tensors& tensors);
Tensors Pick(const Tensors& tensors, const std::vector<std::size_t>& places);

// The gradient of a parameter, or with the option `maximize` its negative.
Tensor GradientAt(Dispatcher& d, const Step& step, std::size_t i);
// The same for a list of them.
void SetGradients(Dispatcher& d, const Step& step, const std::vector<std::size_t>& places,
                  Tensors& gradients);
// A complex tensor as pairs of real numbers, which is what most optimizers step; another one itself
// (torch.view_as_real). The same of lists.
Tensor AsPairs(Dispatcher& d, const Tensor& tensor);
Tensors AsPairs(Dispatcher& d, const Tensors& tensors);

// With the option `weight_decay`, adds a part of the parameter to its gradient.
void AddDecay(Dispatcher& d, const Step& step, const Tensor& parameter, Tensor& gradient);
// The same for lists: into the negatives, if they are.
void AddDecay(Dispatcher& d, const Step& step, const Tensors& parameters, Tensors& gradients);

// `torch._foreach_add_(counters, torch.tensor(1.0), alpha=1.0)`.
void CountUp(Dispatcher& d, const Tensors& counters);

// What fused forms do with their counters, which are on the device: they are counted up, and down
// again by what a gradient scaler has found, with which the kernels leave the step out.
void CountUpFused(Dispatcher& d, const Tensors& counters);
void CountDownSkipped(Dispatcher& d, const Step& step, const Tensors& counters);

// What means that began with zeros lack. Requires: the row has `beta1`, `beta2` and `step`.
struct Corrections {
  double first, second;
};
Corrections CorrectionsOf(const Step& step);
// `x ** 0.5`, as Python has it.
inline double Root(double x) { return std::pow(x, 0.5); }

// The number once for each of the tensors.
inline std::vector<double> ForEach(const Tensors& tensors, double number) {
  return std::vector<double>(tensors.size(), number);
}

constexpr OpDef OptimizerRow(OpName name, std::string_view summary, Signature signature,
                             DecomposeFn decompose) {
  return Composite(name, summary, signature, "", Family::kOptimizer, decompose, precision::kFollow,
                   kNoGradient);
}

}  // namespace steelyard::ops
