// SPDX-License-Identifier: Apache-2.0
//
// Which kernel convolves depends on dtype, sizes and number of threads; before it runs, the
// operands are made dense in its memory format (ATen/native/Convolution.cpp).

#include "ops/convolve.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/layout.h"
#include "ops/cuda/capability.h"
#include "ops/rules/convolution.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops::convolve {
namespace {

using convolution::Geometry;
using convolution::SpatialRank;

bool AnyNot(std::int64_t usual, const Dims& list) {
  return std::ranges::any_of(std::span<const std::int64_t>(list),
                             [usual](auto v) { return v != usual; });
}

// Images from this batch size on, and images of more elements than this, go to oneDNN
// (Convolution.cpp, ConvParams::use_mkldnn).
constexpr std::int64_t kOneDnnBatch = 16;
constexpr std::int64_t kOneDnnElements = 20480;
// A kernel larger than this in its last two dimensions does too.
constexpr std::int64_t kOneDnnKernel = 3;

bool UsesOneDnn(const Tensor& input, const Tensor& weight, const Geometry& g, int threads) {
  if (input.size(0) == 0) return false;
  if (input.dtype() == DType::kBFloat16) return true;
  if (input.dtype() != DType::kFloat32) return false;
  const std::int64_t width = weight.size(-1), height = weight.size(-2);
  const bool worth = AnyNot(1, g.stride) || AnyNot(1, g.dilation) ||
                     input.size(0) >= kOneDnnBatch || width != 1 || height != 1 || threads > 1;
  if (!worth) return false;
  if (g.groups > 1 || (width > kOneDnnKernel && height > kOneDnnKernel) || input.size(0) > 1)
    return true;
  const Count elements = work::Elements(input.sizes().first(4));
  return elements.overflowed() || elements.value() > kOneDnnElements;
}

// More groups than this can only come from a damaged file.
constexpr std::int64_t kMostGroups = 1 << 16;

// The numbers c10::MemoryFormat has for the two formats of images.
constexpr std::int64_t kChannelsLast2d = 2;
constexpr std::int64_t kChannelsLast3d = 3;

// Where cuDNN's kernels of half precision are faster than PyTorch's own of a convolution channel by
// channel (use_cudnn_depthwise and check_cudnn_depthwise_workload_with_filter in
// aten/src/ATen/native/Convolution.cpp).
bool IsDepthwiseByCudnn(const Tensor& input, const Tensor& weight, const Geometry& g) {
  constexpr std::int64_t kFewestChannels = 32, kLeastWidth = 7;
  const std::int64_t batch = input.size(0), channels = input.size(1), width = input.size(3);
  const bool is_row = input.size(2) == 1;
  if (input.dtype() != DType::kFloat16 || weight.dtype() != DType::kFloat16 ||
      channels < kFewestChannels || AnyNot(1, g.dilation) ||
      (g.stride[0] != g.stride[1] && !is_row)) {
    return false;
  }
  const std::int64_t stride = g.stride[1], window = weight.size(3);
  if (is_row && stride == 1) return true;
  const bool known = window == 1 || window == 3 || window == 5;
  if (weight.size(2) != window || !known || width < kLeastWidth) return false;
  if (stride != 2) return stride == 1;
  if (batch == 1) return window > 1 || width <= 28;
  if (window == 1) return batch <= 16 && channels >= 128 && width <= kLeastWidth;
  return channels >= 512 || (channels >= 256 && width >= 28);
}

}  // namespace

Backend ChooseBackend(const Tensor& input, const Tensor& weight, const Geometry& g, int threads) {
  if (UsesOneDnn(input, weight, g, threads)) return Backend::kOneDnn;
  if (AnyNot(1, g.dilation)) return Backend::kSlowDilated;
  return weight.rank() == 5 ? Backend::kSlow3d : Backend::kSlow2d;
}

std::int64_t FormatFor(Backend backend, const Tensor& input, const Tensor& weight) {
  // PyTorch's own kernels for volumes know one format.
  if (backend != Backend::kOneDnn && weight.rank() == 5) return kContiguousFormat;
  if (!convolution::UsesChannelsLast(input.view(), weight.view())) return kContiguousFormat;
  return input.rank() == 5 ? kChannelsLast3d : kChannelsLast2d;
}

std::int64_t CudaFormatFor(const Tensor& input, const Tensor& weight) {
  // cuDNN has no kernels of double precision for other orders (cudnn_conv_suggest_memory_format).
  if (input.dtype() == DType::kFloat64 || weight.dtype() == DType::kFloat64) {
    return kContiguousFormat;
  }
  return FormatFor(Backend::kOneDnn, input, weight);
}

bool IsDepthwiseOnCuda(const Tensor& input, const Tensor& weight, const Geometry& g, bool cudnn) {
  constexpr int kImageRank = 4, kVolumeRank = 5;
  const bool has_kernel = input.rank() == kImageRank || input.rank() == kVolumeRank;
  const bool by_channel =
      has_kernel && g.groups > 1 && input.size(1) == g.groups && weight.size(0) % g.groups == 0;
  if (!by_channel || !cudnn) return by_channel;
  return CudaFormatFor(input, weight) == kContiguousFormat && !IsDepthwiseByCudnn(input, weight, g);
}

bool HasCudnn(const Target& target, const Tensor& input, const Tensor& weight) {
  const bool is_short = input.dtype() == DType::kBFloat16 || weight.dtype() == DType::kBFloat16;
  return !is_short || target.capability >= cuda::kAmpere;
}

Backend BackendWithoutCudnn(const Tensor& weight, const Geometry& g) {
  const bool is_plain = weight.rank() == 4 && !AnyNot(1, g.dilation);
  return is_plain ? Backend::kSlow2d : Backend::kSlowDilated;
}

Tensor Part(Dispatcher& d, const Tensor& t, int dim, std::int64_t index, std::int64_t parts) {
  if (!t.defined()) return {};
  const std::int64_t length = t.size(dim) / parts;
  const bool last = t.rank() >= 4 && IsChannelsLast(t.sizes(), t.strides());
  const std::int64_t format = t.rank() == 5 ? kChannelsLast3d : kChannelsLast2d;
  return d.Call("aten::contiguous", d.Call("aten::narrow", t, dim, index * length, length),
                last ? format : kContiguousFormat);
}

void AddRow(Geometry& g) {
  g.stride.insert(0, 1);
  g.padding.insert(0, 0);
  g.dilation.insert(0, 1);
}

void RequireOfConvolution(const OpView& op) {
  const int rank = op.tensor(2).rank();
  if (rank >= 3 && op.tensor(0).rank() == rank && op.tensor(1).rank() == rank) return;
  Refuse(fmt::format("no convolution of {} by {} has a result as {}", shape::Text(op.tensor(1)),
                     shape::Text(op.tensor(2)), shape::Text(op.tensor(0))));
}

void RequireFewGroups(std::int64_t groups) {
  if (groups > kMostGroups) Refuse(fmt::format("{} groups are too many", groups));
}

namespace {

Tensor CallSlow(Dispatcher& d, Backend backend, const Tensor& input, const Tensor& weight,
                const Tensor& bias, const Geometry& g) {
  const Dims kernel(window::Spatial(weight.sizes()));
  switch (backend) {
    case Backend::kSlow3d:
      return d.Call("aten::slow_conv3d_forward", input, weight, kernel, bias, g.stride, g.padding);
    case Backend::kSlowDilated:
      return weight.rank() == 5 ? d.Call("aten::slow_conv_dilated3d", input, weight, kernel, bias,
                                         g.stride, g.padding, g.dilation)
                                : d.Call("aten::slow_conv_dilated2d", input, weight, kernel, bias,
                                         g.stride, g.padding, g.dilation);
    case Backend::kSlow2d:
    case Backend::kOneDnn:
      return d.Call("aten::_slow_conv2d_forward", input, weight, kernel, bias, g.stride, g.padding);
  }
  __builtin_unreachable();
}

// The plain kernels know no groups: each is convolved on its own, then they are put together.
Tensor CallSlowInGroups(Dispatcher& d, Backend backend, const Tensor& input, const Tensor& weight,
                        const Tensor& bias, const Geometry& g) {
  if (g.groups == 1) return CallSlow(d, backend, input, weight, bias, g);
  RequireFewGroups(g.groups);
  std::vector<Tensor> outputs;
  for (std::int64_t i = 0; i < g.groups; ++i) {
    const Tensor input_part = Part(d, input, 1, i, g.groups);
    const Tensor weight_part = Part(d, weight, 0, i, g.groups);
    outputs.push_back(
        CallSlow(d, backend, input_part, weight_part, Part(d, bias, 0, i, g.groups), g));
  }
  return d.Call("aten::cat", outputs, 1);
}

// PyTorch's own kernels transpose the groups one by one.
Tensor CallSlowTransposed(Dispatcher& d, const Tensor& input, const Tensor& weight,
                          const Tensor& bias, const Geometry& g, const Dims& extra) {
  const Dims kernel(window::Spatial(weight.sizes()));
  const auto call = [&](const Tensor& image, const Tensor& of_image, const Tensor& added) {
    if (weight.rank() == 5) {
      return d.Call("aten::slow_conv_transpose3d", image, of_image, kernel, added, g.stride,
                    g.padding, extra, g.dilation);
    }
    return d.Call("aten::slow_conv_transpose2d", image, of_image, kernel, added, g.stride,
                  g.padding, extra, g.dilation);
  };
  if (g.groups == 1) return call(input, weight, bias);
  if (g.groups > kMostGroups) Refuse(fmt::format("{} groups are too many", g.groups));
  std::vector<Tensor> outputs;
  for (std::int64_t i = 0; i < g.groups; ++i) {
    const Tensor image = Part(d, input, 1, i, g.groups);
    const Tensor of_image = Part(d, weight, 0, i, g.groups);
    outputs.push_back(call(image, of_image, Part(d, bias, 0, i, g.groups)));
  }
  return d.Call("aten::cat", outputs, 1);
}

void AddBias(Dispatcher& d, const Tensor& out, const Tensor& bias);

Tensor CallTransposed(Dispatcher& d, const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const Geometry& g, const Dims& extra, bool cudnn) {
  const bool on_cuda = d.target().device == Device::kCuda;
  if (on_cuda && cudnn) {
    const Tensor image = d.Call("aten::contiguous", input, CudaFormatFor(input, weight));
    d.NoteEstimate(kCudnnEstimated);
    Tensor out = d.Call("steelyard::transposed_convolution", image, weight, Tensor(), g.stride,
                        g.padding, extra, g.dilation, g.groups);
    AddBias(d, out, bias);
    return out;
  }
  const bool fits = weight.rank() >= 4 && input.rank() == weight.rank() && g.groups > 0 &&
                    input.size(1) % g.groups == 0;
  const bool slow = fits && (on_cuda || !UsesOneDnn(input, weight, g, d.target().threads));
  const std::int64_t format =
      on_cuda ? kContiguousFormat
              : FormatFor(slow ? Backend::kSlow2d : Backend::kOneDnn, input, weight);
  const Tensor image = d.Call("aten::contiguous", input, format);
  const Tensor of_image = d.Call("aten::contiguous", weight, format);
  if (slow) {
    Tensor out = CallSlowTransposed(d, image, of_image, bias, g, extra);
    // PyTorch makes the result of the image's size and resizes it, which keeps a larger storage.
    if (weight.rank() == 5 && out.count() < input.count()) d.NoteEstimate(kEstimated);
    return out;
  }
  const Tensor added = bias.defined() ? d.Call("aten::contiguous", bias) : bias;
  Tensor out = d.Call("steelyard::transposed_convolution", image, of_image, added, g.stride,
                      g.padding, extra, g.dilation, g.groups);
  if (convolution::TransposedBuffers(image.view(), of_image.view(), out.sizes(), g, bias.defined(),
                                     d.target())
          .estimated) {
    d.NoteEstimate(kEstimated);
  }
  return out;
}

// Biases of channels, added in place.
void AddBias(Dispatcher& d, const Tensor& out, const Tensor& bias) {
  if (!bias.defined()) return;
  Dims sizes = Dims::Filled(out.rank(), 1);
  sizes[1] = bias.size(0);
  d.Call("aten::add_.Tensor", out, d.Call("aten::reshape", bias, sizes));
}

Tensor CallByChannel(Dispatcher& d, const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Geometry& g) {
  const OpName kernel =
      input.rank() == 4 ? OpName("aten::_conv_depthwise2d") : OpName("aten::conv_depthwise3d");
  return d.Call(kernel, d.Call("aten::contiguous", input), weight,
                Dims(window::Spatial(weight.sizes())), bias, g.stride, g.padding, g.dilation);
}

Tensor CallCudnn(Dispatcher& d, Tensor input, const Tensor& weight, const Tensor& bias,
                 const Geometry& g) {
  const std::int64_t format = CudaFormatFor(input, weight);
  input = d.Call("aten::contiguous", input, format);
  d.NoteEstimate(kCudnnEstimated);
  Tensor out = d.Call("aten::cudnn_convolution", input, weight, g.padding, g.stride, g.dilation,
                      g.groups, false, false, false);
  AddBias(d, out, bias);
  return out;
}

Tensor CallOneDnn(Dispatcher& d, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Geometry& g) {
  Tensor out = d.Call("aten::mkldnn_convolution", input, weight, bias, g.padding, g.stride,
                      g.dilation, g.groups);
  if (convolution::ForwardBuffers(input.view(), weight.view(), out.sizes(), g, bias.defined(),
                                  d.target())
          .estimated) {
    d.NoteEstimate(kEstimated);
  }
  return out;
}

// Of no images nothing is computed; the weight is made dense all the same.
Tensor OfNone(Dispatcher& d, const Tensor& input, const Tensor& weight, const Geometry& g) {
  const window::Window kernel{.kernel = Dims(window::Spatial(weight.sizes())),
                              .stride = g.stride,
                              .padding = g.padding,
                              .dilation = g.dilation};
  Dims sizes{0, weight.size(0)};
  for (const auto size : window::OutputSizes(window::Spatial(input.sizes()), kernel)) {
    sizes.push_back(size);
  }
  const std::int64_t format = FormatFor(Backend::kOneDnn, input, weight);
  const Tensor dense = d.Call("aten::contiguous", weight, format);
  return d.Call("aten::new_empty", input, sizes);
}

struct Parts {
  Tensor real, imaginary;
};
Parts PartsOf(Dispatcher& d, const Tensor& t) {
  const Tensor pairs = d.Call("aten::view_as_real", d.Call("aten::resolve_conj", t));
  const int last = pairs.rank() - 1;
  Tensor real = d.Call("aten::select.int", pairs, last, 0);
  return {std::move(real), d.Call("aten::select.int", pairs, last, 1)};
}

// A convolution, of complex numbers by three of real ones: of the real parts, of the imaginary ones
// and of their sums (complex_convolution).
template <class Convolve>
Tensor Convolved(Dispatcher& d, const Tensor& input, const OpView& op, const Convolve& convolve) {
  const Tensor weight = d.tensor(op, 1), bias = d.tensor(op, 2);
  if (!IsComplex(input.dtype())) return convolve(input, weight, bias);
  const auto add = [&](const Parts& p) {
    return p.real.defined() ? d.Call("aten::add.Tensor", p.real, p.imaginary) : Tensor();
  };
  const Parts x = PartsOf(d, input), w = PartsOf(d, weight);
  const Parts b = bias.defined() ? PartsOf(d, bias) : Parts();
  const Tensor of_real = convolve(x.real, w.real, b.real);
  const Tensor of_imaginary = convolve(x.imaginary, w.imaginary, Tensor());
  Tensor of_sums;
  {
    const Tensor biases = add(b), weights = add(w), images = add(x);
    of_sums = convolve(images, weights, biases);
  }
  const Tensor less = d.Call("aten::sub.Tensor", of_sums, of_real);
  const Tensor both = d.Call("aten::sub.Tensor", less, of_imaginary);
  const Tensor imaginary = d.Call("steelyard::times_imaginary", both);
  const Tensor real = d.Call("aten::sub.Tensor", of_real, of_imaginary);
  return d.Call("aten::add.Tensor", real, imaginary);
}

// Runs `convolve` on an image that may come without a batch dimension.
template <class Convolve>
Tensor WithBatch(Dispatcher& d, const Tensor& input, int rank, const Convolve& convolve) {
  if (input.rank() == rank - 1) {
    return d.Call("aten::squeeze.dim", convolve(d.Call("aten::unsqueeze", input, 0)), 0);
  }
  if (input.rank() != rank) {
    Refuse(
        fmt::format("a convolution over {} dimensions of {}", rank - 2, shape::Text(input.view())));
  }
  return convolve(input);
}

// "same" keeps the image's size; where that takes an odd number of pixels, the last side is padded
// before the convolution.
Tensor ConvolveSame(Dispatcher& d, const OpView& op, int n) {
  const TensorView weight = op.tensor(1);
  const Tensor input = d.tensor(op, 0);
  const Dims dilation = window::PerDimension("dilation", op.ints(5), n);
  if (AnyNot(1, window::PerDimension("stride", op.ints(3), n))) {
    Refuse("padding 'same' needs a stride of 1");
  }
  Dims padding, before_and_after = Dims::Filled(2 * n, 0);
  bool uneven = false;
  for (int i = 0; i < n; ++i) {
    const Count total = Count(dilation[i]) * (weight.size(i + 2) - 1);
    if (total.overflowed()) Contradict(fmt::format("a dilation of {}", dilation[i]));
    padding.push_back(total.value() / 2);
    // The list of `constant_pad_nd` starts with the last dimension.
    before_and_after[2 * (n - 1 - i) + 1] = total.value() % 2;
    uneven = uneven || total.value() % 2 != 0;
  }
  const Tensor padded = uneven ? d.Call("aten::constant_pad_nd", input, before_and_after) : input;
  return d.Call("aten::convolution", padded, op.arg(1), op.arg(2), op.arg(3), padding, dilation,
                false, Dims::Filled(n, 0), op.arg(6));
}

}  // namespace

// _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups,
// ...).
std::vector<Tensor> Choose(Dispatcher& d, const OpView& op) {
  Tensor input = d.tensor(op, 0), weight = d.tensor(op, 1), bias = d.tensor(op, 2);
  const int n = SpatialRank(weight.view());
  Geometry g{.stride = window::PerDimension("stride", op.ints(3), n),
             .padding = window::PerDimension("padding", op.ints(4), n),
             .dilation = window::PerDimension("dilation", op.ints(5), n),
             .groups = op.integer(8)};
  const bool transposed = op.boolean(6);
  Dims extra;
  if (transposed) {
    extra = window::PerDimension("output padding", op.ints(7), n);
  } else {
    convolution::RequireOperands(input.view(), weight.view(),
                                 bias.defined() ? bias.view() : op.tensor(2), g.groups);
  }
  const bool one_dimensional = n == 1 && input.rank() == 3;
  if (one_dimensional) {
    input = d.Call("aten::contiguous", input);
    AddRow(g);
    extra.insert(0, 0);
    input = d.Call("aten::unsqueeze", input, 2);
    weight = d.Call("aten::unsqueeze", weight, 2);
  }
  const auto finish = [&](const Tensor& out) {
    return one_dimensional ? d.Call("aten::squeeze.dim", out, 2) : out;
  };
  const bool on_cuda = d.target().device == Device::kCuda,
             cudnn = op.boolean(11) && HasCudnn(d.target(), input, weight);
  if (transposed) return {finish(CallTransposed(d, input, weight, bias, g, extra, cudnn))};
  if (input.size(0) == 0) return {finish(OfNone(d, input, weight, g))};
  if (on_cuda && IsDepthwiseOnCuda(input, weight, g, cudnn))
    return {finish(CallByChannel(d, input, weight, bias, g))};
  if (on_cuda && cudnn) return {finish(CallCudnn(d, input, weight, bias, g))};
  const Backend backend = on_cuda ? BackendWithoutCudnn(weight, g)
                                  : ChooseBackend(input, weight, g, d.target().threads);
  // Groups and copies of volumes are the kernel's own.
  if (backend == Backend::kSlow3d) return {CallSlow(d, backend, input, weight, bias, g)};
  const std::int64_t format = on_cuda ? kContiguousFormat : FormatFor(backend, input, weight);
  input = d.Call("aten::contiguous", input, format);
  weight = d.Call("aten::contiguous", weight, format);
  if (bias.defined() && !on_cuda) bias = d.Call("aten::contiguous", bias);
  const Tensor out = backend == Backend::kOneDnn
                         ? CallOneDnn(d, input, weight, bias, g)
                         : CallSlowInGroups(d, backend, input, weight, bias, g);
  return {finish(out)};
}

std::vector<Tensor> Any(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::_convolution", op.arg(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4),
                 op.arg(5), op.arg(6), op.arg(7), op.arg(8), false, false, /*cudnn_enabled=*/true,
                 false)};
}

// convNd(input, weight, bias, stride, padding, dilation, groups).
std::vector<Tensor> OfRank(Dispatcher& d, const OpView& op, int rank) {
  const auto one = [&](const Tensor& image, const Tensor& weight, const Tensor& bias) {
    return d.Call("aten::convolution", image, weight, bias, op.arg(3), op.arg(4), op.arg(5), false,
                  Dims::Filled(rank, 0), op.arg(6));
  };
  const auto convolve = [&](const Tensor& image) { return Convolved(d, image, op, one); };
  return {WithBatch(d, d.tensor(op, 0), rank + 2, convolve)};
}

// _convolution_mode and convNd.padding(input, weight, bias, stride, padding, dilation, groups): the
// padding is "same" or "valid".
std::vector<Tensor> Mode(Dispatcher& d, const OpView& op) {
  const int rank = SpatialRank(op.tensor(1));
  if (rank < 1 || rank > 3) Refuse(fmt::format("a convolution over {} dimensions", rank));
  const std::string_view mode = op.given(4) ? op.text(4) : "valid";
  const bool same = mode.find("same") != std::string_view::npos;
  if (!same && mode.find("valid") == std::string_view::npos)
    Refuse(fmt::format("padding '{}'", mode));
  if (same) return {ConvolveSame(d, op, rank)};
  const Dims none = Dims::Filled(rank, 0);
  return {d.Call("aten::convolution", op.arg(0), op.arg(1), op.arg(2), op.arg(3), none, op.arg(5),
                 false, none, op.arg(6))};
}

std::vector<Tensor> ByName(Dispatcher& d, const OpView& op, int rank) {
  const auto one = [&](const Tensor& image, const Tensor& weight, const Tensor& bias) {
    return d.Call("aten::_convolution_mode", image, weight, bias, op.arg(3), op.arg(4), op.arg(5),
                  op.arg(6));
  };
  const auto convolve = [&](const Tensor& image) { return Convolved(d, image, op, one); };
  return {WithBatch(d, d.tensor(op, 0), rank + 2, convolve)};
}

// conv_transposeNd(input, weight, bias, stride, padding, output_padding, groups, dilation).
std::vector<Tensor> Transposed(Dispatcher& d, const OpView& op, int rank) {
  const auto one = [&](const Tensor& image, const Tensor& weight, const Tensor& bias) {
    return d.Call("aten::convolution", image, weight, bias, op.arg(3), op.arg(4), op.arg(7), true,
                  op.arg(5), op.arg(6));
  };
  const auto convolve = [&](const Tensor& image) { return Convolved(d, image, op, one); };
  return {WithBatch(d, d.tensor(op, 0), rank + 2, convolve)};
}

}  // namespace steelyard::ops::convolve
