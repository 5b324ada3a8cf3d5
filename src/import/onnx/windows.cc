// SPDX-License-Identifier: Apache-2.0
//
// Brings ONNX's windows to PyTorch's. `auto_pad` becomes numbers, an odd one at the end for
// SAME_UPPER and at the begin for SAME_LOWER; padding that differs before and after, which
// PyTorch's convolutions do not take, is added by constant_pad_nd before them. Absurd windows give
// up before they overflow.

#include "import/onnx/windows.h"

#include <algorithm>
#include <ranges>
#include <string>

namespace steelyard::onnx {
namespace {

using shapes::Window;

// Larger windows are slips of the pen or of a forger, and could overflow.
constexpr std::int64_t kMostExtent = std::int64_t{1} << 31;

bool IsSmall(std::int64_t padding) { return padding > -kMostExtent && padding < kMostExtent; }

std::vector<std::int64_t> ListOf(Call& call, std::string_view name, std::size_t count,
                                 std::int64_t otherwise) {
  const auto written = call.integers(name);
  if (!written || written->empty()) return std::vector<std::int64_t>(count, otherwise);
  if (written->size() != count) Call::GiveUp(std::string(name) + " of another rank");
  return *written;
}

// As many places as strides fit, by padding both ends alike; an odd one goes where `upper` says.
void PadToSame(Dim size, bool upper, Window& window) {
  std::int64_t total = window.extent() - 1;
  if (window.stride != 1) {
    if (!size.is_number()) Call::GiveUp("auto_pad of a symbolic size");
    const std::int64_t places = (size.number() + window.stride - 1) / window.stride;
    total =
        std::max<std::int64_t>((places - 1) * window.stride + window.extent() - size.number(), 0);
  }
  const std::int64_t less = total / 2, more = total - less;
  window.before = upper ? less : more;
  window.after = upper ? more : less;
}

Builder::Shape Each(const std::vector<Window>& windows, std::int64_t Window::*member) {
  Builder::Shape out;
  for (const Window& window : windows) out.emplace_back(window.*member);
  return out;
}

}  // namespace

std::vector<Window> WindowsOf(Call& call, const std::vector<std::int64_t>& kernel) {
  const std::size_t count = kernel.size();
  if (call.shape(0).size() != count + 2) Call::GiveUp("a window of another rank");
  const auto strides = ListOf(call, "strides", count, 1);
  const auto dilations = ListOf(call, "dilations", count, 1);
  const auto pads = ListOf(call, "pads", 2 * count, 0);
  const std::string automatic = call.text("auto_pad", "NOTSET");
  std::vector<Window> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = {.kernel = kernel[i], .stride = strides[i], .dilation = dilations[i]};
    const bool sane = kernel[i] > 0 && strides[i] > 0 && dilations[i] > 0 &&
                      kernel[i] < kMostExtent && strides[i] < kMostExtent &&
                      dilations[i] < kMostExtent && IsSmall(pads[i]) && IsSmall(pads[count + i]);
    if (!sane) Call::GiveUp("an absurd window");
    if (automatic == "NOTSET" || automatic.empty()) {
      out[i].before = pads[i];
      out[i].after = pads[count + i];
    } else if (automatic != "VALID") {
      PadToSame(call.shape(0)[i + 2], automatic == "SAME_UPPER", out[i]);
    }
  }
  return out;
}

Shape SlidShape(Call& call, const Shape& shape, const std::vector<Window>& windows) {
  Shape out = shape;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    out[i + 2] = shapes::Slid(call.sizes(), shape[i + 2], windows[i]);
  }
  return out;
}

bool IsSymmetric(const std::vector<Window>& windows) {
  return std::ranges::all_of(windows, [](const Window& w) { return w.before == w.after; });
}

Tensor Padded(Call& call, Tensor x, std::vector<Window>& windows, double value) {
  Builder::Shape pads;
  for (Window& window : std::views::reverse(windows)) {
    pads.insert(pads.end(), {window.before, window.after});
    window.before = window.after = 0;
  }
  return call.Emit("aten::constant_pad_nd", x, pads, value);
}

std::vector<std::int64_t> WeightKernel(Call& call, std::size_t weight) {
  const Shape& shape = call.shape(weight);
  std::vector<std::int64_t> out;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    if (!shape[i].is_number()) Call::GiveUp("a kernel of symbolic size");
    out.push_back(shape[i].number());
  }
  return out;
}

std::string ForDimensions(std::string_view stem, std::size_t dimensions,
                          std::string_view overload) {
  if (dimensions < 1 || dimensions > 3)
    Call::GiveUp("windows of " + std::to_string(dimensions) + " dimensions");
  return std::string(stem) + std::to_string(dimensions) + "d" + std::string(overload);
}

Tensor Convolved(Call& call, const Convolving& operands, Shape* to) {
  std::vector<Window> windows = WindowsOf(call, WeightKernel(call, operands.weight_operand));
  *to = SlidShape(call, call.shape(0), windows);
  (*to)[1] = call.shape(operands.weight_operand).at(0);
  Tensor x = operands.input;
  if (!IsSymmetric(windows)) x = Padded(call, x, windows, 0);
  return call.Emit(ForDimensions("aten::conv", windows.size()), x, operands.weight, operands.bias,
                   Strides(windows), Paddings(windows), Dilations(windows),
                   call.integer("group", 1));
}

Builder::Shape Kernels(const std::vector<Window>& windows) {
  return Each(windows, &Window::kernel);
}
Builder::Shape Strides(const std::vector<Window>& windows) {
  return Each(windows, &Window::stride);
}
Builder::Shape Dilations(const std::vector<Window>& windows) {
  return Each(windows, &Window::dilation);
}
Builder::Shape Paddings(const std::vector<Window>& windows) {
  return Each(windows, &Window::before);
}

}  // namespace steelyard::onnx
