// SPDX-License-Identifier: Apache-2.0
//
// Windows of convolutions and pools, as attributes describe them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/call.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {

// One window for each spatial dimension of operand 0; `kernel` is its size there.
std::vector<shapes::Window> WindowsOf(Call& call, const std::vector<std::int64_t>& kernel);

// Sizes after the windows have slid: of `shape` from dimension 2 on.
Shape SlidShape(Call& call, const Shape& shape, const std::vector<shapes::Window>& windows);

// Whether the padding is the same before and after, as PyTorch's operators take it.
bool IsSymmetric(const std::vector<shapes::Window>& windows);

// Pads `x` with a number, and forgets the padding.
Tensor Padded(Call& call, Tensor x, std::vector<shapes::Window>& windows, double value);

// The spatial sizes of a convolution's weight. They have to be known.
std::vector<std::int64_t> WeightKernel(Call& call, std::size_t weight);
// "aten::conv" and "2d", of one to three spatial dimensions.
std::string ForDimensions(std::string_view stem, std::size_t dimensions,
                          std::string_view overload = {});

struct Convolving {
  Tensor input, weight, bias = {};
  std::size_t weight_operand = 1;
};
// A convolution of operand 0, as the attributes describe it, and its shape.
Tensor Convolved(Call& call, const Convolving& operands, Shape* to);

Builder::Shape Kernels(const std::vector<shapes::Window>& windows);
Builder::Shape Strides(const std::vector<shapes::Window>& windows);
Builder::Shape Dilations(const std::vector<shapes::Window>& windows);
Builder::Shape Paddings(const std::vector<shapes::Window>& windows);

}  // namespace steelyard::onnx
