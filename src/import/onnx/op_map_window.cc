// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pools. PyTorch pads both ends of a dimension alike; where ONNX does not, a
// padded copy comes first, as in the model that was exported.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "import/onnx/op_map.h"
#include "import/onnx/windows.h"
#include "support/checked.h"

namespace steelyard::onnx {
namespace {

using shapes::Window;

std::vector<std::int64_t> KernelOf(Call& call) {
  const auto kernel = call.integers("kernel_shape");
  if (!kernel || kernel->empty()) Call::GiveUp("no kernel_shape");
  return *kernel;
}

// --- Convolutions -------------------------------------------------------------------------------

void Convolution(Call& call) {
  Shape to;
  const Tensor out = Convolved(
      call, {.input = call.tensor(0), .weight = call.tensor(1), .bias = call.optional(2)}, &to);
  call.Give(out, {call.dtype(0), to});
}

// What sizes and paddings are far below, so that sums of some of them fit.
constexpr std::int64_t kMost = std::int64_t{1} << 48;

std::int64_t Believed(CheckedInt size) {
  if (!size.ok() || size.value() < -kMost || size.value() > kMost) {
    Call::GiveUp("sizes that no tensor has");
  }
  return size.value();
}

// Of a transposed convolution: what `output_shape` asks for instead of paddings. Beyond what the
// windows reach there are zeros.
void PadToOutput(Call& call, const std::vector<std::int64_t>& wanted,
                 std::vector<std::int64_t>& added, std::vector<Window>& windows) {
  const bool upper = call.text("auto_pad", "NOTSET") == "SAME_UPPER";
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Window& window = windows[i];
    const Dim size = call.shape(0)[i + 2];
    if (!size.is_number()) Call::GiveUp("output_shape of a symbolic size");
    std::int64_t total = Believed(CheckedInt(window.stride) * (Believed(size.number()) - 1)) +
                         Believed(added[i]) + Believed(window.extent()) - Believed(wanted[i]);
    if (total < 0) added[i] -= std::exchange(total, 0);
    window.before = upper ? total / 2 : total - total / 2;
    window.after = total - window.before;
  }
}

void TransposedConvolution(Call& call) {
  std::vector<Window> windows = WindowsOf(call, WeightKernel(call, 1));
  const std::size_t count = windows.size();
  auto added = call.integers("output_padding").value_or(std::vector<std::int64_t>());
  added.resize(count, 0);
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (const auto wanted = call.integers("output_shape"); wanted && wanted->size() >= count) {
    PadToOutput(call, {wanted->end() - static_cast<std::ptrdiff_t>(count), wanted->end()}, added,
                windows);
  } else if (automatic.starts_with("SAME")) {
    std::vector<std::int64_t> same;
    for (std::size_t i = 0; i < count; ++i) {
      const Dim size = call.shape(0)[i + 2];
      if (!size.is_number()) Call::GiveUp("auto_pad of a symbolic size");
      same.push_back(Believed(CheckedInt(size.number()) * windows[i].stride));
    }
    PadToOutput(call, same, added, windows);
  }
  Sizes& sizes = call.sizes();
  const std::int64_t group = call.integer("group", 1);
  Shape to = call.shape(0);
  to[1] = sizes.Product(call.shape(1).at(1), Dim(group));
  Builder::Shape pads, more;
  for (std::size_t i = 0; i < count; ++i) {
    const Window& w = windows[i];
    const Dim reached = sizes.Product(sizes.Difference(to[i + 2], Dim(1)), Dim(w.stride));
    to[i + 2] = sizes.Sum(reached, Dim(added[i] + w.extent() - w.before - w.after));
    pads.emplace_back(std::min(w.before, w.after));
    more.emplace_back(added[i]);
  }
  Tensor out = call.Emit(ForDimensions("aten::conv_transpose", count, count == 1 ? "" : ".input"),
                         call.tensor(0), call.tensor(1), call.optional(2), Strides(windows), pads,
                         more, group, Dilations(windows));
  for (std::size_t i = 0; i < count; ++i) {
    const Window& w = windows[i];
    if (w.before == w.after) continue;
    const Dim start(w.before - std::min(w.before, w.after));
    out = call.Emit("aten::slice.Tensor", out, static_cast<std::int64_t>(i + 2), start,
                    sizes.Sum(start, to[i + 2]));
  }
  call.Give(out, {call.dtype(0), to});
}

// input, weight, offset, bias, mask
void DeformedConvolution(Call& call) {
  const std::vector<Window> windows = WindowsOf(call, WeightKernel(call, 1));
  if (windows.size() != 2 || !IsSymmetric(windows)) Call::GiveUp("no image, or padded unevenly");
  Shape to = SlidShape(call, call.shape(0), windows);
  to[1] = call.shape(1).at(0);
  const auto bias = [&] {
    if (call.has(3)) return call.tensor(3);
    return call.Emit("aten::zeros", Builder::Shape{to[1]}, Builder::Named("dtype", call.dtype(0)));
  };
  const auto mask = [&] {
    if (call.has(4)) return call.tensor(4);
    return call.Emit("aten::zeros", Builder::Shape{to[0], 0},
                     Builder::Named("dtype", call.dtype(0)));
  };
  const Tensor out =
      call.Emit("torchvision::deform_conv2d", call.tensor(0), call.tensor(1), call.tensor(2),
                mask(), bias(), windows[0].stride, windows[1].stride, windows[0].before,
                windows[1].before, windows[0].dilation, windows[1].dilation,
                call.integer("group", 1), call.integer("offset_group", 1), call.has(4));
  call.Give(out, {call.dtype(0), to});
}

// Each channel by a window over it and what came before: input, weight, bias, the end of the past.
void CausalConvolution(Call& call) {
  const Shape& shape = call.shape(0);
  const std::vector<std::int64_t> kernel = WeightKernel(call, 1);
  if (shape.size() != 3 || kernel.size() != 1 || kernel[0] < 1 || !shape[1].is_number()) {
    Call::GiveUp("no window over steps of channels");
  }
  const std::int64_t before = kernel[0] - 1;
  const Tensor steps =
      call.has(3)
          ? call.Emit("aten::cat", std::vector<Tensor>{call.tensor(3), call.tensor(0)}, -1)
          : call.Emit("aten::constant_pad_nd", call.tensor(0), Builder::Shape{before, 0}, 0.0);
  Tensor out = call.Emit("aten::conv1d", steps, call.tensor(1), call.optional(2), Builder::Shape{1},
                         Builder::Shape{0}, Builder::Shape{1}, shape[1]);
  if (call.text("activation", "none") != "none") out = call.Emit("aten::silu", out);
  call.Give(out, call.like(0));
  // The last so many steps, of none of which none is the last.
  const Dim first = before == 0 ? shape[2] : Dim(-before);
  call.Give(call.Emit("aten::slice.Tensor", steps, -1, first),
            {call.dtype(0), {shape[0], shape[1], Dim(before)}});
}

// --- Pools --------------------------------------------------------------------------------------

std::vector<Window> PoolWindows(Call& call) {
  std::vector<Window> windows = WindowsOf(call, KernelOf(call));
  for (Window& window : windows) window.ceil = call.integer("ceil_mode", 0) != 0;
  return windows;
}

// PyTorch's pools reach at most half a window beyond the edge.
bool Fits(const std::vector<Window>& windows) {
  const auto fits = [](const Window& w) { return w.before == w.after && 2 * w.before <= w.kernel; };
  return std::ranges::all_of(windows, fits);
}

void LargestOfWindows(Call& call) {
  std::vector<Window> windows = PoolWindows(call);
  const bool ceil = windows.front().ceil;
  const Shape to = SlidShape(call, call.shape(0), windows);
  Tensor x = call.tensor(0);
  const double least = IsFloating(call.dtype(0)) ? -std::numeric_limits<double>::infinity() : 0;
  if (!Fits(windows)) x = Padded(call, x, windows, least);
  const Like like{call.dtype(0), to};
  if (!call.wants(1)) {
    const Tensor out =
        call.Emit(ForDimensions("aten::max_pool", windows.size()), x, Kernels(windows),
                  Strides(windows), Paddings(windows), Dilations(windows), ceil);
    return call.Give(out, like);
  }
  const bool is_signal = windows.size() == 1;
  if (is_signal) {
    x = call.Emit("aten::unsqueeze", x, 2);
    windows.insert(windows.begin(), Window{});
  }
  std::vector<Tensor> out = call.EmitMany(
      ForDimensions("aten::max_pool", windows.size(), "_with_indices"), 2, x, Kernels(windows),
      Strides(windows), Paddings(windows), Dilations(windows), ceil);
  if (is_signal) {
    for (Tensor& result : out) result = call.Emit("aten::squeeze.dim", result, 2);
  }
  call.Give(out[0], like);
  call.Give(out[1], {DType::kInt64, to});
}

// PyTorch's windows of a mean have no dilation, those of a convolution have: sums by one of ones,
// of each channel and of where there are elements.
Tensor MeansOfDilated(Call& call, Tensor x, const std::vector<Window>& windows) {
  const Shape& shape = call.shape(0);
  const Shape to = SlidShape(call, shape, windows);
  Builder::Shape counted{1, 1}, pads, more;
  for (std::size_t i = windows.size(); i-- > 0;) {
    const Window& w = windows[i];
    if (!shape[i + 2].is_number() || !to[i + 2].is_number()) {
      Call::GiveUp("means of dilated windows over a symbolic size");
    }
    const std::int64_t reached = (to[i + 2].number() - 1) * w.stride + w.extent();
    const std::int64_t beyond = reached - shape[i + 2].number() - w.before - w.after;
    pads.insert(pads.end(), {w.before, w.after});
    more.insert(more.end(), {0, std::max<std::int64_t>(beyond, 0)});
  }
  counted.insert(counted.end(), shape.begin() + 2, shape.end());
  const Builder::Arg dtype = Builder::Named("dtype", call.dtype(0));
  const double beside = call.integer("count_include_pad", 0) != 0 ? 1.0 : 0.0;
  const auto sums = [&](Tensor of, double padding, Dim channels) {
    of = call.Emit("aten::constant_pad_nd", of, pads, padding);
    of = call.Emit("aten::constant_pad_nd", of, more, 0.0);
    Builder::Shape sizes{channels, 1};
    for (const Window& w : windows) sizes.emplace_back(w.kernel);
    return call.Emit(ForDimensions("aten::conv", windows.size()), of,
                     call.Emit("aten::ones", sizes, dtype), Tensor(), Strides(windows),
                     Builder::Shape(windows.size(), 0), Dilations(windows), channels);
  };
  const Tensor all = sums(x, 0.0, shape[1]);
  return call.Emit("aten::div.Tensor", all,
                   sums(call.Emit("aten::ones", counted, dtype), beside, Dim(1)));
}

Tensor MeansOfWindows(Call& call, Tensor x, std::vector<Window>& windows) {
  const bool ceil = windows.front().ceil;
  const auto wide = [](const Window& w) { return w.dilation != 1; };
  if (std::ranges::any_of(windows, wide)) return MeansOfDilated(call, x, windows);
  if (!Fits(windows)) x = Padded(call, x, windows, 0);
  return call.Emit(ForDimensions("aten::avg_pool", windows.size()), x, Kernels(windows),
                   Strides(windows), Paddings(windows), ceil,
                   call.integer("count_include_pad", 0) != 0);
}

void MeanOfWindows(Call& call) {
  std::vector<Window> windows = PoolWindows(call);
  const Shape to = SlidShape(call, call.shape(0), windows);
  const Tensor out = MeansOfWindows(call, call.tensor(0), windows);
  call.Give(out, {call.dtype(0), to});
}

// torch.nn.functional.lp_pool2d: the root of the mean of powers times the window's size.
void NormOfWindows(Call& call) {
  std::vector<Window> windows = PoolWindows(call);
  const auto order = static_cast<double>(call.integer("p", 2));
  if (order == 0) Call::GiveUp("a norm of order 0");
  const Shape to = SlidShape(call, call.shape(0), windows);
  double size = 1;
  for (const Window& window : windows) size *= static_cast<double>(window.kernel);
  const Tensor power = call.Emit("aten::pow.Tensor_Scalar", call.tensor(0), order);
  const Tensor mean = MeansOfWindows(call, power, windows);
  const Tensor sum = call.Emit("aten::mul.Tensor", mean, size);
  call.Give(call.Emit("aten::pow.Tensor_Scalar", sum, 1 / order), {call.dtype(0), to});
}

// What a pool of the largest left, put back where it was: values, places, the size.
void BackToPlaces(Call& call) {
  const std::vector<Window> windows = PoolWindows(call);
  if (windows.size() != 2) Call::GiveUp("no image");
  Shape to = call.shape(0);
  if (call.has(2)) {
    const std::vector<Dim> wanted = call.known_numbers(2);
    if (wanted.size() != to.size()) Call::GiveUp("an output_shape of another rank");
    to = wanted;
  } else {
    Sizes& sizes = call.sizes();
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const Window& w = windows[i];
      const Dim reached = sizes.Product(sizes.Difference(to[i + 2], Dim(1)), Dim(w.stride));
      to[i + 2] = sizes.Sum(reached, Dim(w.extent() - w.before - w.after));
    }
  }
  const Tensor out = call.Emit("aten::max_unpool2d", call.tensor(0), call.tensor(1),
                               Builder::Shape{to.at(2), to.at(3)});
  call.Give(out, {call.dtype(0), to});
}

// --- Pools over all of an image -----------------------------------------------------------------

Shape Pooled(const Shape& from) {
  if (from.size() < 3) Call::GiveUp("no spatial dimension");
  Shape to(from.size(), Dim(1));
  std::copy_n(from.begin(), 2, to.begin());
  return to;
}

Builder::Shape SpatialAxes(const Shape& from) {
  Builder::Shape out;
  for (std::size_t i = 2; i < from.size(); ++i) out.emplace_back(i);
  return out;
}

void MeanOfImage(Call& call) {
  const Shape& from = call.shape(0);
  const Shape to = Pooled(from);
  const Tensor out = call.Emit(ForDimensions("aten::adaptive_avg_pool", from.size() - 2),
                               call.tensor(0), Builder::Shape(from.size() - 2, 1));
  call.Give(out, {call.dtype(0), to});
}

void LargestOfImage(Call& call) {
  const Shape to = Pooled(call.shape(0));
  const Tensor out = call.Emit("aten::amax", call.tensor(0), SpatialAxes(call.shape(0)), true);
  call.Give(out, {call.dtype(0), to});
}

void NormOfImage(Call& call) {
  const Shape to = Pooled(call.shape(0));
  const Tensor out = call.Emit("aten::linalg_vector_norm", call.tensor(0), call.integer("p", 2),
                               SpatialAxes(call.shape(0)), true);
  call.Give(out, {call.dtype(0), to});
}

// --- Pools over boxes ---------------------------------------------------------------------------

void LargestOfBoxes(Call& call) {
  const std::vector<std::int64_t> size =
      call.integers("pooled_shape").value_or(std::vector<std::int64_t>());
  if (size.size() != 2) Call::GiveUp("no pooled_shape");
  const std::vector<Tensor> out =
      call.EmitMany("torchvision::roi_pool", 2, call.tensor(0), call.tensor(1),
                    call.real("spatial_scale", 1), size[0], size[1]);
  call.Give(out[0], {call.dtype(0),
                     {call.shape(1).at(0), call.shape(0).at(1), Dim(size[0]), Dim(size[1])}});
}

// torchvision's boxes begin with the index of their image. It has the means of samples of a bin;
// for the largest, each sample is a bin of its own, of which a pool takes the largest.
void SamplesOfBoxes(Call& call) {
  const std::int64_t height = call.integer("output_height", 1),
                     width = call.integer("output_width", 1);
  const bool aligned =
      call.text("coordinate_transformation_mode",
                call.opset() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const Tensor column = call.Emit("aten::unsqueeze", call.tensor(2), 1);
  const Tensor image = call.Emit("aten::to.dtype", column, call.dtype(1));
  const Tensor boxes = call.Emit("aten::cat", std::vector<Tensor>{image, call.tensor(1)}, 1);
  const std::int64_t samples = call.integer("sampling_ratio", 0);
  const bool largest = call.text("mode", "avg") == "max";
  if (largest && samples < 1) Call::GiveUp("the largest of as many samples as a box has pixels");
  const std::int64_t each = largest ? samples : 1;
  const Dim rows = call.sizes().Product(Dim(height), Dim(each)),
            columns = call.sizes().Product(Dim(width), Dim(each));
  Tensor out =
      call.Emit("torchvision::roi_align", call.tensor(0), boxes, call.real("spatial_scale", 1),
                rows, columns, largest ? 1 : samples, aligned);
  if (largest) {
    const Builder::Shape bin{each, each};
    out = call.Emit("aten::max_pool2d", out, bin, bin, Builder::Shape{0, 0}, Builder::Shape{1, 1},
                    false);
  }
  call.Give(out,
            {call.dtype(0), {call.shape(1).at(0), call.shape(0).at(1), Dim(height), Dim(width)}});
}

constexpr std::array kRows{
    OpRow{"AveragePool", 1, MeanOfWindows},
    OpRow{"CausalConvWithState", 27, CausalConvolution},
    OpRow{"Conv", 1, Convolution},
    OpRow{"ConvTranspose", 1, TransposedConvolution},
    OpRow{"DeformConv", 19, DeformedConvolution},
    OpRow{"GlobalAveragePool", 1, MeanOfImage},
    OpRow{"GlobalLpPool", 1, NormOfImage},
    OpRow{"GlobalMaxPool", 1, LargestOfImage},
    OpRow{"LpPool", 1, NormOfWindows},
    OpRow{"MaxPool", 1, LargestOfWindows},
    OpRow{.name = "MaxUnpool", .since = 9, .translate = BackToPlaces, .settings = 0b100},
    OpRow{"MaxRoiPool", 1, LargestOfBoxes},
    OpRow{"RoiAlign", 10, SamplesOfBoxes},
};

}  // namespace

std::span<const OpRow> WindowRows() { return kRows; }

}  // namespace steelyard::onnx
