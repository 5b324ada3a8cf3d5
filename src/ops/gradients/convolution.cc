// SPDX-License-Identifier: Apache-2.0
//
// All but one go through `convolution_backward`; they differ in where their arguments stand and in
// which of them they lack. `_slow_conv2d_forward` has a backward kernel of its own. A gradient that
// nobody needs is left out by the mask.

#include "ops/gradients/convolution.h"

#include <cstdint>

namespace steelyard::gradients {
namespace {

// How a kernel convolves, as `convolution_backward` is told.
struct Form {
  int bias;
  Dims stride, padding, dilation;
  bool transposed = false;
  Dims output_padding;
  std::int64_t groups = 1;
};

std::vector<Tensor> Operands(Dispatcher& d, const Backward& b, const Form& form) {
  const OpView& op = b.op();
  const auto backward = [&](const auto& bias_sizes) {
    return d.CallMany("aten::convolution_backward", b.grad(), b.saved(0), b.saved(1), bias_sizes,
                      form.stride, form.padding, form.dilation, form.transposed,
                      form.output_padding, form.groups,
                      d.Mask({b.needs(0), b.needs(1), b.needs(form.bias)}));
  };
  return op.given(form.bias) ? backward(Dims(op.tensor(form.bias).sizes()))
                             : backward(std::nullopt);
}

// A list argument; what is not given is `missing` in each of the image's dimensions, and a single
// number is meant for each.
Dims Each(const OpView& op, int argument, std::int64_t missing) {
  const int dims = op.self().rank() - 2;
  if (!op.given(argument)) return Dims::Filled(dims, missing);
  const Dims given = op.ints(argument);
  return given.size() == 1 ? Dims::Filled(dims, given[0]) : given;
}

}  // namespace

// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
std::vector<Tensor> ConvolutionOperands(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return Operands(d, b,
                  {.bias = 2,
                   .stride = op.ints(3),
                   .padding = op.ints(4),
                   .dilation = op.ints(5),
                   .transposed = op.boolean(6),
                   .output_padding = op.ints(7),
                   .groups = op.integer(8)});
}

// self, weight, bias, padding, stride, dilation, groups
std::vector<Tensor> OneDnnOperands(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Dims padding = op.ints(3);
  return Operands(d, b,
                  {.bias = 2,
                   .stride = op.ints(4),
                   .padding = padding,
                   .dilation = op.ints(5),
                   .output_padding = Dims::Filled(padding.size(), 0),
                   .groups = op.integer(6)});
}

// self, weight, kernel_size, bias, stride, padding
std::vector<Tensor> SlowOperands(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.CallMany("aten::_slow_conv2d_backward.output_mask", b.grad(), b.saved(0), b.saved(1),
                    op.arg(2), op.arg(4), op.arg(5), d.Mask({b.needs(0), b.needs(1), b.needs(3)}));
}

std::vector<Tensor> Slow3dOperands(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return Operands(d, b,
                  {.bias = 3,
                   .stride = Each(op, 4, 1),
                   .padding = Each(op, 5, 0),
                   .dilation = {1, 1, 1},
                   .output_padding = {0, 0, 0}});
}

// self, weight, kernel_size, bias, stride, padding, dilation
std::vector<Tensor> DilatedOperands(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Dims padding = Each(op, 5, 0);
  return Operands(d, b,
                  {.bias = 3,
                   .stride = Each(op, 4, 1),
                   .padding = padding,
                   .dilation = Each(op, 6, 1),
                   .output_padding = Dims::Filled(padding.size(), 0)});
}

// self, weight, kernel_size, bias, stride, padding, output_padding, dilation
std::vector<Tensor> TransposedOperands(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return Operands(d, b,
                  {.bias = 3,
                   .stride = Each(op, 4, 1),
                   .padding = Each(op, 5, 0),
                   .dilation = Each(op, 7, 1),
                   .transposed = true,
                   .output_padding = Each(op, 6, 0)});
}

// self, weight, bias, pad
std::vector<Tensor> OverTimeOperands(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::conv_tbc_backward", b.grad(), b.saved(0), b.saved(1), b.saved(2),
                    b.op().arg(3));
}

}  // namespace steelyard::gradients
