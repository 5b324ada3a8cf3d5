// SPDX-License-Identifier: Apache-2.0
//
// Most are kernels of their own; what reaches the statistics of a group norm goes on step by step.

#include "ops/gradients/normalization.h"

#include "ops/gradients/expression.h"
#include "ops/rules/memory_format.h"

namespace steelyard::gradients {

// input, weight, bias, running_mean, running_var, training, momentum, eps
std::vector<Tensor> BatchNorm(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::native_batch_norm_backward", b.grad(), b.saved(0), b.saved(1),
                    b.saved(3), b.saved(4), b.result(1), b.result(2), b.op().arg(5), b.op().arg(7),
                    d.Mask({b.needs(0), b.needs(1), b.needs(2)}));
}

// The same by cuDNN, which gives all three gradients and has none without training.
std::vector<Tensor> CudnnBatchNorm(Dispatcher& d, const Backward& b) {
  if (!b.op().boolean(5)) return BatchNorm(d, b);
  const Tensor image = b.saved(0);
  const Tensor gradient = d.Call("aten::contiguous", b.grad(), SuggestedFormat(image.view()));
  return d.CallMany("aten::cudnn_batch_norm_backward", image, gradient, b.saved(1), b.saved(3),
                    b.saved(4), b.result(1), b.result(2), b.op().arg(7), b.result(3));
}

// input, weight, bias, training, momentum, eps
std::vector<Tensor> BatchNormOfBatch(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::native_batch_norm_backward", b.grad(), b.saved(0), b.saved(1),
                    std::nullopt, std::nullopt, b.result(1), b.result(2), b.op().arg(3),
                    b.op().arg(5), d.Mask({b.needs(0), b.needs(1), b.needs(2)}));
}

// --- native_group_norm(input, weight, bias, N, C, HxW, group, eps) -> out, mean, rstd ------------

namespace {

// -rstd^3 / 2 * grad
Tensor OfVariance(Dispatcher& d, const Tensor& grad, const Tensor& rstd) {
  const Tensor half = d.Call("aten::mul.Scalar", rstd, -0.5);
  const Tensor square = d.Call("aten::mul.Tensor", half, rstd);
  const Tensor cube = d.Call("aten::mul.Tensor", square, rstd);
  return d.Call("aten::mul.Tensor", cube, grad);
}

// 2 / count * grad * (groups - their means)
Tensor ByVariance(Dispatcher& d, const Tensor& grad, const Tensor& groups) {
  const Tensor mean = d.Call("aten::mean.dim", groups, Dims{2}, true);
  const Tensor difference = d.Call("aten::sub.Tensor", groups, mean);
  const Tensor whole = d.Call("aten::view", grad, Dims{groups.size(0), groups.size(1), 1});
  const double share = 2.0 / static_cast<double>(groups.size(2));
  const Tensor scaled = d.Call("aten::mul.Scalar", whole, share);
  return d.Call("aten::mul.Tensor", scaled, difference);
}

Tensor ByMean(Dispatcher& d, const Tensor& grad, const Tensor& groups) {
  const Tensor whole = d.Call("aten::view", grad, Dims{groups.size(0), groups.size(1), 1});
  const Tensor spread = d.Call("aten::expand", whole, Dims(groups.sizes()));
  return d.Call("aten::div.Scalar", spread, groups.size(2));
}

// What reaches the input by way of its groups' means and variances.
Tensor ByStatistics(Dispatcher& d, const Backward& b, const Tensor& of_variance) {
  const Tensor input = b.saved(0);
  const std::int64_t batch = b.op().integer(3), group = b.op().integer(6);
  const Tensor groups = d.Call("aten::reshape", input, Dims{batch, group, -1});
  Tensor derivative;
  if (of_variance.defined()) derivative = ByVariance(d, of_variance, groups);
  if (b.grad(1).defined()) {
    const Tensor of_mean = ByMean(d, b.grad(1), groups);
    derivative = derivative.defined() ? d.Call("aten::add.Tensor", derivative, of_mean) : of_mean;
  }
  return d.Call("aten::reshape", derivative, Dims(input.sizes()));
}

}  // namespace

std::vector<Tensor> GroupNorm(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  std::vector<Tensor> out(3);
  if (b.grad().defined()) {
    out = d.CallMany("aten::native_group_norm_backward", b.grad(), b.saved(0), b.result(1),
                     b.result(2), b.saved(1), op.arg(3), op.arg(4), op.arg(5), op.arg(6),
                     d.Mask({b.needs(0), b.needs(1), b.needs(2)}));
  } else {
    for (int i = 1; i < 3; ++i) {
      if (b.needs(i))
        out[static_cast<std::size_t>(i)] =
            d.Call("aten::zeros", Dims{op.integer(4)}, op.self().dtype());
    }
  }
  if (!b.needs(0) || (!b.grad(1).defined() && !b.grad(2).defined())) return out;
  Tensor of_variance;
  if (b.grad(2).defined()) of_variance = OfVariance(d, b.grad(2), b.result(2));
  const Tensor more = ByStatistics(d, b, of_variance);
  out[0] = out[0].defined() ? d.Call("aten::add.Tensor", out[0], more) : more;
  return out;
}

// --- _fused_rms_norm(input, normalized_shape, weight, eps) -> out, reciprocal roots --------------

namespace {

// Where roots have gradients, or gradients have: infinitely_differentiable_native_rms_norm_backward
// in FunctionsManual.cpp.
std::vector<Tensor> RootNormStepByStep(Dispatcher& d, const Backward& b) {
  const Tensor input = b.saved(0), weight = b.saved(2), root = b.result(1);
  const int axis = input.rank() - b.op().ints(1).size();
  Dims inner, outer;
  double count = 1;
  for (int i = 0; i < input.rank(); ++i) {
    if (i >= axis) count *= static_cast<double>(input.size(i));
    (i < axis ? outer : inner).push_back(i);
  }
  const Tensor cube = Power(root, 3).Value(d);
  Tensor grad;
  if (b.grad().defined()) {
    grad = weight.defined() ? (Expression(b.grad()) * weight).Value(d) : b.grad();
  }
  std::vector<Tensor> out(2);
  if (b.needs(0)) {
    Tensor by_output, by_root;
    if (grad.defined()) {
      Tensor sum;
      {
        const Tensor product = d.Call("aten::mul.Tensor", input, grad);
        sum = d.Call("aten::sum.dim_IntList", product, inner, true);
      }
      by_output = (Expression(root) * grad - (Expression(input) * cube / count) * sum).Value(d);
    }
    if (b.grad(1).defined()) {
      by_root = (-(Expression(input) * cube / count) * b.grad(1)).Value(d);
    }
    out[0] = by_output.defined() && by_root.defined()
                 ? d.Call("aten::add.Tensor", by_output, by_root)
             : by_output.defined() ? by_output
                                   : by_root;
  }
  if (b.needs(2) && weight.defined() && b.grad().defined()) {
    const Tensor scaled = d.Call("aten::mul.Tensor", input, root);
    const Tensor whole = d.Call("aten::mul.Tensor", b.grad(), scaled);
    out[1] = axis > 0 ? d.Call("aten::sum.dim_IntList", whole, outer, false) : whole;
  }
  return out;
}

}  // namespace

std::vector<Tensor> RootNorm(Dispatcher& d, const Backward& b) {
  if (d.grad_enabled() || b.grad(1).defined()) return RootNormStepByStep(d, b);
  return d.CallMany("aten::_fused_rms_norm_backward", b.grad(), b.saved(0), b.op().arg(1),
                    b.result(1), b.saved(2), d.Mask({b.needs(0), b.needs(2)}));
}

// v, g, dim; result 1 is the norms
std::vector<Tensor> WeightNorm(Dispatcher& d, const Backward& b) {
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  return d.CallMany("aten::_weight_norm_interface_backward", grad, b.saved(0), b.saved(1),
                    b.result(1), b.op().arg(2));
}

}  // namespace steelyard::gradients
