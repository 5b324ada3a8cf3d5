// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels of convolutions: what they allocate follows ATen/native/mkldnn/Conv.cpp,
// ConvolutionMM2d.cpp, ConvolutionMM3d.cpp and NaiveDilatedConvolution.cpp. All take the gradient
// first and a mask of the gradients that are wanted: of the image, the weight and the bias.

#include "ops/gradients/convolution_backward.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/layout.h"
#include "ops/convolution_tbc.h"
#include "ops/convolve.h"
#include "ops/convolve_backward.h"
#include "ops/cuda/slow_convolution.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/convolution.h"
#include "ops/rules/kernel.h"
#include "ops/rules/label.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/onednn.h"
#include "ops/rules/onednn_backward.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using convolution::Geometry;
using convolution::SpatialRank;
using Scratch = Allocations::Scratch;
using Copy = std::optional<Scratch>;

constexpr std::string_view kCaller = Allocations::kCaller;

enum Result { kImage, kWeight, kBias };

TensorView Input(const OpView& op) { return op.tensor(1); }
TensorView Weight(const OpView& op) { return op.tensor(2); }
bool Wants(const OpView& op, Result result) {
  const std::vector<std::int64_t> mask = op.integers(op.arg_count() - 1);
  return static_cast<std::size_t>(result) < mask.size() && mask[result] != 0;
}

// --- What all of them do -------------------------------------------------------------------------

// (grad_output, self, weight, kernel_size, stride, padding, ...)
Geometry SlowGeometry(const OpView& op) {
  const int n = SpatialRank(Weight(op));
  return {.stride = window::PerDimension("stride", op.ints(4), n),
          .padding = window::PerDimension("padding", op.ints(5), n),
          .dilation = Dims::Filled(n, 1)};
}

// Output channels: of a transposed convolution they are the weight's second dimension.
enum class Way : std::uint8_t { kForth, kBack };
std::int64_t BiasSize(const OpView& op, Way way, std::int64_t groups) {
  return way == Way::kForth ? Weight(op).size(0) : Weight(op).size(1) * groups;
}

// The weight's gradient in this order, the image's in that of the kernel.
void AddGradients(const OpView& op, const Dims& image, const Dims& weight, bool wants_weight,
                  std::int64_t bias, Outputs& out) {
  convolve::RequireOfConvolution(op);
  Wants(op, kImage) ? out.Add(Input(op).dtype(), Input(op).sizes(), image) : out.AddNone();
  wants_weight ? out.Add(Weight(op).dtype(), Weight(op).sizes(), weight) : out.AddNone();
  Wants(op, kBias) ? out.Add(Weight(op).dtype(), Dims{bias}) : out.AddNone();
}

Dims StridesIn(bool channels_last, const TensorView& t) {
  const Dims sizes(t.sizes());
  return channels_last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes);
}

bool UsesChannelsLast(const OpView& op) {
  return convolution::UsesChannelsLast(Input(op), Weight(op));
}

// oneDNN gives the bias's gradient only with the weight's.
bool WantsProduct(const OpView& op) { return Wants(op, kWeight) || Wants(op, kBias); }

// (grad_output, input, weight, stride, padding, dilation, groups, output_mask)
Geometry OneDnnGeometry(const OpView& op) {
  const int n = SpatialRank(Weight(op));
  return {.stride = window::PerDimension("stride", op.ints(3), n),
          .padding = window::PerDimension("padding", op.ints(4), n),
          .dilation = window::PerDimension("dilation", op.ints(5), n),
          .groups = op.integer(6)};
}

template <Way kWay>
void OneDnnShape(const OpView& op, Outputs& out) {
  // A transposed convolution goes from the result of one to its image.
  const bool forth = kWay == Way::kForth;
  const Geometry geometry = OneDnnGeometry(op);
  convolution::RequireGradient(op.tensor(forth ? 0 : 1), op.tensor(forth ? 1 : 0), Weight(op),
                               geometry);
  const bool last = UsesChannelsLast(op);
  AddGradients(op, StridesIn(last, Input(op)), StridesIn(last, Weight(op)), WantsProduct(op),
               BiasSize(op, kWay, geometry.groups), out);
}

template <Way kWay>
void SlowShape(const OpView& op, Outputs& out) {
  const bool on_cuda = op.target().device == Device::kCuda;
  AddGradients(
      op, StridesIn(!on_cuda && UsesChannelsLast(op), Input(op)),
      on_cuda ? StridesIn(false, Weight(op)) : window::StridesLike(Weight(op), Weight(op).sizes()),
      Wants(op, kWeight), BiasSize(op, kWay, 1), out);
}

// The weight's gradient in the order of the image.
void DilatedShape(const OpView& op, Outputs& out) {
  const bool last = op.target().device == Device::kCpu && UsesChannelsLast(op);
  AddGradients(op, StridesIn(last, Input(op)), StridesIn(last, Weight(op)), Wants(op, kWeight),
               BiasSize(op, Way::kForth, 1), out);
}

template <Way kWay>
void Slow3dShape(const OpView& op, Outputs& out) {
  AddGradients(op, StridesIn(false, Input(op)), StridesIn(false, Weight(op)), Wants(op, kWeight),
               BiasSize(op, kWay, 1), out);
}

// Either product multiplies every pixel of the gradient, of a transposed convolution of the image,
// with a kernel and the channels of its group; the bias is a sum.
template <Way kWay>
Work GradientsWork(const OpView& op) {
  const TensorView weight = Weight(op);
  const Count pixels = work::Elements(kWay == Way::kForth ? op.self() : Input(op));
  const Count each = pixels * weight.size(1) * work::Elements(window::Spatial(weight.sizes()));
  Work w;
  if (Wants(op, kImage)) w.mac += each;
  if (Wants(op, kWeight)) w.mac += each;
  if (Wants(op, kBias)) w.alu = work::Elements(op.self());
  return w;
}

// --- steelyard::onednn_convolution_backward ------------------------------------------------------

onednn::Convolution OneDnnProblem(const OpView& op, const Geometry& g) {
  return {.source = Input(op).sizes(),
          .weight = Weight(op).sizes(),
          .result = op.self().sizes(),
          .stride = g.stride,
          .padding = g.padding,
          .dilation = g.dilation,
          .groups = g.groups,
          .dtype = Input(op).dtype(),
          .has_bias = Wants(op, kBias),
          .channels_last = UsesChannelsLast(op)};
}

void ImageGradientAllocations(const OpView& op, const onednn::Convolution& c, Allocations& memory) {
  const onednn::ImageGradientBuffers buffers = onednn::BuffersOfImageGradient(c, op.target());
  if (c.channels_last) memory.Output(kImage, "aten::resize_");
  const Scratch given = memory.Allocate(buffers.given, kCaller);
  const Scratch weight = memory.Allocate(buffers.weight, kCaller);
  const Scratch image = memory.Allocate(buffers.image, kCaller);
  memory.Free(memory.Allocate(buffers.scratch, kCaller), kCaller);
  memory.Free(weight, kCaller);
  memory.Free(given, kCaller);
  if (!c.channels_last) {
    const std::int64_t bytes = buffers.reordered ? Input(op).bytes() : 0;
    const Scratch plain = memory.Allocate(bytes, "aten::empty");
    memory.Output(kImage, "aten::empty");
    memory.Free(plain, kCaller);
  }
  memory.Free(image, kCaller);
}

void AllocateWeightGradient(const OpView& op, const onednn::WeightGradientBuffers& buffers,
                            bool channels_last, Allocations& memory) {
  const Scratch given = memory.Allocate(buffers.given, kCaller);
  const Scratch source = memory.Allocate(buffers.source, kCaller);
  const Scratch weight = memory.Allocate(buffers.weight, kCaller);
  const Scratch scratch = memory.Allocate(buffers.scratch, kCaller);
  const Scratch bias = memory.Allocate(buffers.bias, kCaller);
  for (const Scratch buffer : {scratch, source, given}) memory.Free(buffer, kCaller);
  if (Wants(op, kBias)) memory.Output(kBias, "aten::empty");
  // The result in row-major order, then in the image's.
  const std::int64_t bytes = channels_last ? Weight(op).bytes() : 0;
  const Scratch plain = memory.Allocate(bytes, "aten::empty");
  memory.Output(kWeight, "aten::empty");
  memory.Free(plain, kCaller);
  if (buffers.plain) memory.Free(memory.Allocate(Weight(op).bytes(), "aten::empty"), kCaller);
  for (const Scratch buffer : {weight, bias}) memory.Free(buffer, kCaller);
}

void OneDnnAllocations(const OpView& op, Allocations& memory) {
  const Geometry geometry = OneDnnGeometry(op);
  const onednn::Convolution c = OneDnnProblem(op, geometry);
  if (Wants(op, kImage)) ImageGradientAllocations(op, c, memory);
  if (!WantsProduct(op)) return;
  AllocateWeightGradient(op, onednn::BuffersOfWeightGradient(c, op.target()), c.channels_last,
                         memory);
}

// --- steelyard::onednn_transposed_backward -------------------------------------------------------

// The same of a transposed convolution, which is the way back of one from the gradient to the
// image.

onednn::Convolution WayForth(const OpView& op, const Geometry& g) {
  onednn::Convolution c = OneDnnProblem(op, g);
  std::swap(c.source, c.result);
  c.has_bias = false;
  return c;
}

// A kernel within another one: its scratch is one of the other's.
std::int64_t Nested(std::int64_t scratch) {
  constexpr std::int64_t kGap = 128;
  return scratch == 0 ? 0 : scratch + kGap;
}

void TransposedImageAllocations(const OpView& op, const onednn::Convolution& c,
                                Allocations& memory) {
  const onednn::Buffers buffers = onednn::ForwardBuffers(c, op.target());
  if (c.channels_last) memory.Output(kImage, "aten::resize_");
  const Scratch given = memory.Allocate(buffers.source, kCaller);
  const Scratch weight = memory.Allocate(buffers.weight, kCaller);
  const Scratch image = memory.Allocate(buffers.result, kCaller);
  memory.Free(memory.Allocate(Nested(buffers.scratch), kCaller), kCaller);
  memory.Free(weight, kCaller);
  memory.Free(given, kCaller);
  if (!c.channels_last) {
    const std::int64_t bytes = buffers.result_last ? Input(op).bytes() : 0;
    const Scratch plain = memory.Allocate(bytes, "aten::empty");
    memory.Output(kImage, "aten::empty");
    memory.Free(plain, kCaller);
  }
  memory.Free(image, kCaller);
}

void OneDnnTransposedAllocations(const OpView& op, Allocations& memory) {
  const Geometry geometry = OneDnnGeometry(op);
  const onednn::Convolution c = WayForth(op, geometry);
  if (Wants(op, kImage)) TransposedImageAllocations(op, c, memory);
  if (!WantsProduct(op)) return;
  onednn::WeightGradientBuffers buffers = onednn::BuffersOfWeightGradient(c, op.target());
  std::swap(buffers.given, buffers.source);
  buffers.scratch = Nested(buffers.scratch);
  buffers.bias = Wants(op, kBias) ? op.output(kBias).bytes() : 0;
  AllocateWeightGradient(op, buffers, c.channels_last, memory);
}

// --- Products over gathered windows --------------------------------------------------------------

// Every window of `images` images as a column of one matrix.
std::int64_t ColumnBytes(const OpView& op, std::int64_t images) {
  const Count window = work::Elements(window::Spatial(Weight(op).sizes())) * Input(op).size(1);
  const Count pixels = work::Elements(window::Spatial(op.self().sizes()));
  return allocations::Bytes(window * pixels * images, Weight(op).dtype());
}

// A copy of the gradient in the order in which the kernel computes.
Copy DenseGradient(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self();
  if (LiesDense(gradient, UsesChannelsLast(op))) return std::nullopt;
  return memory.Allocate(gradient.bytes(), "aten::empty");
}

void SumGradient(const OpView& op, Allocations& memory) {
  memory.Output(kBias, "aten::sum");
  allocations::SumScratch(op.self(), op.output(kBias).count(), memory);
}

void SlowAllocations(const OpView& op, Allocations& memory) {
  if (Wants(op, kImage)) {
    const Copy gradient = DenseGradient(op, memory);
    memory.Output(kImage, "aten::resize_");
    allocations::Free(gradient, memory);
  }
  if (Wants(op, kBias)) SumGradient(op, memory);
  if (!Wants(op, kWeight)) return;
  memory.Output(kWeight, "aten::resize_");
  const Copy gradient = DenseGradient(op, memory);
  if (convolution::NeedsColumns(Weight(op), SlowGeometry(op))) {
    memory.Free(memory.Allocate(ColumnBytes(op, Input(op).size(0)), "aten::empty"));
  }
  allocations::Free(gradient, memory);
}

Copy RowMajor(const TensorView& t, Allocations& memory) {
  if (t.is_contiguous()) return std::nullopt;
  return memory.Allocate(t.bytes(), "aten::empty");
}
void Free(const Copy& copy, Allocations& memory) {
  if (copy) memory.Free(*copy, kCaller);
}

// Columns for either product; for the image's even of a kernel of one element.
void Slow3dAllocations(const OpView& op, Allocations& memory) {
  const std::int64_t bytes = ColumnBytes(op, Input(op).size(0));
  if (Wants(op, kImage)) {
    const Copy weight = RowMajor(Weight(op), memory), gradient = RowMajor(op.self(), memory);
    memory.Output(kImage, "aten::resize_");
    memory.Free(memory.Allocate(bytes, "aten::empty"), kCaller);
    Free(gradient, memory);
    Free(weight, memory);
  }
  if (Wants(op, kBias)) SumGradient(op, memory);
  if (!Wants(op, kWeight)) return;
  memory.Output(kWeight, "aten::resize_");
  const Copy gradient = RowMajor(op.self(), memory), image = RowMajor(Input(op), memory);
  // Windows of one pixel are the image, which is copied where groups take parts of it.
  const bool grouped = Weight(op).size(1) != Input(op).size(1);
  const bool gathers = grouped || convolution::NeedsColumns(Weight(op), SlowGeometry(op));
  const Scratch columns = memory.Allocate(gathers ? bytes : 0, "aten::empty");
  Free(image, memory);
  memory.Free(columns, kCaller);
  Free(gradient, memory);
}

// Image by image; each gives a sum that is added to the bias's gradient.
void DilatedAllocations(const OpView& op, Allocations& memory) {
  const Copy gradient = DenseGradient(op, memory);
  for (const Result result : {kImage, kWeight, kBias}) {
    if (Wants(op, result)) memory.Output(result, "aten::empty");
  }
  const bool columns = Wants(op, kImage) || Wants(op, kWeight);
  const Scratch buffer = memory.Allocate(columns ? ColumnBytes(op, 1) : 0, "aten::resize_");
  const std::int64_t sum = Wants(op, kBias) ? op.output(kBias).bytes() : 0;
  for (std::int64_t i = 0; sum > 0 && i < Input(op).size(0); ++i) {
    memory.Free(memory.Allocate(sum, "aten::sum"), kCaller);
  }
  memory.Free(buffer, kCaller);
  Free(gradient, memory);
}

// --- steelyard::slow_conv_transpose2d_backward and 3d --------------------------------------------

// One image at a time; a bias's gradient is a sum, of volumes a product.

std::int64_t TransposedColumnBytes(const OpView& op) {
  const TensorView weight = Weight(op);
  const Count window = work::Elements(window::Spatial(weight.sizes())) * weight.size(1);
  const Count pixels = work::Elements(window::Spatial(Input(op).sizes()));
  return allocations::Bytes(window * pixels, weight.dtype());
}

template <Label kColumns>
void TransposedProduct(const OpView& op, const Copy& gradient, Allocations& memory) {
  const bool gathers = convolution::NeedsColumns(Weight(op), SlowGeometry(op));
  const std::int64_t columns = gathers ? TransposedColumnBytes(op) : 0;
  memory.Free(memory.Allocate(columns, kColumns.view()), kCaller);
  Free(gradient, memory);
}

void SlowTransposedAllocations(const OpView& op, Allocations& memory) {
  if (Wants(op, kImage)) {
    const Copy gradient = DenseGradient(op, memory);
    memory.Output(kImage, "aten::resize_");
    TransposedProduct<"aten::resize_">(op, gradient, memory);
  }
  if (Wants(op, kBias)) SumGradient(op, memory);
  if (!Wants(op, kWeight)) return;
  memory.Output(kWeight, "aten::resize_");
  TransposedProduct<"aten::resize_">(op, DenseGradient(op, memory), memory);
}

void SlowTransposed3dAllocations(const OpView& op, Allocations& memory) {
  if (Wants(op, kImage)) {
    const Copy gradient = RowMajor(op.self(), memory);
    memory.Output(kImage, "aten::resize_");
    TransposedProduct<"aten::empty">(op, gradient, memory);
  }
  if (Wants(op, kWeight)) memory.Output(kWeight, "aten::resize_");
  if (Wants(op, kBias)) memory.Output(kBias, "aten::resize_");
  if (!WantsProduct(op)) return;
  TransposedProduct<"aten::empty">(op, RowMajor(op.self(), memory), memory);
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Kernel(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, DeviceAllocations allocations,
                       ShapeFn shape = SlowShape<Way::kForth>,
                       WorkFn work = GradientsWork<Way::kForth>) {
  return Kernel(Family::kConvolution, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, work, kGradientUnknown, precision::kFollow});
}

constexpr std::array kRows{
    Kernel("steelyard::onednn_convolution_backward",
           "The gradients of a convolution by oneDNN, inside `convolution_backward`.",
           "(Tensor grad_output, Tensor input, Tensor weight, SymInt[] stride, SymInt[] padding, "
           "SymInt[] dilation, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
           "steelyard::onednn_convolution_backward(f32[2,24,8,8], f32[2,20,8,8], f32[24,20,3,3], "
           "[1,1], [1,1], [1,1], 1, [True,True,True])",
           OneDnnAllocations, OneDnnShape<Way::kForth>),
    CopyingOut(Differentiable(
        gradients::kSlowBackward,
        Kernel("aten::_slow_conv2d_backward.output_mask",
               "The gradients of a convolution, as products over gathered windows.",
               "(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size, SymInt[2] "
               "stride, SymInt[2] padding, bool[3] output_mask) -> (Tensor grad_input, Tensor "
               "grad_weight, Tensor grad_bias)",
               "aten::_slow_conv2d_backward.output_mask(f32[1,5,8,8], f32[1,3,8,8], f32[5,3,3,3], "
               "[3,3], [1,1], [1,1], [True,True,True])",
               {SlowAllocations, cuda::SlowBackward}))),
    Kernel("steelyard::slow_conv3d_backward",
           "The gradients of a convolution of volumes, inside `convolution_backward`.",
           "(Tensor grad_output, Tensor self, Tensor weight, SymInt[3] kernel_size, SymInt[3] "
           "stride, SymInt[3] padding, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
           "steelyard::slow_conv3d_backward(f64[1,5,4,6,6], f64[1,3,4,6,6], f64[5,3,1,3,3], "
           "[1,3,3], [1,1,1], [0,1,1], [True,True,True])",
           Slow3dAllocations, Slow3dShape<Way::kForth>),
    Kernel("steelyard::slow_conv_dilated2d_backward",
           "The gradients of a dilated convolution, inside `convolution_backward`.",
           "(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size, SymInt[2] "
           "stride, SymInt[2] padding, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
           "steelyard::slow_conv_dilated2d_backward(f64[2,5,4,4], f64[2,3,8,8], f64[5,3,3,3], "
           "[3,3], [1,1], [0,0], [True,True,True])",
           {DilatedAllocations, cuda::SlowDilatedBackward}, DilatedShape),
    Kernel("steelyard::slow_conv_dilated3d_backward",
           "The gradients of a dilated convolution of volumes, inside `convolution_backward`.",
           "(Tensor grad_output, Tensor self, Tensor weight, SymInt[3] kernel_size, SymInt[3] "
           "stride, SymInt[3] padding, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
           "steelyard::slow_conv_dilated3d_backward(f64[2,5,4,4,4], f64[2,3,6,8,8], "
           "f64[5,3,2,3,3], [2,3,3], [1,1,1], [0,0,0], [True,True,True])",
           {DilatedAllocations, cuda::SlowDilatedBackward}, DilatedShape),
    Kernel("steelyard::onednn_transposed_backward",
           "The gradients of a transposed convolution by oneDNN, inside `convolution_backward`.",
           "(Tensor grad_output, Tensor input, Tensor weight, SymInt[] stride, SymInt[] padding, "
           "SymInt[] dilation, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
           "steelyard::onednn_transposed_backward(f32[2,24,11,11], f32[2,20,5,5], f32[20,24,3,3], "
           "[2,2], [0,0], [1,1], 1, [True,True,True])",
           OneDnnTransposedAllocations, OneDnnShape<Way::kBack>, GradientsWork<Way::kBack>),
    Kernel("steelyard::slow_conv_transpose2d_backward",
           "The gradients of a transposed convolution, inside `convolution_backward`.",
           "(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size, SymInt[2] "
           "stride, SymInt[2] padding, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
           "steelyard::slow_conv_transpose2d_backward(f64[2,6,11,11], f64[2,4,5,5], "
           "f64[4,6,3,3], [3,3], [2,2], [0,0], [True,True,True])",
           {SlowTransposedAllocations, cuda::SlowTransposedBackward}, SlowShape<Way::kBack>,
           GradientsWork<Way::kBack>),
    Kernel("steelyard::slow_conv_transpose3d_backward",
           "The gradients of a transposed convolution of volumes, inside `convolution_backward`.",
           "(Tensor grad_output, Tensor self, Tensor weight, SymInt[3] kernel_size, SymInt[3] "
           "stride, SymInt[3] padding, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
           "steelyard::slow_conv_transpose3d_backward(f64[2,6,11,11,11], f64[2,4,5,5,5], "
           "f64[4,6,3,3,3], [3,3,3], [2,2,2], [0,0,0], [True,True,True])",
           {SlowTransposed3dAllocations, cuda::SlowTransposedBackward}, Slow3dShape<Way::kBack>,
           GradientsWork<Way::kBack>),
    CopyingOut(Composite(
        "aten::convolution_backward",
        "The gradients of a convolution by the kernel that fits the operands.",
        "(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] "
        "stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
        "output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        "aten::convolution_backward(f32[2,6,9], f32[2,4,9], f32[6,2,3], [6], [1], [1], [1], "
        "False, [0], 2, [True,True,True])",
        Family::kConvolution, convolve::Backward, precision::kFollow,
        gradients::kConvolutionBackward)),
    Composite(Family::kConvolution,
              {"aten::conv_tbc_backward", "The gradients of a convolution of sequences.",
               "(Tensor self, Tensor input, Tensor weight, Tensor bias, int pad) -> (Tensor, "
               "Tensor, Tensor)",
               "aten::conv_tbc_backward(f32[7,2,4], f32[7,2,3], f32[3,3,4], f32[4], 1)"},
              convolve::OverTimeBackward),
};

}  // namespace

std::span<const OpDef> ConvolutionBackward() { return kRows; }

}  // namespace steelyard::ops
