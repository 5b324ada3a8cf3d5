// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp. Of the gradient that a kernel was given it
// is the same kernel again; of what that had saved, the second derivative.

#include "ops/gradients/activation_backward.h"

#include <cmath>
#include <numbers>

#include "ops/gradients/expression.h"

namespace steelyard::gradients {
namespace {

// at::zeros({}), of a tensor's dtype.
Expression Zero(DType dtype) { return Function("aten::zeros", Dims(), dtype); }

}  // namespace

// --- prelu(grad_output, self, weight), which gives two gradients --------------------------------

Tensor PreluGradOutput(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(1), weight = b.saved(2);
  if (!b.grad(0).defined()) {
    const DType dtype = b.op().self().dtype();
    return Function("aten::where.self", self >= 0, Zero(dtype), b.grad(1) * self).Value(d);
  }
  const Expression below =
      b.grad(1).defined() ? b.grad(0) * weight + b.grad(1) * self : Expression(b.grad(0) * weight);
  return Function("aten::where.self", self >= 0, b.grad(0), below).Value(d);
}

Tensor PreluBackwardSelf(Dispatcher& d, const Backward& b) {
  if (!b.grad(1).defined()) return ZerosOfArgument<1>(d, b);
  const Tensor self = b.saved(1);
  return Function("aten::where.self", self >= 0, Zero(self.dtype()), b.saved(0) * b.grad(1))
      .Value(d);
}

Tensor PreluBackwardWeight(Dispatcher& d, const Backward& b) {
  if (!b.grad(0).defined()) return ZerosOfArgument<1>(d, b);
  const DType dtype = b.op().tensor(2).dtype();
  return Function("aten::where.self", b.saved(1) >= 0, Zero(dtype), b.saved(0) * b.grad(0))
      .Value(d);
}

// --- One kernel again ----------------------------------------------------------------------------

// grad_output, self, noise, lower, upper, training, self_is_result
Tensor RreluGradOutput(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::rrelu_with_noise_backward", b.grad(), b.saved(1), b.saved(2), op.arg(3),
                op.arg(4), op.arg(5), false);
}

Tensor ThresholdGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::threshold_backward", b.grad(), b.saved(1), b.op().arg(2));
}

Tensor HardtanhGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::hardtanh_backward", b.grad(), b.saved(1), b.op().arg(2), b.op().arg(3));
}

Tensor LeakyReluGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::leaky_relu_backward", b.grad(), b.saved(1), b.op().arg(2), false);
}

Tensor HardshrinkGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::hardshrink_backward", b.grad(), b.saved(1), b.op().arg(2));
}

Tensor SoftshrinkGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::softshrink_backward", b.grad(), b.saved(1), b.op().arg(2));
}

Tensor HardswishGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::hardswish_backward", b.grad(), b.saved(1));
}

// --- Second derivatives --------------------------------------------------------------------------

Tensor GeluGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::gelu_backward", b.grad(), b.saved(1), b.op().arg(2));
}

namespace {

Tensor GeluOfTanhTwice(Dispatcher& d, const Backward& b) {
  constexpr double kBeta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  constexpr double kKappa = 0.044715;
  const Tensor input = b.saved(1), grad_output = b.saved(0);
  const Tensor inner = (kBeta * (input + kKappa * Power(input, 3))).Value(d);
  const Tensor tanh = Method("aten::tanh", inner).Value(d);
  const Tensor sech = (1 / Method("aten::cosh", inner)).Value(d);
  const Tensor f = (0.5 * input).Value(d);
  const Tensor g = (1 - tanh * tanh).Value(d);
  const Tensor h = (kBeta * (1 + 3 * kKappa * input * input)).Value(d);
  const Tensor f_slope = (0.5 * g * h).Value(d);
  const Tensor g_slope = ((2 * sech) * (-sech * tanh) * h).Value(d);
  const Tensor of_g = (f * h * g_slope).Value(d);
  const Tensor h_slope = (6 * kKappa * input * kBeta).Value(d);
  const Tensor of_h = (f * g * h_slope).Value(d);
  return (b.grad() * grad_output * (2 * f_slope + of_g + of_h)).Value(d);
}

}  // namespace

// grad_output, self, approximate
Tensor GeluTwice(Dispatcher& d, const Backward& b) {
  if (b.op().text(2) == "tanh") return GeluOfTanhTwice(d, b);
  constexpr double kBeta = std::numbers::inv_sqrtpi * (std::numbers::sqrt2 / 2);
  const Tensor input = b.saved(1);
  const Tensor square = (input * input).Value(d);
  const Tensor density = (kBeta * Function("aten::exp", -0.5 * square)).Value(d);
  const Tensor slope = (2 * density - square * density).Value(d);
  return (b.grad() * b.saved(0) * slope).Value(d);
}

// grad_output, output
Tensor TanhGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::tanh_backward", b.grad(), Conjugate(d, b.saved(1)));
}
Tensor TanhOutput(Dispatcher& d, const Backward& b) {
  return (Method("aten::conj", b.grad()) * (-2 * Method("aten::conj", b.saved(1)) * b.saved(0)))
      .Value(d);
}

Tensor SigmoidGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::sigmoid_backward", b.grad(), Conjugate(d, b.saved(1)));
}
Tensor SigmoidOutput(Dispatcher& d, const Backward& b) {
  return (Method("aten::conj", b.grad()) * b.saved(0) * (-2 * Method("aten::conj", b.saved(1)) + 1))
      .Value(d);
}

// grad_output, alpha, scale, input_scale, is_result, self_or_result
Tensor EluGradOutput(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::elu_backward", b.grad(), op.arg(1), op.arg(2), op.arg(3), op.arg(4),
                b.saved(5));
}
Tensor EluTwice(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor self = b.saved(5);
  const Expression gradient = b.grad() * b.saved(0) * op.arg(3);
  const Expression below = TypedAs(self < 0, b.grad());
  if (op.boolean(4)) return (gradient * below).Value(d);
  return (Function("aten::elu_backward", gradient, op.arg(1), op.arg(2), op.arg(3), op.arg(4),
                   self) *
          below)
      .Value(d);
}

// -3 and 3 are where the slope is constant.
Tensor HardswishTwice(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(1);
  const Expression inside = Function("aten::logical_and", Method("aten::gt.Scalar", self, -3.0),
                                     Method("aten::lt.Scalar", self, 3.0));
  return Function("aten::where.self", inside, b.grad() * b.saved(0) / 3.0, Zero(self.dtype()))
      .Value(d);
}

// grad_output, self, dim
Tensor GluGradOutput(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(1);
  const int dim = b.op().dim(2, self.rank());
  Dims half(self.sizes());
  half[dim] /= 2;
  const Tensor both = (b.grad() * Function("aten::glu_backward",
                                           Function("aten::ones", half, self.dtype()), self, dim))
                          .Value(d);
  return (Method("aten::narrow", both, dim, 0, half[dim]) +
          Method("aten::narrow", both, dim, half[dim], half[dim]))
      .Value(d);
}
Tensor GluTwice(Dispatcher& d, const Backward& b) {
  const Tensor self = b.saved(1), grad_output = b.saved(0);
  const int dim = b.op().dim(2, self.rank());
  const std::int64_t half = self.size(dim) / 2;
  const auto part = [&](const Tensor& t, std::int64_t from) {
    return d.Call("aten::narrow", t, dim, from, half);
  };
  const Tensor first = part(self, 0), second = part(self, half);
  const Tensor gate = d.Call("aten::sigmoid", second);
  const Tensor closed = (1 - Expression(gate)).Value(d);
  const Tensor slope = (gate * closed).Value(d);
  const Tensor grad_first = part(b.grad(), 0), grad_second = part(b.grad(), half);
  const Tensor times_first = (grad_second * first).Value(d);
  std::vector<Tensor> halves{(grad_second * grad_output * slope).Value(d)};
  const Tensor bend = (slope * closed - gate * slope).Value(d);
  halves.push_back((times_first * grad_output * bend + grad_first * grad_output * slope).Value(d));
  Tensor whole = d.Call("aten::cat", halves, dim);
  while (!halves.empty()) halves.pop_back();
  return whole;
}

// grad_output, self, beta, threshold
Tensor SoftplusGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::softplus_backward", b.grad(), b.saved(1), b.op().arg(2), b.op().arg(3));
}
Tensor SoftplusTwice(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor gradient = Times(d, b.grad(), b.saved(0));
  const Tensor x = (Expression(b.saved(1)) * op.arg(2)).Value(d);
  return (Function("aten::sigmoid_backward", gradient, Sigmoid(x)) *
          TypedAs(Method("aten::lt.Scalar", x, op.arg(3)), gradient) * op.arg(2))
      .Value(d);
}

// grad_output, self, buffer
Tensor LogSigmoidGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::log_sigmoid_backward", b.grad(), b.saved(1), b.saved(2));
}
Tensor LogSigmoidTwice(Dispatcher& d, const Backward& b) {
  const Tensor gradient = Times(d, b.grad(), b.saved(0));
  const Tensor z = d.Call("aten::sigmoid", b.saved(1));
  return (gradient * (Expression(z) - 1) * z).Value(d);
}

// --- Softmax: grad_output, output, dim, input_dtype ----------------------------------------------

namespace {

Expression As(const Tensor& t, DType dtype) { return Method("aten::to.dtype", t, dtype); }

}  // namespace

Tensor SoftmaxGradOutput(Dispatcher& d, const Backward& b) {
  const Tensor output = b.saved(1);
  return Function("aten::_softmax_backward_data", As(b.grad(), output.dtype()), output,
                  b.op().arg(2), b.op().arg(3))
      .Value(d);
}
Tensor SoftmaxOutput(Dispatcher& d, const Backward& b) {
  const Tensor output = b.saved(1), grad_output = b.saved(0);
  const std::int64_t dim = b.op().integer(2);
  const Tensor grad = As(b.grad(), output.dtype()).Value(d);
  const Tensor twice = (grad_output * grad - SumOver(output * grad_output, dim) * grad -
                        grad_output * SumOver(output * grad, dim))
                           .Value(d);
  return d.Call("aten::to.dtype", twice, output.dtype());
}

Tensor LogSoftmaxGradOutput(Dispatcher& d, const Backward& b) {
  const Tensor output = b.saved(1);
  const DType dtype = output.dtype();
  return (As(b.grad(), dtype) -
          SumOver(As(b.grad(), dtype) * Method("aten::exp", output), b.op().integer(2)))
      .Value(d);
}
Tensor LogSoftmaxOutput(Dispatcher& d, const Backward& b) {
  const Tensor output = b.saved(1);
  const DType dtype = output.dtype();
  return Method("aten::to.dtype",
                -SumOver(b.saved(0), b.op().integer(2)) * Method("aten::exp", output) *
                    As(b.grad(), dtype),
                dtype)
      .Value(d);
}

}  // namespace steelyard::gradients
