// SPDX-License-Identifier: Apache-2.0
//
// The gradient column of an operator's row: how autograd differentiates it, and so what it keeps
// alive until then. It follows PyTorch's derivatives.yaml: one formula for each argument, or one
// for several that a kernel gives at once, in the order in which the autograd node computes them.
//
//   .grad = Gradient("MmBackward0", {GradientOf(1, {0}, MmMat2), GradientOf(0, {1}, MmSelf)}),
//
// says that the second argument's gradient is computed first, from the saved first argument.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace steelyard {

class Backward;    // src/ops/backward.h: what a formula is given
class Dispatcher;  // src/ops/dispatcher.h
class OpView;      // src/ops/op_def.h
class Tensor;

// A few arguments, by their places in the signature.
class ArgumentSet {
 public:
  static constexpr int kMost = 12;
  constexpr ArgumentSet(std::initializer_list<int> places) {
    for (int place : places) places_.at(size_++) = static_cast<std::uint8_t>(place);
  }
  constexpr std::span<const std::uint8_t> places() const { return {places_.data(), size_}; }
  constexpr bool Contains(int place) const {
    for (std::uint8_t p : places()) {
      if (p == place) return true;
    }
    return false;
  }

 private:
  std::array<std::uint8_t, kMost> places_{};
  std::uint8_t size_ = 0;
};

// Among what a formula saves, output `i` of the operator.
constexpr int ResultAt(int i) { return 64 + i; }
inline constexpr int kResult = 64;

// The gradient of one argument: undefined where there is none after all.
using GradientFn = Tensor (*)(Dispatcher& d, const Backward& b);
// The gradients of several arguments, in their order; of a list of tensors, of each of them.
using GradientsFn = std::vector<Tensor> (*)(Dispatcher& d, const Backward& b);

// A node that is written in Python holds the gradients that arrive until it returns, and what it
// put into its context until it dies.
struct InPython {
  ArgumentSet context;
};

// Whether a call has what is asked; its results are not looked at.
using CallTest = bool (*)(const OpView& op);

// One formula of an autograd node.
struct Derivative {
  ArgumentSet of;     // the arguments whose gradients it gives
  ArgumentSet saves;  // the arguments and results it needs
  GradientFn one = nullptr;
  GradientsFn several = nullptr;
  CallTest saves_if = nullptr;  // of which calls it needs them; null: of all
  bool factors = false;         // an argument is saved only where another's gradient is wanted
};
constexpr Derivative GradientOf(int argument, ArgumentSet saves, GradientFn formula) {
  return {.of = {argument}, .saves = saves, .one = formula};
}
constexpr Derivative GradientsOf(ArgumentSet arguments, ArgumentSet saves, GradientsFn formula) {
  return {.of = arguments, .saves = saves, .several = formula};
}

// A formula that saves only of the calls that pass the test.
constexpr Derivative SavingIf(CallTest test, Derivative formula) {
  formula.saves_if = test;
  return formula;
}

// The gradients of factors: each is made of the others (wrap_opt_if in derivatives.yaml).
constexpr Derivative GradientsOfFactors(ArgumentSet arguments, GradientsFn formula) {
  return {.of = arguments, .saves = arguments, .several = formula, .factors = true};
}

class Gradient {
 public:
  enum class Kind : std::uint8_t {
    kNone,       // not differentiable: its results need no gradient
    kFromParts,  // the operators that a composite calls have gradients
    kFormula,
    kUnknown,  // no formula: a training step that needs it is refused
    kDropped,  // what it gives has no history
  };
  static constexpr int kMostFormulas = 4;

  constexpr explicit Gradient(Kind kind) : kind_(kind) {}
  // The name of the autograd node, as PyTorch's profiler prints it, and its formulas in the order
  // in which it computes them.
  constexpr Gradient(std::string_view node, std::initializer_list<Derivative> formulas)
      : kind_(Kind::kFormula), node_(node) {
    for (const Derivative& formula : formulas) formulas_.at(size_++) = formula;
  }
  constexpr Gradient(std::string_view node, std::initializer_list<Derivative> formulas,
                     InPython python)
      : Gradient(node, formulas) {
    in_python_ = true;
    context_ = python.context;
  }
  constexpr Kind kind() const { return kind_; }
  // Whether a view of a tensor that requires a gradient requires one, too.
  constexpr bool KeepsHistory() const { return kind_ != Kind::kNone && kind_ != Kind::kDropped; }
  constexpr bool in_python() const { return in_python_; }
  constexpr const ArgumentSet& context() const { return context_; }
  constexpr std::string_view node() const { return node_; }
  constexpr std::span<const Derivative> formulas() const { return {formulas_.data(), size_}; }
  // The same for an operator whose other results have no gradient, whatever its arguments have.
  constexpr Gradient OnlyOf(ArgumentSet results) const {
    Gradient out = *this;
    out.results_ = results;
    return out;
  }
  constexpr bool HasGradient(std::uint32_t result) const {
    return results_.places().empty() || results_.Contains(static_cast<int>(result));
  }
  // Whether some formula gives a gradient of this argument.
  constexpr bool Differentiates(int argument) const {
    for (const Derivative& formula : formulas()) {
      if (formula.of.Contains(argument)) return true;
    }
    return false;
  }

 private:
  static constexpr Derivative kNothing{.of = {}, .saves = {}};
  Kind kind_;
  bool in_python_ = false;
  ArgumentSet context_{};
  ArgumentSet results_{};  // that have a gradient; none: all
  std::string_view node_;
  std::array<Derivative, kMostFormulas> formulas_{kNothing, kNothing, kNothing, kNothing};
  std::size_t size_ = 0;
};
inline constexpr Gradient kNoGradient{Gradient::Kind::kNone};
inline constexpr Gradient kGradientFromParts{Gradient::Kind::kFromParts};
inline constexpr Gradient kGradientUnknown{Gradient::Kind::kUnknown};
inline constexpr Gradient kGradientDropped{Gradient::Kind::kDropped};

}  // namespace steelyard
