// SPDX-License-Identifier: Apache-2.0
//
// What gradient formulas say again and again (torch/csrc/autograd/FunctionsManual.cpp). Formulas
// are written as ATen's C++ is, because lifetimes decide bytes: what is a temporary there is one
// here, and where the compiler evaluates the right operand first, so does the formula.
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"
#include "ops/rules/label.h"
#include "ops/rules/shape.h"

namespace steelyard::gradients {

// The dtype of an operand. A number that was boxed for the call has no gradient of its own.
DType SelfType(const Backward& b);
DType OtherType(const Backward& b);

// a * b.
Tensor Times(Dispatcher& d, const Tensor& a, const Tensor& b);
// 1 - t, written into a tensor like t.
Tensor OneMinus(Dispatcher& d, const Tensor& t);
// A complex number as an argument.
Argument ComplexNumber(Dispatcher& d, std::complex<double> number);
// The operator's argument i, a number: its conjugate.
Argument Factor(Dispatcher& d, const Backward& b, int i);
std::complex<double> ComplexOf(const OpView& op, int i);
// t * number, or t itself where the number is 1 (maybe_multiply).
Tensor MaybeMultiply(Dispatcher& d, const Tensor& t, const Argument& number);
// Real operands have real gradients (handle_r_to_c).
Tensor AsReal(Dispatcher& d, DType of, Tensor gradient);
// The complex conjugate, as a view; a real tensor itself.
Tensor Conjugate(Dispatcher& d, const Tensor& t);
// Zeros of the tensor's size, dense in the order of its dimensions.
Tensor RowMajorZeros(Dispatcher& d, const Tensor& like);
// Sums `gradient` to these sizes, from which it was broadcast (sum_to).
Tensor SumTo(Dispatcher& d, const Tensor& gradient, std::span<const std::int64_t> sizes);
// Gives reduced dimensions back as ones (unsqueeze_multiple), and spreads over them.
Tensor Unreduce(Dispatcher& d, const Tensor& gradient, const OpView& op, int dims, bool kept);

// --- Whole formulas ------------------------------------------------------------------------------

// The gradient itself.
Tensor Same(Dispatcher& d, const Backward& b);
Tensor Negated(Dispatcher& d, const Backward& b);
// Zero everywhere: `grad * 0` is not computed, a fresh tensor is.
Tensor Zeros(Dispatcher& d, const Backward& b);
// The same of an argument whose sizes need not be the gradient's.
template <int kArgument>
Tensor ZerosOfArgument(Dispatcher& d, const Backward& b) {
  const TensorView of = b.op().tensor(kArgument);
  return d.Call("aten::zeros", Dims(of.sizes()), of.dtype());
}
// The gradient in the shape of the first argument.
Tensor Reshaped(Dispatcher& d, const Backward& b);
// None arrives.
Tensor Nothing(Dispatcher& d, const Backward& b);
// Of operators that PyTorch takes in a forward pass and refuses to differentiate.
Tensor NotImplemented(Dispatcher& d, const Backward& b);

// A backward kernel of the incoming gradient and the saved first argument, or result 0.
template <Label kKernel>
Tensor OfSelf(Dispatcher& d, const Backward& b) {
  return d.Call(kOpNamed<kKernel>, b.grad(), b.saved(0));
}
template <Label kKernel>
Tensor OfResult(Dispatcher& d, const Backward& b) {
  return d.Call(kOpNamed<kKernel>, b.grad(), b.result());
}

inline constexpr Gradient kNotImplemented{"NotImplemented", {GradientOf(0, {}, NotImplemented)}};

}  // namespace steelyard::gradients
