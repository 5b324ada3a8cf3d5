// SPDX-License-Identifier: Apache-2.0
//
// Formulas of derivatives.yaml and FunctionsManual.cpp. A mean is a sum that is divided by the
// number of its terms.

#include "ops/gradients/loss_backward.h"

#include "ops/gradients/expression.h"

namespace steelyard::gradients {
namespace {

enum Reduction : std::uint8_t { kNone, kMean, kSum };

std::int64_t TermsOf(const TensorView& input) { return input.count(); }

// Divides in place what is a mean of that many terms.
void Average(Dispatcher& d, const Tensor& gradient, std::int64_t reduction,
             const TensorView& input) {
  if (reduction == kMean) DivideInto(gradient, TermsOf(input)).Value(d);
}

Tensor NegatedResult(Dispatcher& d, const Tensor& gradient) {
  return d.Call("aten::neg", gradient);
}

}  // namespace

// --- binary_cross_entropy_backward(grad_output, self, target, weight, reduction) -----------------

namespace {
constexpr double kLeast = 1e-12;  // what a probability is kept away from 0 by

void Weigh(Dispatcher& d, const Backward& b, const Tensor& gradient) {
  if (const Tensor weight = b.saved(3); weight.defined()) {
    d.Call("aten::mul_.Tensor", gradient, weight);
  }
}

// Out of place, unlike those of other losses.
Tensor Averaged(Dispatcher& d, const Backward& b, const Tensor& gradient) {
  if (b.op().integer(4) != kMean) return gradient;
  return (gradient / TermsOf(b.op().tensor(1))).Value(d);
}
}  // namespace

Tensor CrossEntropyGradOutput(Dispatcher& d, const Backward& b) {
  const Tensor input = b.saved(1), target = b.saved(2);
  const Tensor slope =
      ((input - target) / ((input + kLeast) * (1 - Expression(input) + kLeast))).Value(d);
  d.Call("aten::mul_.Tensor", slope, b.grad());
  Weigh(d, b, slope);
  return Averaged(d, b, slope);
}

Tensor CrossEntropyTwice(Dispatcher& d, const Backward& b) {
  const Tensor input = b.saved(1), target = b.saved(2);
  const Tensor shifted = (input + kLeast).Value(d);
  const Tensor complement = (1 - Expression(input) + kLeast).Value(d);
  const Tensor slope =
      ((input * input - 2 * input * target + target) / (Power(shifted, 2) * Power(complement, 2)))
          .Value(d);
  Method("aten::mul_.Tensor", slope, b.grad() * b.saved(0)).Value(d);
  Weigh(d, b, slope);
  return Averaged(d, b, slope);
}

Tensor CrossEntropyTargetTwice(Dispatcher& d, const Backward& b) {
  const Tensor input = b.saved(1);
  const Tensor out = (-Expression(b.grad()) * b.saved(0)).Value(d);
  Weigh(d, b, out);
  const Tensor complement = (1 - Expression(input)).Value(d);
  const Tensor variance = d.Call("aten::mul_.Tensor", complement, input);
  d.Call("aten::clamp_min_", variance, kLeast);
  d.Call("aten::div_.Tensor", out, variance);
  Average(d, out, b.op().integer(4), b.op().tensor(2));
  return out;
}

// --- mse_loss_backward(grad_output, self, target, reduction) -------------------------------------

namespace {
Tensor SquaredError(Dispatcher& d, const Backward& b, const Tensor& gradient,
                    const TensorView& of) {
  const Tensor out = (2 * Expression(gradient)).Value(d);
  Average(d, out, b.op().integer(3), of);
  return out;
}
}  // namespace

Tensor SquaredErrorGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::mse_loss_backward", b.grad(), b.saved(1), b.saved(2), b.op().arg(3));
}
Tensor SquaredErrorTwice(Dispatcher& d, const Backward& b) {
  return SquaredError(d, b, Times(d, b.grad(), b.saved(0)), b.op().tensor(1));
}
Tensor SquaredErrorTargetTwice(Dispatcher& d, const Backward& b) {
  const Tensor gradient = Times(d, b.grad(), b.saved(0));
  return NegatedResult(d, SquaredError(d, b, gradient, b.op().tensor(2)));
}

// --- smooth_l1_loss_backward, huber_loss_backward(grad_output, self, target, reduction, width) ---

namespace {
Tensor SmoothError(Dispatcher& d, const Backward& b, const Tensor& gradient) {
  const double beta = b.op().real(4);
  if (beta == 0) return d.Call("aten::zeros", Dims(gradient.sizes()), gradient.dtype());
  const Tensor distance = Method("aten::abs", b.saved(1) - b.saved(2)).Value(d);
  const Tensor out = (gradient * TypedAs(distance < beta, gradient) / beta).Value(d);
  Average(d, out, b.op().integer(3), b.op().tensor(1));
  return out;
}

Tensor Huber(Dispatcher& d, const Backward& b, const Tensor& gradient) {
  const Tensor distance = Method("aten::abs", b.saved(1) - b.saved(2)).Value(d);
  const Tensor out = (gradient * (distance < b.op().real(4))).Value(d);
  Average(d, out, b.op().integer(3), b.op().tensor(1));
  return out;
}
}  // namespace

Tensor SmoothErrorGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::smooth_l1_loss_backward", b.grad(), b.saved(1), b.saved(2), b.op().arg(3),
                b.op().arg(4));
}
Tensor SmoothErrorTwice(Dispatcher& d, const Backward& b) {
  return SmoothError(d, b, Times(d, b.grad(), b.saved(0)));
}
Tensor SmoothErrorTargetTwice(Dispatcher& d, const Backward& b) {
  const Tensor gradient = Times(d, b.grad(), b.saved(0));
  return NegatedResult(d, SmoothError(d, b, gradient));
}

Tensor HuberGradOutput(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  if (op.integer(3) == kNone) {
    return d.Call("aten::huber_loss_backward", b.grad(), b.saved(1), b.saved(2), op.arg(3),
                  op.arg(4));
  }
  const Tensor slope =
      Function("aten::huber_loss_backward", Function("aten::ones_like", b.saved(0)), b.saved(1),
               b.saved(2), op.arg(3), op.arg(4))
          .Value(d);
  return Method("aten::sum", slope * b.grad()).Value(d);
}
Tensor HuberTwice(Dispatcher& d, const Backward& b) {
  return Huber(d, b, Times(d, b.grad(), b.saved(0)));
}
Tensor HuberTargetTwice(Dispatcher& d, const Backward& b) {
  const Tensor gradient = Times(d, b.grad(), b.saved(0));
  return NegatedResult(d, Huber(d, b, gradient));
}

// --- soft_margin_loss_backward(grad_output, self, target, reduction) -----------------------------

Tensor SoftMarginGradOutput(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  if (op.integer(3) == kNone) {
    return d.Call("aten::soft_margin_loss_backward", b.grad(), b.saved(1), b.saved(2), op.arg(3));
  }
  const Tensor slope =
      Function("aten::soft_margin_loss_backward", Function("aten::ones_like", b.saved(0)),
               b.saved(1), b.saved(2), op.arg(3))
          .Value(d);
  return Method("aten::sum", slope * b.grad()).Value(d);
}

Tensor SoftMarginTwice(Dispatcher& d, const Backward& b) {
  const Tensor target = b.saved(2), input = b.saved(1);
  const Tensor gradient = Times(d, b.grad(), b.saved(0));
  const Tensor z = Method("aten::exp", input * -Expression(target)).Value(d);
  const Tensor more = (Expression(z) + 1).Value(d);
  const Tensor out = (gradient * (target * target) * z / (more * more)).Value(d);
  Average(d, out, b.op().integer(3), b.op().tensor(1));
  return out;
}

// --- nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, ...) ----------

Tensor LikelihoodGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::nll_loss", b.grad(), b.saved(2), b.saved(3), b.op().arg(4), b.op().arg(5));
}
Tensor Likelihood2dGradOutput(Dispatcher& d, const Backward& b) {
  return d.Call("aten::nll_loss2d", b.grad(), b.saved(2), b.saved(3), b.op().arg(4), b.op().arg(5));
}

}  // namespace steelyard::gradients
