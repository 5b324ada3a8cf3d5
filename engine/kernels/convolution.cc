// SPDX-License-Identifier: Apache-2.0
//
// Backends of convolutions have no operators: PyTorch picks them again. What a step does not say, a
// dilation or the padding of an output, follows from the sizes.

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/mkldnn_convolution.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "kernels/kernels.h"
#include "kernels/operands_taken.h"

namespace steelyard::engine {
namespace {

enum class Direction { kPlain, kTransposed };

// How windows lie, by dimension of the image.
struct Windows {
  Sizes stride, padding, dilation;
};

// The tensors that every convolution begins with.
struct ForwardOperands {
  explicit ForwardOperands(Taken& taken)
      : self(taken.Tensor()), weight(taken.Tensor()), bias(taken.Optional()) {}
  at::Tensor self, weight;
  std::optional<at::Tensor> bias;
};

void TransposedConvolution(Stack* stack) {
  Taken taken(stack);
  const ForwardOperands of(taken);
  Windows windows{.stride = taken.Integers(), .padding = taken.Integers(), .dilation = {}};
  const Sizes output_padding = taken.Integers();
  windows.dilation = taken.Integers();
  stack->emplace_back(at::convolution(of.self, of.weight, of.bias, windows.stride, windows.padding,
                                      windows.dilation, true, output_padding, taken.Integer()));
}

bool OneDnnConvolvesBFloat16() {
  static const bool answer = [] {
    Stack stack;
    c10::Dispatcher::singleton()
        .findSchemaOrThrow("mkldnn::_is_mkldnn_bf16_supported", "")
        .callBoxed(&stack);
    return stack.front().toBool();
  }();
  return answer;
}

// self, weight, bias, padding, stride, dilation, groups. The program was made for a processor on
// which oneDNN convolves in all of its dtypes; on others PyTorch has kernels of its own.
void OneDnnConvolution(Stack* stack) {
  Taken taken(stack);
  const ForwardOperands of(taken);
  Windows windows{.stride = {}, .padding = taken.Integers(), .dilation = {}};
  windows.stride = taken.Integers();
  windows.dilation = taken.Integers();
  const std::int64_t groups = taken.Integer();
  stack->emplace_back(of.self.scalar_type() != at::kBFloat16 || OneDnnConvolvesBFloat16()
                          ? at::mkldnn_convolution(of.self, of.weight, of.bias, windows.padding,
                                                   windows.stride, windows.dilation, groups)
                          : at::convolution(of.self, of.weight, of.bias, windows.stride,
                                            windows.padding, windows.dilation, false,
                                            Sizes(windows.stride.size(), 0), groups));
}

// The tensors that every backward step begins with.
struct BackwardOperands {
  explicit BackwardOperands(Taken& taken)
      : grad(taken.Tensor()), self(taken.Tensor()), weight(taken.Tensor()) {}
  at::Tensor grad, self, weight;
};

// Dimension i of an operand without its first two.
std::int64_t SizeOf(const at::Tensor& tensor, std::size_t i) {
  return tensor.size(static_cast<std::int64_t>(i) + 2);
}

// The sizes tell the padding of the output, which only transposed ones have.
Sizes OutputPadding(const BackwardOperands& of, const Windows& windows, Direction direction) {
  Sizes extra(windows.stride.size(), 0);
  if (direction == Direction::kPlain) return extra;
  for (std::size_t i = 0; i < extra.size(); ++i) {
    extra[i] = SizeOf(of.grad, i) -
               ((SizeOf(of.self, i) - 1) * windows.stride[i] - 2 * windows.padding[i] +
                windows.dilation[i] * (SizeOf(of.weight, i) - 1) + 1);
  }
  return extra;
}

// The gradients that the mask, the operand which is next, asks for.
void PutGradients(const BackwardOperands& of, const Windows& windows, Direction direction,
                  std::int64_t groups, Taken& taken, Stack* stack) {
  auto [grad_input, grad_weight, grad_bias] = at::convolution_backward(
      of.grad, of.self, of.weight, at::IntArrayRef(of.grad.size(1)), windows.stride,
      windows.padding, windows.dilation, direction == Direction::kTransposed,
      OutputPadding(of, windows, direction), groups, taken.Mask());
  for (at::Tensor* gradient : {&grad_input, &grad_weight, &grad_bias}) {
    stack->push_back(gradient->defined() ? IValue(std::move(*gradient)) : IValue());
  }
}

// grad, self, weight, stride, padding, dilation, groups, mask
template <Direction kDirection>
void ConvolutionBackward(Stack* stack) {
  Taken taken(stack);
  const BackwardOperands of(taken);
  const Windows windows{taken.Integers(), taken.Integers(), taken.Integers()};
  const std::int64_t groups = taken.Integer();
  PutGradients(of, windows, kDirection, groups, taken, stack);
}

// CUDA's: grad, self, weight, stride, padding, dilation, transposed, groups, mask. The bias's is
// not of this step.
void ImageAndWeightBackward(Stack* stack) {
  Taken taken(stack);
  const BackwardOperands of(taken);
  const Windows windows{taken.Integers(), taken.Integers(), taken.Integers()};
  const Direction direction = taken.Bool() ? Direction::kTransposed : Direction::kPlain;
  const std::int64_t groups = taken.Integer();
  PutGradients(of, windows, direction, groups, taken, stack);
  stack->pop_back();
}

// The sizes tell the dilation.
Sizes DilationOf(const BackwardOperands& of, const Sizes& kernel, const Windows& windows) {
  Sizes dilation;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t reach = SizeOf(of.self, i) + 2 * windows.padding[i] -
                               (SizeOf(of.grad, i) - 1) * windows.stride[i] - 1;
    dilation.push_back(std::max<std::int64_t>(1, reach / std::max<std::int64_t>(kernel[i] - 1, 1)));
  }
  return dilation;
}

// grad, self, weight, the sizes of the kernel, stride, padding, mask
template <Direction kDirection>
void SlowBackward(Stack* stack) {
  Taken taken(stack);
  const BackwardOperands of(taken);
  const Sizes kernel = taken.Integers();
  Windows windows{taken.Integers(), taken.Integers(), Sizes(kernel.size(), 1)};
  if (kDirection == Direction::kPlain) windows.dilation = DilationOf(of, kernel, windows);
  PutGradients(of, windows, kDirection, 1, taken, stack);
}

constexpr std::array kRows{
    KernelRow{"aten::mkldnn_convolution", OneDnnConvolution},
    KernelRow{"steelyard::cudnn_convolution_backward", ImageAndWeightBackward},
    KernelRow{"steelyard::depthwise_convolution_backward", ImageAndWeightBackward},
    KernelRow{"steelyard::depthwise_volume_backward", ImageAndWeightBackward},
    KernelRow{"steelyard::onednn_convolution_backward", ConvolutionBackward<Direction::kPlain>},
    KernelRow{"steelyard::onednn_transposed_backward", ConvolutionBackward<Direction::kTransposed>},
    KernelRow{"steelyard::slow_conv3d_backward", SlowBackward<Direction::kPlain>},
    KernelRow{"steelyard::slow_conv_dilated2d_backward", SlowBackward<Direction::kPlain>},
    KernelRow{"steelyard::slow_conv_dilated3d_backward", SlowBackward<Direction::kPlain>},
    KernelRow{"steelyard::slow_conv_transpose2d_backward", SlowBackward<Direction::kTransposed>},
    KernelRow{"steelyard::slow_conv_transpose3d_backward", SlowBackward<Direction::kTransposed>},
    KernelRow{"steelyard::transposed_convolution", TransposedConvolution},
};

}  // namespace

std::span<const KernelRow> ConvolutionKernels() { return kRows; }

}  // namespace steelyard::engine
