// SPDX-License-Identifier: Apache-2.0
//
// A product for each place of the kernel, added to what of the result it reaches
// (ATen/native/ConvolutionTBC.cpp).

#include "ops/convolution_tbc.h"

#include <algorithm>
#include <cstdint>

#include "ops/gradients/words.h"
#include "ops/rules/shape.h"

namespace steelyard::ops::convolve {
namespace {

// How far `k` steps into the kernel one sequence is ahead of the other, and for how long both last.
struct Overlap {
  std::int64_t input = 0, output = 0, steps = 0;
};
Overlap OverlapAt(std::int64_t k, std::int64_t pad, std::int64_t input, std::int64_t output) {
  Overlap out{.input = std::max<std::int64_t>(0, k - pad),
              .output = std::max<std::int64_t>(0, pad - k)};
  out.steps = std::min(input + pad - k, output) - out.output;
  return out;
}

// Some steps of a sequence, as rows.
Tensor Rows(Dispatcher& d, const Tensor& sequence, std::int64_t begin, std::int64_t steps) {
  const Tensor some = d.Call("aten::narrow", sequence, 0, begin, steps);
  return d.Call("aten::view", some, Dims{steps * sequence.size(1), sequence.size(2)});
}

Tensor At(Dispatcher& d, const Tensor& weight, std::int64_t k) {
  return d.Call("aten::select.int", weight, 0, k);
}

}  // namespace

// self, weight, bias, pad
std::vector<Tensor> OverTime(Dispatcher& d, const OpView& op) {
  const Tensor input = d.tensor(op, 0), weight = d.tensor(op, 1), bias = d.tensor(op, 2);
  shape::RequireRank("the input", input.view(), 3);
  shape::RequireRank("the weight", weight.view(), 3);
  shape::RequireRank("the bias", bias.view(), 1);
  shape::RequireEqual("channels", input.size(2), weight.size(1));
  shape::RequireEqual("channels of the weight and of the bias", weight.size(2), bias.size(0));
  const std::int64_t pad = op.integer(3), width = weight.size(0);
  const std::int64_t length = input.size(0) - width + 1 + 2 * pad;
  if (length < 0) Refuse("the kernel is longer than the sequence");
  const Dims sizes{length, input.size(1), weight.size(2)};
  const Tensor out = d.Call("aten::empty.memory_format", sizes, input.dtype());
  d.Call("aten::copy_", out, d.Call("aten::expand", bias, sizes));
  for (std::int64_t k = 0; k < width; ++k) {
    const Overlap both = OverlapAt(k, pad, input.size(0), length);
    if (both.steps <= 0) continue;
    d.Call("aten::addmm_", Rows(d, out, both.output, both.steps),
           Rows(d, input, both.input, both.steps), At(d, weight, k));
  }
  return {out};
}

// self (the gradient), input, weight, bias, pad
std::vector<Tensor> OverTimeBackward(Dispatcher& d, const OpView& op) {
  const Tensor grad = d.tensor(op, 0), input = d.tensor(op, 1), weight = d.tensor(op, 2);
  shape::RequireRank("the gradient", grad.view(), 3);
  shape::RequireRank("the input", input.view(), 3);
  shape::RequireRank("the weight", weight.view(), 3);
  const std::int64_t pad = op.integer(4), width = weight.size(0);
  const auto each = [&](const auto& visit) {
    for (std::int64_t k = 0; k < width; ++k) {
      const Overlap both = OverlapAt(k, pad, input.size(0), grad.size(0));
      if (both.steps > 0) visit(k, both);
    }
  };
  const Tensor of_input = gradients::RowMajorZeros(d, input);
  each([&](std::int64_t k, const Overlap& both) {
    const Tensor outputs = Rows(d, grad, both.output, both.steps);
    const Tensor turned = d.Call("aten::t", At(d, weight, k));
    d.Call("aten::addmm_", Rows(d, of_input, both.input, both.steps), outputs, turned);
  });
  const Tensor of_weight = gradients::RowMajorZeros(d, weight);
  each([&](std::int64_t k, const Overlap& both) {
    const Tensor outputs = Rows(d, grad, both.output, both.steps);
    const Tensor turned = d.Call("aten::t", Rows(d, input, both.input, both.steps));
    d.Call("aten::addmm_", At(d, of_weight, k), turned, outputs);
  });
  const Tensor of_bias = gradients::RowMajorZeros(d, d.tensor(op, 3));
  const Tensor over_time = d.Call("aten::sum.dim_IntList", grad, Dims{0});
  {
    const Tensor sum = d.Call("aten::sum.dim_IntList", over_time, Dims{0});
    d.Call("aten::copy_", of_bias, sum);
  }
  return {of_input, of_weight, of_bias};
}

}  // namespace steelyard::ops::convolve
