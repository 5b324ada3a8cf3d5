// SPDX-License-Identifier: Apache-2.0
//
// Convolutions: the kernels that `_convolution` chooses between (convolve.cc) and what they
// allocate (ATen/native/mkldnn/Conv.cpp, ConvolutionMM2d.cpp, NaiveDilatedConvolution.cpp).

#include "ops/rules/convolution.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/layout.h"
#include "ops/convolution_tbc.h"
#include "ops/convolve.h"
#include "ops/cuda/slow_convolution.h"
#include "ops/gradients/convolution.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/onednn.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using convolution::Geometry;
using convolution::SpatialRank;

// --- mkldnn_convolution(self, weight, bias, padding, stride, dilation, groups) ------------------

Geometry OneDnnGeometry(const OpView& op) {
  const int n = SpatialRank(op.tensor(1));
  return {.stride = window::PerDimension("stride", op.ints(4), n),
          .padding = window::PerDimension("padding", op.ints(3), n),
          .dilation = window::PerDimension("dilation", op.ints(5), n),
          .groups = op.integer(6)};
}

void OneDnnShape(const OpView& op, Outputs& out) {
  convolution::AddImage(op.self(), op.tensor(1), op.tensor(2), OneDnnGeometry(op), out);
}

// Copies of image and weight in oneDNN's layouts, the result in such a one, then the result as
// PyTorch wants it; in channels-last order the images are used as they are.
void OneDnnAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self(), weight = op.tensor(1), out = op.output();
  const Geometry g = OneDnnGeometry(op);
  const bool last = convolution::UsesChannelsLast(input, weight);
  const onednn::Buffers buffers =
      convolution::ForwardBuffers(input, weight, out.sizes(), g, op.given(2), op.target());
  if (last) memory.Output(0, "aten::resize_");
  const Allocations::Scratch scratch = memory.Allocate(buffers.scratch);
  const Allocations::Scratch source = memory.Allocate(buffers.source);
  const Allocations::Scratch weights = memory.Allocate(buffers.weight);
  const Allocations::Scratch result = memory.Allocate(buffers.result);
  memory.Free(weights);
  memory.Free(source);
  memory.Free(scratch);
  if (last) return;
  const std::int64_t copy = buffers.result_last ? out.bytes() : 0;
  const Allocations::Scratch plain = memory.Allocate(copy, "aten::empty");
  memory.Output(0, "aten::empty");
  memory.Free(plain);
  memory.Free(result);
}

Work OneDnnWork(const OpView& op) { return convolution::WorkOf(op, op.tensor(1), op.tensor(2)); }

// --- _slow_conv2d_forward and its relatives ------------------------------------------------------

// (self, weight, kernel_size, bias, stride, padding[, dilation])

Geometry SlowGeometry(const OpView& op) {
  const int n = SpatialRank(op.tensor(1));
  const bool dilated = op.given(6);
  return {
      .stride = window::PerDimension("stride", op.ints(4), n),
      .padding = window::PerDimension("padding", op.ints(5), n),
      .dilation = dilated ? window::PerDimension("dilation", op.ints(6), n) : Dims::Filled(n, 1),
      .groups = 1};
}

// On CUDA the result is row-major whatever the operands are.
void RowMajorOnCuda(const OpView& op, const Outputs& image, Outputs& out) {
  const auto& meta = image.metas()[0];
  op.target().device == Device::kCuda ? out.Add(meta.dtype, meta.sizes)
                                      : out.Add(meta.dtype, meta.sizes, meta.strides);
}

void SlowShape(const OpView& op, Outputs& out) {
  Outputs image;
  convolution::AddImage(op.self(), op.tensor(1), op.tensor(3), SlowGeometry(op), image);
  RowMajorOnCuda(op, image, out);
}

// The kernel for volumes finds the groups itself; its result is row-major.
void Slow3dShape(const OpView& op, Outputs& out) {
  const TensorView input = op.self(), weight = op.tensor(1);
  Geometry g = SlowGeometry(op);
  if (weight.rank() > 1 && weight.size(1) > 0) g.groups = input.size(1) / weight.size(1);
  Outputs image;
  convolution::AddImage(input, weight, op.tensor(3), g, image);
  out.Add(input.dtype(), image.metas()[0].sizes);
}

// Every window of `images` images with `channels` as a column of one matrix.
std::int64_t ColumnBytes(const OpView& op, std::int64_t channels, std::int64_t images) {
  const TensorView weight = op.tensor(1);
  const Count window = work::Elements(window::Spatial(weight.sizes())) * channels;
  const Count pixels = work::Elements(window::Spatial(op.output().sizes()));
  return allocations::Bytes(window * pixels * images, weight.dtype());
}

void SlowAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self();
  const std::int64_t bytes = convolution::NeedsColumns(op.tensor(1), SlowGeometry(op))
                                 ? ColumnBytes(op, input.size(1), input.size(0))
                                 : 0;
  const Allocations::Scratch columns = memory.Allocate(bytes, "aten::empty");
  memory.Output(0, "aten::resize_");
  memory.Free(columns);
}

void Slow3dAllocations(const OpView& op, Allocations& memory) {
  const auto input = allocations::Contiguous(op.self(), memory);
  const auto weight = allocations::Contiguous(op.tensor(1), memory);
  SlowAllocations(op, memory);
  allocations::Free(weight, memory);
  allocations::Free(input, memory);
}

template <cuda::Columns kColumns>
void SlowOnCuda(const OpView& op, Allocations& memory) {
  cuda::SlowConvolution(op, kColumns, memory);
}

void DilatedAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  memory.Free(memory.Allocate(ColumnBytes(op, op.self().size(1), 1), "aten::resize_"));
}

Work SlowWork(const OpView& op) { return convolution::WorkOf(op, op.tensor(1), op.tensor(3)); }

// --- steelyard::transposed_convolution -----------------------------------------------------------

// (self, weight, bias, stride, padding, output_padding, dilation, groups)

[[noreturn]] void RefuseTransposed(const TensorView& input, const TensorView& weight) {
  Refuse(fmt::format("a transposed convolution of {} with {} gives no image", shape::Text(input),
                     shape::Text(weight)));
}

// Adds the image that `input` grows to.
void AddTransposed(const TensorView& input, const TensorView& weight, const Geometry& g,
                   const Dims& extra, Outputs& out) {
  const int n = SpatialRank(weight);
  if (n < 1 || input.rank() != weight.rank() || g.groups <= 0 || input.size(1) != weight.size(0) ||
      input.size(1) % g.groups != 0) {
    Refuse(fmt::format("a transposed convolution of {} with {} in {} groups", shape::Text(input),
                       shape::Text(weight), g.groups));
  }
  Dims sizes{input.size(0)};
  const Count channels = Count(weight.size(1)) * g.groups;
  sizes.push_back(channels.value());
  for (int i = 0; i < n; ++i) {
    if (g.stride[i] <= 0 || g.dilation[i] <= 0 || g.padding[i] < 0 || extra[i] < 0)
      RefuseTransposed(input, weight);
    const Count reach = Count(std::max<std::int64_t>(input.size(i + 2) - 1, 0)) * g.stride[i] +
                        Count(g.dilation[i]) * std::max<std::int64_t>(weight.size(i + 2) - 1, 0) +
                        extra[i] + 1;
    const Count cut = Count(g.padding[i]) * 2;
    if (reach.overflowed() || cut.overflowed() || reach.value() <= cut.value())
      RefuseTransposed(input, weight);
    sizes.push_back(reach.value() - cut.value());
  }
  shape::RequireSizes(sizes);
  const bool last = convolution::UsesChannelsLast(input, weight);
  out.Add(input.dtype(), sizes, last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes));
}

// Each input element is multiplied with the kernel and the output channels of its group.
Work WorkOfTransposed(const TensorView& input, const TensorView& weight, const TensorView& out,
                      bool has_bias) {
  Work w{.mac = work::Elements(input) * weight.size(1) *
                work::Elements(window::Spatial(weight.sizes()))};
  if (has_bias) w.alu = work::Elements(out);
  return w;
}

Geometry TransposedGeometry(const OpView& op) {
  const int n = SpatialRank(op.tensor(1));
  return {.stride = window::PerDimension("stride", op.ints(3), n),
          .padding = window::PerDimension("padding", op.ints(4), n),
          .dilation = window::PerDimension("dilation", op.ints(6), n),
          .groups = op.integer(7)};
}

void TransposedShape(const OpView& op, Outputs& out) {
  const int n = SpatialRank(op.tensor(1));
  AddTransposed(op.self(), op.tensor(1), TransposedGeometry(op),
                window::PerDimension("output padding", op.ints(5), n), out);
}

// cuDNN reads the weight in the order of the image.
void TransposedOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0, Allocations::kCaller);
  const TensorView weight = op.tensor(1);
  const bool last = convolution::UsesChannelsLast(op.self(), weight);
  if (!LiesDense(weight, last)) memory.Free(memory.Allocate(weight.bytes(), "aten::empty"));
}

// Copies of image and weight in oneDNN's layouts and the result in such a one, which is copied into
// the order PyTorch wants; in channels-last order the images are used as they are.
void TransposedAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self(), weight = op.tensor(1), out = op.output();
  const onednn::Buffers buffers = convolution::TransposedBuffers(
      input, weight, out.sizes(), TransposedGeometry(op), op.given(2), op.target());
  constexpr std::string_view kLabel = Allocations::kCaller;
  const bool last = convolution::UsesChannelsLast(input, weight);
  if (last) memory.Output(0, "aten::resize_");
  const Allocations::Scratch scratch = memory.Allocate(buffers.scratch, kLabel);
  const Allocations::Scratch source = memory.Allocate(last ? 0 : buffers.source, kLabel);
  const Allocations::Scratch weights = memory.Allocate(buffers.weight, kLabel);
  const Allocations::Scratch result = memory.Allocate(last ? 0 : buffers.result, kLabel);
  memory.Free(weights, kLabel);
  memory.Free(source, kLabel);
  memory.Free(scratch, kLabel);
  if (last) return;
  const std::int64_t copy = buffers.result_last ? out.bytes() : 0;
  const Allocations::Scratch plain = memory.Allocate(copy, "aten::empty");
  memory.Output(0, "aten::empty");
  memory.Free(plain, kLabel);
  memory.Free(result, kLabel);
}

// --- slow_conv_transpose2d and 3d(self, weight, kernel_size, bias, stride, padding,
// output_padding, dilation) ----------------------------------------------------------------------

void SlowTransposedShape(const OpView& op, Outputs& out) {
  const int n = SpatialRank(op.tensor(1));
  Outputs image;
  AddTransposed(op.self(), op.tensor(1),
                {.stride = window::PerDimension("stride", op.ints(4), n),
                 .padding = window::PerDimension("padding", op.ints(5), n),
                 .dilation = window::PerDimension("dilation", op.ints(7), n)},
                window::PerDimension("output padding", op.ints(6), n), image);
  RowMajorOnCuda(op, image, out);
}

// The kernel for each output channel is a column, for each pixel of `images` images.
std::int64_t TransposedColumnBytes(const OpView& op, std::int64_t images) {
  const TensorView weight = op.tensor(1);
  const Count column = work::Elements(weight.sizes().subspan(1));
  const Count pixels = work::Elements(window::Spatial(op.self().sizes())) * images;
  return allocations::Bytes(column * pixels, weight.dtype());
}

void SlowTransposedAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self();
  const auto checked = allocations::Contiguous(input, memory);
  memory.Output(0);
  allocations::Free(checked, memory);
  const auto image = allocations::Contiguous(input, memory);
  const auto weight = allocations::Contiguous(op.tensor(1), memory);
  memory.Free(memory.Allocate(TransposedColumnBytes(op, input.size(0)), "aten::resize_"));
  allocations::Free(weight, memory);
  allocations::Free(image, memory);
}

// Volumes: the result is made like the image and then resized; a bias is added by a matrix product
// with ones.
void SlowTransposed3dAllocations(const OpView& op, Allocations& memory) {
  const TensorView input = op.self();
  const auto image = allocations::Contiguous(input, memory);
  const auto weight = allocations::Contiguous(op.tensor(1), memory);
  const Allocations::Scratch like = memory.Allocate(input.bytes(), "aten::empty");
  memory.Output(0, "aten::resize_");
  memory.Free(like, "aten::resize_");
  const Allocations::Scratch columns = memory.Allocate(TransposedColumnBytes(op, 1), "aten::empty");
  const Count pixels = work::Elements(window::Spatial(op.output().sizes()));
  const std::int64_t bytes = op.given(3) ? allocations::Bytes(pixels, input.dtype()) : 0;
  memory.Free(memory.Allocate(bytes, "aten::empty"));
  memory.Free(columns);
  allocations::Free(weight, memory);
  allocations::Free(image, memory);
}

Work SlowTransposedWork(const OpView& op) {
  return WorkOfTransposed(op.self(), op.tensor(1), op.output(), op.given(3));
}

Work TransposedWork(const OpView& op) {
  return WorkOfTransposed(op.self(), op.tensor(1), op.output(), op.given(2));
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef ConvolutionKernel(OpName name, std::string_view summary, Signature signature,
                                  std::string_view example, Gradient grad, ShapeFn shape,
                                  DeviceAllocations allocations, WorkFn work) {
  return Kernel(Family::kConvolution, {name, summary, signature, example},
                {shape, Fusion::kOutFusable, allocations, work, grad, precision::kFollow});
}

constexpr std::array kRows{
    CopyingOut(ConvolutionKernel(
        "aten::mkldnn_convolution", "Convolution by oneDNN, in layouts of its own.",
        "(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] stride, SymInt[] "
        "dilation, SymInt groups) -> Tensor",
        "aten::mkldnn_convolution(f32[2,20,8,8], f32[24,20,3,3], f32[24], [1,1], [1,1], [1,1], 1)",
        gradients::kOneDnnConvolution, OneDnnShape, OneDnnAllocations, OneDnnWork)),
    ConvolutionKernel(
        "aten::_slow_conv2d_forward", "Convolution as a matrix product over gathered windows.",
        "(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride, "
        "SymInt[2] padding) -> Tensor",
        "aten::_slow_conv2d_forward(f32[1,3,8,8], f32[5,3,3,3], [3,3], f32[5], [1,1], [1,1])",
        gradients::kSlow, SlowShape, {SlowAllocations, SlowOnCuda<cuda::Columns::kWhereNeeded>},
        SlowWork),
    ConvolutionKernel("aten::slow_conv3d_forward",
                      "Convolution of volumes as a matrix product over gathered windows.",
                      "(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, SymInt[3] "
                      "stride, SymInt[3] padding) -> Tensor",
                      "aten::slow_conv3d_forward(f32[1,3,4,6,6], f32[5,3,1,3,3], [1,3,3], None, "
                      "[1,1,1], [0,1,1])",
                      gradients::kSlow3d, Slow3dShape, Slow3dAllocations, SlowWork),
    CopyingOut(ConvolutionKernel(
        "aten::slow_conv_dilated2d", "Dilated convolution as matrix products, image by image.",
        "(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] "
        "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1]) -> Tensor",
        "aten::slow_conv_dilated2d(f64[2,3,8,8], f64[5,3,3,3], [3,3], dilation=[2,2])",
        gradients::kDilated2d, SlowShape, {DilatedAllocations, SlowOnCuda<cuda::Columns::kAlways>},
        SlowWork)),
    CopyingOut(ConvolutionKernel(
        "aten::slow_conv_dilated3d",
        "Dilated convolution of volumes as matrix products, one at a time.",
        "(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] "
        "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1]) -> Tensor",
        "aten::slow_conv_dilated3d(f64[2,3,6,8,8], f64[5,3,2,3,3], [2,3,3], dilation=[2,2,2])",
        gradients::kDilated3d, SlowShape, {DilatedAllocations, SlowOnCuda<cuda::Columns::kAlways>},
        SlowWork)),
    ConvolutionKernel(
        "steelyard::transposed_convolution", "Transposed convolution, inside `_convolution`.",
        "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
        "output_padding, SymInt[] dilation, SymInt groups) -> Tensor",
        "steelyard::transposed_convolution(f32[2,4,5,5], f32[4,3,3,3], None, [2,2], [1,1], [1,1], "
        "[1,1], 1)",
        kNoGradient, TransposedShape, {TransposedAllocations, TransposedOnCuda}, TransposedWork),
    ConvolutionKernel(
        "aten::slow_conv_transpose2d",
        "Transposed convolution as a matrix product, scattered over the result.",
        "(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] "
        "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt[2] "
        "dilation=[1, 1]) -> Tensor",
        "aten::slow_conv_transpose2d(f32[1,4,5,5], f32[4,6,3,3], [3,3], f32[6], [2,2], [1,1])",
        gradients::kSlowTransposed2d, SlowTransposedShape,
        {SlowTransposedAllocations, cuda::SlowTransposed}, SlowTransposedWork),
    ConvolutionKernel(
        "aten::slow_conv_transpose3d",
        "Transposed convolution of volumes as matrix products, scattered over the result.",
        "(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] "
        "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], "
        "SymInt[3] dilation=[1, 1, 1]) -> Tensor",
        "aten::slow_conv_transpose3d(f32[1,4,3,5,5], f32[4,6,2,3,3], [2,3,3], f32[6], [2,2,2], "
        "[0,1,1])",
        gradients::kSlowTransposed3d, SlowTransposedShape,
        {SlowTransposed3dAllocations, cuda::SlowTransposedVolume}, SlowTransposedWork),
    CopyingOut(Casting(
        precision::kLowOnCuda,
        Composite(
            "aten::_convolution", "Convolution by the kernel that fits the operands.",
            "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
            "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool "
            "benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
            "aten::_convolution(f32[2,4,9], f32[6,2,3], f32[6], [1], [1], [1], False, [0], 2, "
            "False, False, False, False)",
            Family::kConvolution, convolve::Choose, precision::kFollow,
            gradients::kConvolutionBelow))),
    CopyingOut(Casting(
        precision::kLowOnCuda,
        Composite("aten::convolution", "Convolution over the last dimensions of an image.",
                  "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
                  "SymInt[] "
                  "dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
                  "aten::convolution(f32[1,3,8,8], f32[5,3,1,1], None, [1,1], [0,0], [1,1], False, "
                  "[0,0], 1)",
                  Family::kConvolution, convolve::Any, precision::kFollow,
                  gradients::kConvolution))),
    Composite("aten::_convolution_mode", "Convolution padded as named.",
              "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, SymInt[] "
              "dilation, SymInt groups) -> Tensor",
              "aten::_convolution_mode(f32[2,4,9], f32[6,2,4], None, [1], 'same', [1], 2)",
              Family::kConvolution, convolve::Mode, precision::kFollow),
    Casting(precision::kLow,
            Composite(
                "aten::conv1d", "Convolution over one dimension.",
                "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
                "padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
                "aten::conv1d(f32[2,4,10], f32[6,4,3], f32[6], padding=[1])", Family::kConvolution,
                convolve::OfRank<1>, precision::kFollow)),
    Casting(
        precision::kLow,
        Composite(
            "aten::conv2d", "Convolution over two dimensions.",
            "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] "
            "padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
            "aten::conv2d(f32[2,32,8,8], f32[64,32,3,3], None, [2,2], [1,1])", Family::kConvolution,
            convolve::OfRank<2>, precision::kFollow)),
    Casting(precision::kLow,
            Composite("aten::conv3d", "Convolution over three dimensions.",
                      "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, "
                      "1], SymInt[3] "
                      "padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
                      "aten::conv3d(f32[2,3,4,8,8], f32[5,3,2,3,3])", Family::kConvolution,
                      convolve::OfRank<3>, precision::kFollow)),
    Casting(precision::kLowOnCpu,
            Composite("aten::conv1d.padding", "Convolution over one dimension, padded as named.",
                      "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str "
                      "padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
                      "aten::conv1d.padding(f32[2,4,10], f32[6,4,3], padding='same')",
                      Family::kConvolution, convolve::ByName<1>, precision::kFollow)),
    Casting(
        precision::kLowOnCpu,
        Composite("aten::conv2d.padding", "Convolution over two dimensions, padded as named.",
                  "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str "
                  "padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
                  "aten::conv2d.padding(f32[2,4,8,8], f32[6,4,2,2], padding='same')",
                  Family::kConvolution, convolve::ByName<2>, precision::kFollow)),
    Casting(precision::kLowOnCpu,
            Composite(
                "aten::conv3d.padding", "Convolution over three dimensions, padded as named.",
                "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str "
                "padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
                "aten::conv3d.padding(f32[2,4,8,8,8], f32[6,4,3,3,3])", Family::kConvolution,
                convolve::ByName<3>, precision::kFollow)),
    Casting(
        precision::kLow,
        Composite(
            "aten::conv_transpose1d", "Transposed convolution over one dimension.",
            "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
            "padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) "
            "-> Tensor",
            "aten::conv_transpose1d(f32[2,4,10], f32[4,6,3], None, [2])", Family::kConvolution,
            convolve::Transposed<1>, precision::kFollow)),
    Casting(
        precision::kLow,
        Composite(
            "aten::conv_transpose2d.input", "Transposed convolution over two dimensions.",
            "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] "
            "padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] "
            "dilation=[1, 1]) -> Tensor",
            "aten::conv_transpose2d.input(f32[2,4,5,5], f32[4,6,2,2], f32[6], [2,2])",
            Family::kConvolution, convolve::Transposed<2>, precision::kFollow)),
    Casting(precision::kLow,
            Composite(
                "aten::conv_transpose3d.input", "Transposed convolution over three dimensions.",
                "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], "
                "SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, "
                "SymInt[3] dilation=[1, 1, 1]) -> Tensor",
                "aten::conv_transpose3d.input(f32[2,4,5,5,5], f32[4,6,2,2,2], None, [2,2,2])",
                Family::kConvolution, convolve::Transposed<3>, precision::kFollow)),
    Casting(
        precision::kLow,
        CopyingOut(Composite(Family::kConvolution,
                             {"aten::conv_tbc", "Convolution of sequences: time, batch, channels.",
                              "(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
                              "aten::conv_tbc(f32[7,2,3], f32[3,3,4], f32[4], 1)"},
                             convolve::OverTime, gradients::kOverTime))),
};

}  // namespace

std::span<const OpDef> Convolution() { return kRows; }

}  // namespace steelyard::ops
