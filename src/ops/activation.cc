// SPDX-License-Identifier: Apache-2.0
//
// Activation functions. Their work follows the formula, a division or a limit counted as one
// operation each (ATen/native/cpu/Activation.cpp); special functions apart.

#include "ops/gradients/activation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/layout.h"
#include "ops/backward.h"
#include "ops/cuda/copies.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/activation_backward.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using pointwise::Call;
using pointwise::FloatingUnary;
using pointwise::kCompare;
using pointwise::kSpecial;
using pointwise::MathFunction;
using pointwise::RealFunctionInPlace;
using work::PerElement;

// --- Makers -------------------------------------------------------------------------------------

void RequireFloatOrComplex(const TensorView& self) {
  if (!IsFloating(self.dtype()) && !IsComplex(self.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  }
}

void FreshShape(const OpView& op, Outputs& out) {
  RequireFloatOrComplex(op.self());
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}
void InPlaceShape(const OpView& op, Outputs& out) {
  RequireFloatOrComplex(op.self());
  shape::RequireWritable(op.self());
  shape::SameAs<0>(op, out);
}

constexpr OpDef Fresh(const Words& words, Gradient grad, WorkFn work,
                      AllocationsFn allocations = allocations::OutputsOnly) {
  return Kernel(Family::kElementwise, words,
                {FreshShape, Fusion::kElementwise, allocations, work, grad, precision::kFollow});
}

constexpr OpDef InPlace(const Words& words, Gradient grad, WorkFn work) {
  return Kernel(
      Family::kElementwise, words,
      {InPlaceShape, Fusion::kElementwise, allocations::None, work, grad, precision::kFollow},
      Alias::kInPlace);
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
template <Label kElu>
std::vector<Tensor> Celu(Dispatcher& d, const OpView& op) {
  const double alpha = op.real(1, 1.0);
  return {d.Call(kOpNamed<kElu>, d.tensor(op, 0), alpha, 1.0, 1.0 / alpha)};
}
// The numbers that keep mean 0 and variance 1 (Klambauer et al., 2017).
template <Label kElu>
std::vector<Tensor> Selu(Dispatcher& d, const OpView& op) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  return {d.Call(kOpNamed<kElu>, d.tensor(op, 0), kAlpha, kScale, 1.0)};
}

// --- rrelu --------------------------------------------------------------------------------------
// ATen/native/Activation.cpp. The slope below zero is drawn while it trains, and in the noise; else
// it is the mean of both limits.

constexpr double kLowest = 0.125, kHighest = 1.0 / 3;

// self, noise, lower, upper, training
void RandomSlopeShape(const OpView& op, Outputs& out) {
  RequireFloatOrComplex(op.self());
  if (op.tensor(1).dtype() != op.self().dtype()) {
    Refuse("noise is of the tensor's dtype, not " + shape::Text(op.tensor(1)));
  }
  // The kernel writes a slope for each element, wherever the noise ends.
  if (op.boolean(4))
    shape::RequireEqual("elements of the noise", op.tensor(1).count(), op.self().count());
  if (*op.def().alias == Alias::kInPlace) {
    shape::RequireWritable(op.self());
    return shape::SameAs<0>(op, out);
  }
  out.Add(op.self().dtype(), op.self().sizes());
}
// The mean of the limits, as tensors: both, their sum, half of it.
void MeanSlopeAllocations(Allocations& memory) {
  const std::int64_t number = allocations::Bytes(1, DType::kFloat64);
  const auto lower = memory.Allocate(number);
  const auto upper = memory.Allocate(number);
  const auto sum = memory.Allocate(number, "aten::add");
  const auto two = memory.Allocate(number, "aten::div");
  const auto cast = memory.Allocate(number, "aten::empty_strided");
  const auto mean = memory.Allocate(number, "aten::div");
  memory.Free(cast, "aten::div");
  memory.Free(two, "aten::div");
  for (const auto scratch : {sum, mean, upper, lower}) memory.Free(scratch);
}
void RandomSlopeAllocations(const OpView& op, Allocations& memory) {
  const bool fresh = *op.def().alias != Alias::kInPlace;
  if (fresh) memory.Output(0, "aten::empty");
  if (!op.boolean(4)) return MeanSlopeAllocations(memory);
  const auto self = allocations::Contiguous(op.self(), memory);
  const auto out = fresh ? std::nullopt : allocations::Contiguous(op.self(), memory);
  for (const auto& scratch : {out, self}) allocations::Free(scratch, memory);
}
// RreluWithNoise.cu: slopes are drawn into dense tensors, a mean slope is a number of the host.
void RandomSlopeOnCuda(const OpView& op, Allocations& memory) {
  const bool fresh = *op.def().alias != Alias::kInPlace;
  if (fresh) memory.Output(0);
  if (!op.boolean(4) || op.self().count() == 0) return;
  const auto self = cuda::Contiguous(op.self(), memory);
  const auto noise = cuda::Contiguous(op.tensor(1), memory);
  const auto out = fresh ? std::nullopt : cuda::Contiguous(op.self(), memory);
  for (const auto& scratch : {out, noise, self}) allocations::Free(scratch, memory);
}
constexpr WorkFn kRandomSlope = work::PerOutput<PerElement{.alu = 1, .compare = 1}>;

// grad_output, self or result, noise, lower, upper, training, is_result: a product with the noise
// where it was drawn.
std::vector<Tensor> RandomSlopeBackward(Dispatcher& d, const OpView& op) {
  if (op.boolean(5)) return {d.Call("aten::mul.Tensor", op.arg(2), op.arg(0))};
  return {d.Call("aten::leaky_relu_backward", op.arg(0), op.arg(1), (op.real(3) + op.real(4)) / 2,
                 op.boolean(6))};
}
template <int kOf, bool kIsResult>
Tensor RandomSlopeSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::rrelu_with_noise_backward", b.grad(), b.saved(kOf), b.saved(1),
                op.real(2, kLowest), op.real(3, kHighest), op.boolean(4), kIsResult);
}
constexpr Gradient kRandomSlopeGradient{"RreluWithNoiseBackward0",
                                        {GradientOf(0, {0, 1}, RandomSlopeSelf<0, false>)}};
constexpr Gradient kRandomSlopeOfResult{
    "RreluWithNoiseBackward1", {GradientOf(0, {1, kResult}, RandomSlopeSelf<kResult, true>)}};

// self, lower, upper, training
template <Label kTarget>
std::vector<Tensor> WithNoise(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  const Tensor noise = d.Call("aten::empty.memory_format", Dims(self.sizes()), self.dtype());
  return {d.Call(kOpNamed<kTarget>, self, noise, op.real(1, kLowest), op.real(2, kHighest),
                 op.boolean(3))};
}

// --- threshold and prelu ------------------------------------------------------------------------

void ThresholdShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype()) || op.self().dtype() == DType::kBool) {
    Refuse("it is not defined for " + shape::Text(op.self()));
  }
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}

void PreluShape(const OpView& op, Outputs& out) {
  pointwise::RequireFloating(op);
  if (op.tensor(1).dtype() != op.self().dtype()) Refuse("the weight must be of the same dtype");
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  if (!std::ranges::equal(std::span<const std::int64_t>(sizes), op.self().sizes())) {
    Refuse("the weight is larger than the tensor");
  }
  shape::Like<0>(op, out);
}

// Of the weight in its broadcast shape.
void PreluBackwardShape(const OpView& op, Outputs& out) {
  const TensorView grad = op.self(), self = op.tensor(1), weight = op.tensor(2);
  if (self.dtype() != weight.dtype() || grad.dtype() != self.dtype()) {
    Refuse("gradient, operand and weight must be of the same dtype");
  }
  shape::Iterate<Promotion::kCommon, 1, 2, 0>(op, out);
  shape::Iterate<Promotion::kCommon, 1, 2, 0>(op, out);
}

// The weight belongs to dimension 1.
std::vector<Tensor> Prelu(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self(), weight = op.tensor(1);
  if (weight.dtype() != self.dtype()) Refuse("the weight must be of the same dtype");
  if (weight.rank() > 1) Refuse("the weight has one dimension, not " + shape::Text(weight));
  if (weight.count() != 1) {
    if (self.rank() == 0) Refuse("a 0-dim tensor has no channels");
    shape::RequireEqual("channels and weights", self.rank() > 1 ? self.size(1) : 1, weight.count());
  }
  if (self.rank() == weight.rank()) {
    return {d.Call("aten::_prelu_kernel", d.tensor(op, 0), d.tensor(op, 1))};
  }
  Dims sizes = Dims::Filled(self.rank(), 1);
  if (self.rank() > 1) sizes[1] = weight.count();
  const Tensor spread = d.Call("aten::reshape", d.tensor(op, 1), sizes);
  return {d.Call("aten::_prelu_kernel", d.tensor(op, 0), spread)};
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
  RequireFloatOrComplex(op.self());
  if (op.target().device == Device::kCuda) {  // which keeps nothing for the gradient
    shape::Like(op.self(), op.self().dtype(), out);
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
  RequireFloatOrComplex(self);
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
    MathFunction({"aten::tanh", "The hyperbolic tangent.", "(Tensor self) -> Tensor",
                  "aten::tanh(f32[2,8])"},
                 gradients::kTanh),
    MathFunction({"aten::sigmoid", "One over one plus the exponential of -x.",
                  "(Tensor self) -> Tensor", "aten::sigmoid(i64[2,8])"},
                 gradients::kSigmoid),
    InPlace({"aten::tanh_", "The hyperbolic tangent, in place.", "(Tensor(a!) self) -> Tensor(a!)",
             "aten::tanh_(f32[2,8])"},
            gradients::kTanh, kSpecial),
    InPlace({"aten::sigmoid_", "One over one plus the exponential of -x, in place.",
             "(Tensor(a!) self) -> Tensor(a!)", "aten::sigmoid_(f32[2,8])"},
            gradients::kSigmoid, kSpecial),
    CopyingOut(Call({"aten::relu", "Limits to zero from below.", "(Tensor self) -> Tensor",
                     "aten::relu(f32[2,8])"},
                    Relu, gradients::kRelu)),
    Call({"aten::relu_", "Limits to zero from below, in place.", "(Tensor(a!) self) -> Tensor(a!)",
          "aten::relu_(f32[2,8])"},
         ReluInPlace, gradients::kRelu),
    Call({"aten::relu6", "Limits to [0, 6].", "(Tensor self) -> Tensor", "aten::relu6(f32[2,8])"},
         Relu6),
    Call({"aten::relu6_", "Limits to [0, 6] in place.", "(Tensor(a!) self) -> Tensor(a!)",
          "aten::relu6_(f32[2,8])"},
         Relu6InPlace),
    Kernel(Family::kElementwise,
           {"aten::hardtanh", "Limits to [`min_val`, `max_val`].",
            "(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
            "aten::hardtanh(f32[2,8])"},
           {shape::Like<0>, Fusion::kElementwise, allocations::Via<"aten::empty_strided">,
            kTwoLimits, gradients::kHardtanh, precision::kFollow}),
    InPlace({"aten::hardtanh_", "Limits to [`min_val`, `max_val`] in place.",
             "(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)",
             "aten::hardtanh_(f32[2,8], 0, 6)"},
            gradients::kHardtanh, kTwoLimits),
    FloatingUnary({"aten::hardshrink", "Zero near zero.",
                   "(Tensor self, Scalar lambd=0.5) -> Tensor", "aten::hardshrink(f32[2,8])"},
                  gradients::kHardshrink, kCompare),
    FloatingUnary({"aten::softshrink", "Towards zero by `lambd`.",
                   "(Tensor self, Scalar lambd=0.5) -> Tensor", "aten::softshrink(f32[2,8])"},
                  gradients::kSoftshrink, kCompare),
    Kernel(Family::kElementwise,
           {"aten::threshold", "A number for whatever is not above a threshold.",
            "(Tensor self, Scalar threshold, Scalar value) -> Tensor",
            "aten::threshold(f32[2,8], 0.1, 2.0)"},
           {.shape = ThresholdShape,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::OutputsOnly,
            .work = kCompare,
            .grad = gradients::kThreshold,
            .precision = precision::kFollow}),
    Kernel(Family::kElementwise,
           {"aten::threshold_", "A number for whatever is not above a threshold, in place.",
            "(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)",
            "aten::threshold_(f32[2,8], 0.1, 2.0)"},
           {.shape = shape::SameAs<0>,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::None,
            .work = kCompare,
            .grad = gradients::kThresholdInPlace,
            .precision = precision::kFollow},
           Alias::kInPlace),
    Fresh({"aten::gelu", "x times the normal distribution function of x.",
           "(Tensor self, *, str approximate=\"none\") -> Tensor",
           "aten::gelu(f32[2,8], approximate='tanh')"},
          gradients::kGelu, GeluWork),
    InPlace(
        {"aten::gelu_", "x times the normal distribution function of x, in place.",
         "(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)", "aten::gelu_(f32[2,8])"},
        gradients::kGelu, GeluWork),
    Fresh({"aten::silu", "x times the sigmoid of x.", "(Tensor self) -> Tensor",
           "aten::silu(f32[8,2]{1,8})"},
          gradients::kSilu, kSilu),
    InPlace({"aten::silu_", "x times the sigmoid of x, in place.",
             "(Tensor(a!) self) -> Tensor(a!)", "aten::silu_(f32[2,8])"},
            gradients::kSilu, kSilu),
    Fresh({"aten::hardsigmoid", "A sigmoid made of three lines.", "(Tensor self) -> Tensor",
           "aten::hardsigmoid(f32[2,8])"},
          gradients::kHardsigmoid, kHardSigmoid),
    InPlace({"aten::hardsigmoid_", "A sigmoid made of three lines, in place.",
             "(Tensor(a!) self) -> Tensor(a!)", "aten::hardsigmoid_(f32[2,8])"},
            gradients::kHardsigmoid, kHardSigmoid),
    Fresh({"aten::hardswish", "x times a sigmoid made of three lines.", "(Tensor self) -> Tensor",
           "aten::hardswish(f32[2,8])"},
          gradients::kHardswish, kHardSwish, allocations::IterateByFactory<Promotion::kCommon, 0>),
    InPlace({"aten::hardswish_", "x times a sigmoid made of three lines, in place.",
             "(Tensor(a!) self) -> Tensor(a!)", "aten::hardswish_(f32[2,8])"},
            gradients::kHardswish, kHardSwish),
    Fresh(
        {"aten::leaky_relu", "x, or `negative_slope` times x below zero.",
         "(Tensor self, Scalar negative_slope=0.01) -> Tensor", "aten::leaky_relu(f32[2,8], 0.1)"},
        gradients::kLeakyRelu, kLeakyRelu),
    InPlace({"aten::leaky_relu_", "x, or `negative_slope` times x below zero, in place.",
             "(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)",
             "aten::leaky_relu_(f32[2,8])"},
            gradients::kLeakyReluInPlace, kLeakyRelu),
    Casting(precision::kLow,
            Call({"aten::prelu", "x, or a channel's weight times x below zero.",
                  "(Tensor self, Tensor weight) -> Tensor", "aten::prelu(f32[2,3,8], f32[3])"},
                 Prelu)),
    Kernel(
        Family::kElementwise,
        {"aten::_prelu_kernel", "x, or the weight times x below zero.",
         "(Tensor self, Tensor weight) -> Tensor", "aten::_prelu_kernel(f32[2,3,8], f32[1,3,1])"},
        {.shape = PreluShape,
         .fusion = Fusion::kBroadcast,
         .allocations = allocations::Via<"aten::empty_strided">,
         .work = work::PerOutput<PerElement{.alu = 1, .compare = 1}>,
         .grad = gradients::kPrelu,
         .precision = precision::kFollow}),
    Differentiable(gradients::kPreluBackward,
                   Kernel(Family::kElementwise,
                          {"aten::_prelu_kernel_backward", "The gradients of `_prelu_kernel`.",
                           "(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
                           "aten::_prelu_kernel_backward(f32[2,3,8], f32[2,3,8], f32[1,3,1])"},
                          {.shape = PreluBackwardShape,
                           .fusion = Fusion::kBroadcast,
                           .allocations = allocations::OutputsOnly,
                           .work = work::PerOutput<PerElement{.alu = 1, .compare = 1}>,
                           .grad = kGradientUnknown,
                           .precision = precision::kFollow})),
    Fresh({"aten::elu", "x, or an exponential that goes to -`alpha` below zero.",
           "(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
           "aten::elu(f32[2,8])"},
          gradients::kElu, kElu),
    InPlace(
        {"aten::elu_", "x, or an exponential that goes to -`alpha` below zero, in place.",
         "(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)",
         "aten::elu_(f32[2,8])"},
        gradients::kEluInPlace, kElu),
    CopyingOut(Call({"aten::celu", "elu with a smooth derivative.",
                     "(Tensor self, Scalar alpha=1.) -> Tensor", "aten::celu(f32[2,8])"},
                    Celu<"aten::elu">, gradients::kCelu)),
    Call({"aten::celu_", "elu with a smooth derivative, in place.",
          "(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)", "aten::celu_(f32[2,8])"},
         Celu<"aten::elu_">, gradients::kCeluInPlace),
    Call({"aten::selu", "elu that keeps mean and variance.", "(Tensor self) -> Tensor",
          "aten::selu(f32[2,8])"},
         Selu<"aten::elu">),
    Call({"aten::selu_", "elu that keeps mean and variance, in place.",
          "(Tensor(a!) self) -> Tensor(a!)", "aten::selu_(f32[2,8])"},
         Selu<"aten::elu_">),
    Call(
        {"aten::rrelu", "x, or a random slope times x below zero.",
         "(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, "
         "Generator? generator=None) -> Tensor",
         "aten::rrelu(f32[2,8], 0.1, 0.3, True)"},
        WithNoise<"aten::rrelu_with_noise">),
    Call({"aten::rrelu_", "x, or a random slope times x below zero, in place.",
          "(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
          "training=False, Generator? generator=None) -> Tensor(a!)",
          "aten::rrelu_(f32[2,8], 0.1, 0.3, True)"},
         WithNoise<"aten::rrelu_with_noise_">),
    Kernel(Family::kElementwise,
           {"aten::rrelu_with_noise", "x, or a random slope times x below zero, and the slopes.",
            "(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, "
            "bool training=False, Generator? generator=None) -> Tensor",
            "aten::rrelu_with_noise(f32[2,8], f32[2,8], 0.1, 0.3, True)"},
           {RandomSlopeShape, Fusion::kElementwise,
            DeviceAllocations{RandomSlopeAllocations, RandomSlopeOnCuda}, kRandomSlope,
            kRandomSlopeGradient, precision::kFollow}),
    Kernel(
        Family::kElementwise,
        {"aten::rrelu_with_noise_",
         "x, or a random slope times x below zero, in place, and the slopes.",
         "(Tensor(a!) self, Tensor(b!) noise, Scalar lower=0.125, Scalar "
         "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)",
         "aten::rrelu_with_noise_(f32[2,8], f32[2,8], 0.1, 0.3, True)"},
        {RandomSlopeShape, Fusion::kElementwise,
         DeviceAllocations{RandomSlopeAllocations, RandomSlopeOnCuda}, kRandomSlope,
         kRandomSlopeOfResult, precision::kFollow},
        Alias::kInPlace),
    CopyingOut(Call(
        {"aten::rrelu_with_noise_backward", "The gradient of rrelu.",
         "(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool "
         "training, bool self_is_result) -> Tensor",
         "aten::rrelu_with_noise_backward(f32[2,8], f32[2,8], f32[2,8], 0.1, 0.3, True, False)"},
        RandomSlopeBackward, gradients::kRreluBackward)),
    Fresh({"aten::mish", "x times the hyperbolic tangent of its softplus.",
           "(Tensor self) -> Tensor", "aten::mish(f32[2,8])"},
          gradients::kMish, work::PerOutput<PerElement{.alu = 1, .special = 3}>),
    RealFunctionInPlace({"aten::mish_", "x tanh(softplus(x)), in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::mish_(f32[2,8])"},
                        gradients::kMish),
    Casting(precision::kFullOnCuda,
            Fresh({"aten::softplus", "The logarithm of one plus the exponential.",
                   "(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
                   "aten::softplus(f32[2,8])"},
                  gradients::kSoftplus,
                  work::PerOutput<PerElement{.alu = 2, .special = 2, .compare = 1}>)),
    Kernel(Family::kElementwise,
           {"aten::log_sigmoid_forward",
            "The logarithm of the sigmoid, and a buffer for its gradient.",
            "(Tensor self) -> (Tensor output, Tensor buffer)",
            "aten::log_sigmoid_forward(f32[8,2]{1,8})"},
           {LogSigmoidShape, Fusion::kElementwise, LogSigmoidAllocations,
            work::PerOutput<PerElement{.alu = 2, .special = 2, .compare = 1}>,
            gradients::kLogSigmoid, precision::kFollow}),
    Call({"aten::log_sigmoid", "The logarithm of the sigmoid.", "(Tensor self) -> Tensor",
          "aten::log_sigmoid(f32[2,8])"},
         LogSigmoid),
    Kernel(Family::kElementwise,
           {"aten::glu", "The first half of a dimension times the sigmoid of the second.",
            "(Tensor self, int dim=-1) -> Tensor", "aten::glu(f32[2,8])"},
           {GluShape, Fusion::kInjective, allocations::OutputsOnly, kSilu, gradients::kGlu,
            precision::kFollow}),
};

}  // namespace

std::span<const OpDef> Activation() { return kRows; }

}  // namespace steelyard::ops
