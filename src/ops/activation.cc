// SPDX-License-Identifier: Apache-2.0
//
// Activation functions. Their work follows the formula, a division or a limit counted as one
// operation each (ATen/native/cpu/Activation.cpp); special functions apart.

#include <array>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/network.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

// --- Makers -------------------------------------------------------------------------------------

void RequireFloating(const TensorView& self) {
  if (!IsFloating(self.dtype()) && !IsComplex(self.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  }
}

void FreshShape(const OpView& op, Outputs& out) {
  RequireFloating(op.self());
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}
void InPlaceShape(const OpView& op, Outputs& out) {
  RequireFloating(op.self());
  shape::SameAs<0>(op, out);
}

constexpr OpDef Fresh(OpName name, std::string_view summary, Signature signature,
                      std::string_view example, Gradient grad, WorkFn work,
                      AllocationsFn allocations = allocations::OutputsOnly) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {FreshShape, Fusion::kElementwise, allocations, work, grad, precision::kFollow});
}

constexpr OpDef InPlace(OpName name, std::string_view summary, Signature signature,
                        std::string_view example, Gradient grad, WorkFn work) {
  return Kernel(
      Family::kElementwise, {name, summary, signature, example},
      {InPlaceShape, Fusion::kElementwise, allocations::None, work, grad, precision::kFollow},
      Alias::kInPlace);
}

// A special function that takes integers too.
constexpr OpDef Special(OpName name, std::string_view summary, std::string_view example,
                        Gradient grad) {
  return Kernel(Family::kElementwise, {name, summary, "(Tensor self) -> Tensor", example},
                {shape::Iterate<Promotion::kFloat, 0>, Fusion::kElementwise,
                 allocations::Iterate<Promotion::kFloat, 0>,
                 work::PerOutput<PerElement{.special = 1}>, grad, precision::kFollow});
}

constexpr OpDef Call(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kElementwise, decompose,
                   precision::kFollow, grad);
}

// --- Rectifiers ---------------------------------------------------------------------------------

std::vector<Tensor> Relu(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::clamp_min", d.tensor(op, 0), 0)};
}
std::vector<Tensor> ReluInPlace(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::clamp_min_", d.tensor(op, 0), 0)};
}
std::vector<Tensor> Relu6(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::hardtanh", d.tensor(op, 0), 0, 6)};
}
std::vector<Tensor> Relu6InPlace(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::hardtanh_", d.tensor(op, 0), 0, 6)};
}
std::vector<Tensor> Celu(Dispatcher& d, const OpView& op) {
  const double alpha = op.real(1, 1.0);
  return {d.Call("aten::elu", d.tensor(op, 0), alpha, 1.0, 1.0 / alpha)};
}
// The numbers that keep mean 0 and variance 1 (Klambauer et al., 2017).
std::vector<Tensor> Selu(Dispatcher& d, const OpView& op) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  return {d.Call("aten::elu", d.tensor(op, 0), kAlpha, kScale, 1.0)};
}

// --- gelu ---------------------------------------------------------------------------------------

// x/2 (1 + erf(x / sqrt 2)), or x/2 (1 + tanh(b (x + c x^3))).
constexpr PerElement kGeluByErf{.alu = 4, .special = 1};
constexpr PerElement kGeluByTanh{.alu = 8, .special = 1};
Work GeluWork(const OpView& op) {
  const bool by_tanh = op.text(1) == "tanh";
  return work::Times(by_tanh ? kGeluByTanh : kGeluByErf, work::Elements(op.output()));
}

// --- log_sigmoid --------------------------------------------------------------------------------

void LogSigmoidShape(const OpView& op, Outputs& out) {
  RequireFloating(op.self());
  if (op.target().device == Device::kCuda) {  // which keeps nothing for the gradient
    shape::Iterate<Promotion::kCommon, 0>(op, out);
    return out.Add(op.self().dtype(), Dims{0});
  }
  out.Add(op.self().dtype(), op.self().sizes());
  out.Add(op.self().dtype(), op.self().sizes());  // exp(-|x|), for the gradient
}
void LogSigmoidAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  memory.Output(1, "aten::empty");
  allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}
std::vector<Tensor> LogSigmoid(Dispatcher& d, const OpView& op) {
  return {d.CallMany("aten::log_sigmoid_forward", d.tensor(op, 0))[0]};
}

// --- glu ----------------------------------------------------------------------------------------

// An iterator over the two halves of the operand.
void GluShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  RequireFloating(self);
  if (self.rank() == 0) Refuse("glu needs at least one dimension");
  const int dim = op.dim(1, self.rank());
  if (self.size(dim) % 2 != 0) {
    Refuse("glu halves an odd dimension: " + shape::Text(self));
  }
  Dims half(self.sizes());
  half[dim] /= 2;
  const std::array<Layout, 2> halves{Layout{half, self.strides()}, Layout{half, self.strides()}};
  out.Add(self.dtype(), half, IteratorStrides(half, halves));
}

// --- Rows ---------------------------------------------------------------------------------------

// x sigmoid(x).
constexpr WorkFn kSilu = work::PerOutput<PerElement{.alu = 1, .special = 1}>;
// A lower and an upper limit.
constexpr WorkFn kTwoLimits = work::PerOutput<PerElement{.alu = 2}>;
// min(max(x + 3, 0), 6) / 6, and that times x.
constexpr WorkFn kHardSigmoid = work::PerOutput<PerElement{.alu = 4}>;
constexpr WorkFn kHardSwish = work::PerOutput<PerElement{.alu = 5}>;
// x > 0 ? x : s x.
constexpr WorkFn kLeakyRelu = work::PerOutput<PerElement{.alu = 1, .compare = 1}>;
// x > 0 ? s x : s a (exp(x) - 1).
constexpr WorkFn kElu = work::PerOutput<PerElement{.alu = 2, .special = 1, .compare = 1}>;

constexpr std::array kRows{
    Special("aten::tanh", "The hyperbolic tangent.", "aten::tanh(f32[2,8])", gradients::kTanh),
    Special("aten::sigmoid", "One over one plus the exponential of -x.", "aten::sigmoid(i64[2,8])",
            gradients::kSigmoid),
    InPlace("aten::tanh_", "The hyperbolic tangent, in place.", "(Tensor(a!) self) -> Tensor(a!)",
            "aten::tanh_(f32[2,8])", gradients::kTanh, work::PerOutput<PerElement{.special = 1}>),
    InPlace("aten::sigmoid_", "One over one plus the exponential of -x, in place.",
            "(Tensor(a!) self) -> Tensor(a!)", "aten::sigmoid_(f32[2,8])", gradients::kSigmoid,
            work::PerOutput<PerElement{.special = 1}>),
    Call("aten::relu", "Limits to zero from below.", "(Tensor self) -> Tensor",
         "aten::relu(f32[2,8])", Relu, gradients::kRelu),
    Call("aten::relu_", "Limits to zero from below, in place.", "(Tensor(a!) self) -> Tensor(a!)",
         "aten::relu_(f32[2,8])", ReluInPlace, gradients::kRelu),
    Call("aten::relu6", "Limits to [0, 6].", "(Tensor self) -> Tensor", "aten::relu6(f32[2,8])",
         Relu6),
    Call("aten::relu6_", "Limits to [0, 6] in place.", "(Tensor(a!) self) -> Tensor(a!)",
         "aten::relu6_(f32[2,8])", Relu6InPlace),
    Kernel(Family::kElementwise,
           {"aten::hardtanh", "Limits to [`min_val`, `max_val`].",
            "(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
            "aten::hardtanh(f32[2,8])"},
           {shape::Like<0>, Fusion::kElementwise, allocations::Via<"aten::empty_strided">,
            kTwoLimits, gradients::kHardtanh, precision::kFollow}),
    InPlace("aten::hardtanh_", "Limits to [`min_val`, `max_val`] in place.",
            "(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)",
            "aten::hardtanh_(f32[2,8], 0, 6)", gradients::kHardtanh, kTwoLimits),
    Fresh("aten::gelu", "x times the normal distribution function of x.",
          "(Tensor self, *, str approximate=\"none\") -> Tensor",
          "aten::gelu(f32[2,8], approximate='tanh')", gradients::kGelu, GeluWork),
    InPlace("aten::gelu_", "x times the normal distribution function of x, in place.",
            "(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)", "aten::gelu_(f32[2,8])",
            gradients::kGelu, GeluWork),
    Fresh("aten::silu", "x times the sigmoid of x.", "(Tensor self) -> Tensor",
          "aten::silu(f32[8,2]{1,8})", gradients::kSilu, kSilu),
    InPlace("aten::silu_", "x times the sigmoid of x, in place.", "(Tensor(a!) self) -> Tensor(a!)",
            "aten::silu_(f32[2,8])", gradients::kSilu, kSilu),
    Fresh("aten::hardsigmoid", "A sigmoid made of three lines.", "(Tensor self) -> Tensor",
          "aten::hardsigmoid(f32[2,8])", gradients::kHardsigmoid, kHardSigmoid),
    InPlace("aten::hardsigmoid_", "A sigmoid made of three lines, in place.",
            "(Tensor(a!) self) -> Tensor(a!)", "aten::hardsigmoid_(f32[2,8])",
            gradients::kHardsigmoid, kHardSigmoid),
    Fresh("aten::hardswish", "x times a sigmoid made of three lines.", "(Tensor self) -> Tensor",
          "aten::hardswish(f32[2,8])", gradients::kHardswish, kHardSwish,
          allocations::IterateByFactory<Promotion::kCommon, 0>),
    InPlace("aten::hardswish_", "x times a sigmoid made of three lines, in place.",
            "(Tensor(a!) self) -> Tensor(a!)", "aten::hardswish_(f32[2,8])", gradients::kHardswish,
            kHardSwish),
    Fresh("aten::leaky_relu", "x, or `negative_slope` times x below zero.",
          "(Tensor self, Scalar negative_slope=0.01) -> Tensor", "aten::leaky_relu(f32[2,8], 0.1)",
          gradients::kLeakyRelu, kLeakyRelu),
    InPlace("aten::leaky_relu_", "x, or `negative_slope` times x below zero, in place.",
            "(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)",
            "aten::leaky_relu_(f32[2,8])", gradients::kLeakyReluInPlace, kLeakyRelu),
    Fresh("aten::elu", "x, or an exponential that goes to -`alpha` below zero.",
          "(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
          "aten::elu(f32[2,8])", gradients::kElu, kElu),
    InPlace("aten::elu_", "x, or an exponential that goes to -`alpha` below zero, in place.",
            "(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)",
            "aten::elu_(f32[2,8])", gradients::kEluInPlace, kElu),
    Call("aten::celu", "elu with a smooth derivative.", "(Tensor self, Scalar alpha=1.) -> Tensor",
         "aten::celu(f32[2,8])", Celu, gradients::kCelu),
    Call("aten::selu", "elu that keeps mean and variance.", "(Tensor self) -> Tensor",
         "aten::selu(f32[2,8])", Selu),
    Fresh("aten::mish", "x times the hyperbolic tangent of its softplus.",
          "(Tensor self) -> Tensor", "aten::mish(f32[2,8])", gradients::kMish,
          work::PerOutput<PerElement{.alu = 1, .special = 3}>),
    Casting(precision::kFullOnCuda,
            Fresh("aten::softplus", "The logarithm of one plus the exponential.",
                  "(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
                  "aten::softplus(f32[2,8])", gradients::kSoftplus,
                  work::PerOutput<PerElement{.alu = 2, .special = 2, .compare = 1}>)),
    Kernel(Family::kElementwise,
           {"aten::log_sigmoid_forward",
            "The logarithm of the sigmoid, and a buffer for its gradient.",
            "(Tensor self) -> (Tensor output, Tensor buffer)",
            "aten::log_sigmoid_forward(f32[8,2]{1,8})"},
           {LogSigmoidShape, Fusion::kElementwise, LogSigmoidAllocations,
            work::PerOutput<PerElement{.alu = 2, .special = 2, .compare = 1}>,
            gradients::kLogSigmoid, precision::kFollow}),
    Call("aten::log_sigmoid", "The logarithm of the sigmoid.", "(Tensor self) -> Tensor",
         "aten::log_sigmoid(f32[2,8])", LogSigmoid),
    Kernel(Family::kElementwise,
           {"aten::glu", "The first half of a dimension times the sigmoid of the second.",
            "(Tensor self, int dim=-1) -> Tensor", "aten::glu(f32[2,8])"},
           {GluShape, Fusion::kInjective, allocations::OutputsOnly, kSilu, gradients::kGlu,
            precision::kFollow}),
};

}  // namespace

std::span<const OpDef> Activation() { return kRows; }

}  // namespace steelyard::ops
