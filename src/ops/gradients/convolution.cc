// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/convolution.h"

namespace steelyard::gradients {

// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
std::vector<Tensor> ConvolutionOperands(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const auto backward = [&](const auto& bias_sizes) {
    return d.CallMany("aten::convolution_backward", b.grad(), b.saved(0), b.saved(1), bias_sizes,
                      op.arg(3), op.arg(4), op.arg(5), op.arg(6), op.arg(7), op.arg(8),
                      d.Mask({b.needs(0), b.needs(1), b.needs(2)}));
  };
  return op.given(2) ? backward(Dims(op.tensor(2).sizes())) : backward(std::nullopt);
}

}  // namespace steelyard::gradients
