// SPDX-License-Identifier: Apache-2.0
//
// torchvision's operators for boxes and deformed windows (torchvision/csrc/ops/cpu): bins of boxes,
// convolutions of deformed windows, and the boxes that suppress no other.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- roi_align, roi_pool, ps_roi_align(input, rois, scale, height, width, ...) -------------------

void RequireRois(const OpView& op) {
  shape::RequireRank("the image", op.self(), 4);
  shape::RequireRank("the boxes", op.tensor(1), 2);
  shape::RequireEqual("numbers of a box", op.tensor(1).size(1), 5);
  if (!IsFloating(op.self().dtype()) || op.self().dtype() != op.tensor(1).dtype()) {
    Refuse("image and boxes are floating-point and of one dtype");
  }
}
template <bool kPositionSensitive>
Dims RoiSizes(const OpView& op) {
  RequireRois(op);
  const std::int64_t height = op.integer(3), width = op.integer(4);
  std::int64_t channels = op.self().size(1);
  if (kPositionSensitive) {
    const bool fits = height > 0 && width > 0 && width <= channels / height;
    if (!fits || channels % (height * width) != 0) {
      Refuse("channels are no multiple of the bins");
    }
    channels /= height * width;
  }
  const Dims sizes{op.tensor(1).size(0), channels, height, width};
  shape::RequireSizes(sizes);
  return sizes;
}
void RoiAlignShape(const OpView& op, Outputs& out) {
  out.Add(op.self().dtype(), RoiSizes<false>(op));
}
template <bool kPositionSensitive>
void RoiWithIndexShape(const OpView& op, Outputs& out) {
  const Dims sizes = RoiSizes<kPositionSensitive>(op);
  out.Add(op.self().dtype(), sizes);
  out.Add(DType::kInt32, sizes);
}
void RoiAllocations(const OpView& op, Allocations& memory) {
  allocations::Via<"aten::empty">(op, memory);
  const auto image = allocations::Contiguous(op.self(), memory);
  const auto boxes = allocations::Contiguous(op.tensor(1), memory);
  allocations::Free(boxes, memory);
  allocations::Free(image, memory);
}
// Four neighbours for each sample, of which a bin has sampling_ratio squared.
Work RoiWork(const OpView& op) {
  const std::int64_t ratio = op.arg_count() > 5 ? std::max<std::int64_t>(op.integer(5), 1) : 1;
  constexpr std::int64_t kPerSample = 8;
  return {.alu = work::Elements(op.output()) * ratio * ratio * kPerSample};
}

// grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width, ...
void RoiAlignBackwardShape(const OpView& op, Outputs& out) {
  const TensorView grad = op.self(), boxes = op.tensor(1);
  shape::RequireRank("the gradient", grad, 4);
  shape::RequireRank("the boxes", boxes, 2);
  if (grad.dtype() != boxes.dtype()) Refuse("gradient and boxes must be of the same dtype");
  shape::RequireEqual("numbers of boxes", grad.size(0), boxes.size(0));
  const Dims sizes{op.integer(5), op.integer(6), op.integer(7), op.integer(8)};
  shape::RequireSizes(sizes);
  out.Add(grad.dtype(), sizes);
}
void RoiAlignBackwardAllocations(const OpView& op, Allocations& memory) {
  allocations::Via<"aten::empty">(op, memory);
  allocations::Free(allocations::Contiguous(op.tensor(1), memory), memory);
}
Work RoiAlignBackwardWork(const OpView& op) {
  const std::int64_t ratio = std::max<std::int64_t>(op.integer(9), 1);
  constexpr std::int64_t kPerSample = 8;
  return {.alu = work::Elements(op.self()) * ratio * ratio * kPerSample};
}

// grad, rois, places, spatial_scale, pooled_height, pooled_width, perhaps sampling_ratio, then the
// sizes of the image
void RoiPlacesBackwardShape(const OpView& op, Outputs& out) {
  const TensorView grad = op.self(), boxes = op.tensor(1);
  shape::RequireRank("the gradient", grad, 4);
  shape::RequireRank("the boxes", boxes, 2);
  if (grad.dtype() != boxes.dtype()) Refuse("gradient and boxes must be of the same dtype");
  shape::RequireEqual("numbers of boxes", grad.size(0), boxes.size(0));
  Dims sizes;
  for (int i = op.arg_count() - 4; i < op.arg_count(); ++i) sizes.push_back(op.integer(i));
  shape::RequireSizes(sizes);
  out.Add(grad.dtype(), sizes);
}
// Only gradients of bins with channels of their own are read in a row.
template <bool kPositionSensitive>
void RoiPlacesBackwardAllocations(const OpView& op, Allocations& memory) {
  allocations::Via<"aten::empty">(op, memory);
  std::optional<Allocations::Scratch> grad;
  if (kPositionSensitive) grad = allocations::Contiguous(op.self(), memory);
  const auto places = allocations::Contiguous(op.tensor(2), memory);
  const auto boxes = allocations::Contiguous(op.tensor(1), memory);
  allocations::Free(boxes, memory);
  allocations::Free(places, memory);
  allocations::Free(grad, memory);
}

Work RoiPlacesBackwardWork(const OpView& op) { return {.alu = work::Elements(op.self())}; }

// --- deform_conv2d -------------------------------------------------------------------------------

// (input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
// groups, offset_groups, use_mask)

// Images that are gathered at once: the largest divisor of the batch up to 32.
std::int64_t ParallelImages(std::int64_t batch) {
  constexpr std::int64_t kMost = 32;
  for (std::int64_t n = std::min(kMost, batch); n > 1; --n) {
    if (batch % n == 0) return n;
  }
  return 1;
}

struct Deformed {
  std::int64_t batch, channels, kernel, groups, out_channels, height, width, at_once;
};
// The input is operand `first`, and what belongs to it follows.
Deformed DeformedOf(const OpView& op, int first = 0) {
  const TensorView image = op.tensor(first), weight = op.tensor(first + 1),
                   offset = op.tensor(first + 2);
  shape::RequireRank("the image", image, 4);
  shape::RequireRank("the weight", weight, 4);
  shape::RequireRank("the offsets", offset, 4);
  const std::int64_t groups = op.integer(first + 11);
  if (groups < 1) Refuse("there is one group or more");
  shape::RequireEqual("channels", image.size(1), weight.size(1) * groups);
  const auto extent = [&](int at) {
    const std::int64_t stride = op.integer(first + 5 + at), pad = op.integer(first + 7 + at);
    const std::int64_t window = op.integer(first + 9 + at) * (weight.size(2 + at) - 1) + 1;
    if (stride <= 0) Refuse("a stride is positive");
    return (image.size(2 + at) + 2 * pad - window) / stride + 1;
  };
  const Deformed out{
      image.size(0), image.size(1), weight.size(2) * weight.size(3), groups, weight.size(0),
      extent(0),     extent(1),     ParallelImages(image.size(0))};
  shape::RequireEqual("heights of result and offsets", out.height, offset.size(2));
  shape::RequireEqual("widths of result and offsets", out.width, offset.size(3));
  return out;
}

std::vector<Tensor> DeformableConvolution(Dispatcher& d, const OpView& op) {
  const Deformed c = DeformedOf(op);
  std::vector<Tensor> operands;
  for (int i = 0; i < 5; ++i) {
    const int order[] = {0, 2, 1, 3, 4};
    operands.push_back(d.Call("aten::contiguous", d.tensor(op, order[i])));
  }
  const Tensor input = operands[0];
  const Dims sizes{c.batch, c.out_channels, c.height, c.width};
  Tensor out = d.Call("aten::new_zeros", input, sizes);
  if (c.batch == 0) return {out};
  const std::int64_t blocks = c.batch / c.at_once;
  Tensor buffer =
      d.Call("aten::new_zeros", out, Dims{blocks, c.out_channels, c.at_once * c.height, c.width});
  const Tensor columns =
      d.Call("aten::new_zeros", input, Dims{c.channels * c.kernel, c.at_once * c.height * c.width});
  for (std::int64_t block = 0; block < blocks; ++block) {
    d.Call("steelyard::deformed_columns", columns);
    d.Call("steelyard::grouped_columns", buffer, columns, c.groups);
  }
  {
    const Tensor split =
        d.Call("aten::view", buffer, Dims{blocks, c.out_channels, c.at_once, c.height, c.width});
    const Tensor moved = d.Call("aten::transpose.int", split, 1, 2);
    const Tensor place =
        d.Call("aten::view", out, Dims{blocks, c.at_once, c.out_channels, c.height, c.width});
    d.Call("aten::copy_", place, moved);
  }
  const Tensor bias = d.Call("aten::view", operands[4], Dims{1, c.out_channels, 1, 1});
  return {d.Call("aten::sub.Tensor", out, bias)};  // as it is recorded
}

// What `rows` channels are split into for each block of images and group: the gradient's elements
// there, in a copy where several images are in a block.
struct Block {
  std::int64_t at, group;
};
Tensor GradientIn(Dispatcher& d, const Tensor& split, Block block) {
  const Tensor of_block = d.Call("aten::select.int", split, 0, block.at);
  const Tensor of_group = d.Call("aten::select.int", of_block, 0, block.group);
  return d.Call("aten::flatten.using_ints", of_group, 1);
}
// The gradient as [blocks, groups, channels of a group, images at once, height, width].
Tensor SplitGradient(Dispatcher& d, const Tensor& grad, const Deformed& c) {
  const Dims sizes{c.batch / c.at_once,       c.at_once, c.groups,
                   c.out_channels / c.groups, c.height,  c.width};
  const Tensor split = d.Call("aten::reshape", grad, sizes);
  return d.Call("aten::permute", split, Dims{0, 2, 3, 1, 4, 5});
}

// Windows of the gradient, which are spread over image, offsets and mask
// (backward_gradient_inputs).
std::vector<Tensor> DeformedGradients(Dispatcher& d, const std::array<Tensor, 5>& operands,
                                      const Tensor& grad, const Deformed& c) {
  std::vector<Tensor> out;
  for (int i : {0, 2, 3}) {
    const Tensor& operand = operands[static_cast<std::size_t>(i)];
    out.push_back(d.Call("aten::new_zeros", operand, Dims(operand.sizes())));
  }
  if (c.batch == 0) return out;
  const Tensor columns =
      d.Call("aten::new_empty", operands[0],
             Dims{c.groups, c.channels * c.kernel / c.groups, c.at_once * c.height * c.width});
  const Tensor split = SplitGradient(d, grad, c);
  for (std::int64_t block = 0; block < c.batch / c.at_once; ++block) {
    d.Call("aten::zero_", columns);
    for (std::int64_t group = 0; group < c.groups; ++group) {
      const Tensor gradient = GradientIn(d, split, {block, group});
      d.Call("steelyard::spread_columns", d.Call("aten::select.int", columns, 0, group), gradient);
    }
    d.Call("steelyard::deformed_gradients", columns);
  }
  return out;
}

// The sum over blocks of the gradient's products with windows (backward_gradient_parameters).
Tensor DeformedWeight(Dispatcher& d, const std::array<Tensor, 5>& operands, const Tensor& grad,
                      const Deformed& c) {
  const Tensor& weight = operands[1];
  Tensor out = d.Call("aten::new_zeros", weight, Dims(weight.sizes()));
  if (c.batch == 0) return out;
  const Tensor split = d.Call("aten::contiguous", SplitGradient(d, grad, c));
  const Dims by_group{c.groups, c.out_channels / c.groups, weight.size(1), weight.size(2),
                      weight.size(3)};
  const Tensor groups = d.Call("aten::view", out, by_group);
  const Tensor columns =
      d.Call("aten::new_empty", operands[0],
             Dims{c.groups, c.channels * c.kernel / c.groups, c.at_once * c.height * c.width});
  for (std::int64_t block = 0; block < c.batch / c.at_once; ++block) {
    d.Call("steelyard::deformed_columns", columns);
    for (std::int64_t group = 0; group < c.groups; ++group) {
      const Tensor of_group = d.Call("aten::select.int", groups, 0, group);
      const Tensor place = d.Call("aten::flatten.using_ints", of_group, 1);
      const Tensor gradient = GradientIn(d, split, {block, group});
      const Tensor windows =
          d.Call("aten::transpose.int", d.Call("aten::select.int", columns, 0, group), 1, 0);
      const Tensor product = d.Call("aten::matmul", gradient, windows);
      const Tensor sum = d.Call("aten::sub.Tensor", place, product);  // as it is recorded
      d.Call("aten::copy_", place, sum);
    }
  }
  return out;
}

// grad, then what deform_conv2d was given
std::vector<Tensor> DeformableBackward(Dispatcher& d, const OpView& op) {
  const Deformed c = DeformedOf(op, 1);
  const Tensor grad = d.Call("aten::contiguous", d.tensor(op, 0));
  shape::RequireRank("the gradient", grad.view(), 4);
  shape::RequireEqual("channels of the gradient", grad.size(1), c.out_channels);
  shape::RequireEqual("elements of the gradient", grad.count(),
                      (Count(c.batch) * c.out_channels * c.height * c.width).value());
  std::array<Tensor, 5> operands;
  for (int i = 0; i < 5; ++i) {
    operands[static_cast<std::size_t>(i)] = d.Call("aten::contiguous", d.tensor(op, i + 1));
  }
  std::vector<Tensor> inputs = DeformedGradients(d, operands, grad, c);
  Tensor weight = DeformedWeight(d, operands, grad, c);
  const Tensor sums = d.Call("aten::sum.dim_IntList", grad, Dims{0, 2, 3});
  const Tensor zeros = d.Call("aten::new_zeros", operands[4], Dims(operands[4].sizes()));
  Tensor bias = d.Call("aten::sub.Tensor", zeros, sums);  // as it is recorded
  return {inputs[0], std::move(weight), inputs[1], inputs[2], std::move(bias)};
}

// Four neighbours of each place, weighted.
constexpr WorkFn kGather = work::PerOutput<work::PerElement{.alu = 9}>;
// To each of them twice: for the image, and for where the place is; and for the mask.
constexpr WorkFn kScatterBack = work::PerOutput<work::PerElement{.alu = 20}>;
Work ColumnsWork(const OpView& op) {
  const TensorView out = op.self(), columns = op.tensor(1);
  const std::int64_t groups = std::max<std::int64_t>(op.integer(2), 1);
  return {.mac = Count(out.size(1)) * (columns.size(0) / groups) * columns.size(1)};
}

// columns, then the gradient of as many results: each result is spread over its window
Work SpreadWork(const OpView& op) {
  return {.mac = work::Elements(op.self()) * op.tensor(1).size(0)};
}

// --- nms(dets, scores, iou_threshold) -----------------------------------------------------------

void KeptShape(const OpView& op, Outputs& out) {
  const TensorView boxes = op.self(), scores = op.tensor(1);
  shape::RequireRank("the boxes", boxes, 2);
  shape::RequireRank("the scores", scores, 1);
  shape::RequireEqual("coordinates of a box", boxes.size(1), 4);
  shape::RequireEqual("numbers of boxes and scores", boxes.size(0), scores.size(0));
  out.Add(DType::kInt64, Dims{boxes.size(0)});
}

// Columns of coordinates, the boxes in order of their scores, which of them are suppressed, which
// are kept, and their areas.
void KeptAllocations(const OpView& op, Allocations& memory) {
  constexpr std::string_view kLabel = Allocations::kCaller;
  const TensorView boxes = op.self();
  const std::int64_t count = boxes.size(0);
  if (count == 0) return memory.Output(0, "aten::empty");
  const std::int64_t numbers = allocations::Bytes(count, boxes.dtype());
  const std::int64_t positions = allocations::Bytes(count, DType::kInt64);
  std::vector<Allocations::Scratch> columns;
  if (count > 1) {
    for (int i = 0; i < 4; ++i) columns.push_back(memory.Allocate(numbers, "aten::empty"));
  }
  const Allocations::Scratch scores =
      memory.Allocate(allocations::Bytes(count, op.tensor(1).dtype()), "aten::sort");
  const Allocations::Scratch order = memory.Allocate(positions, "aten::sort");
  memory.Free(memory.Allocate(positions, "aten::resize_"), "aten::sort");
  memory.Free(scores, kLabel);
  const Allocations::Scratch suppressed =
      memory.Allocate(allocations::Bytes(count, DType::kUInt8), "aten::empty");
  memory.Output(0, "aten::empty");
  const Allocations::Scratch areas = memory.Allocate(numbers, "aten::empty");
  memory.Free(areas, kLabel);
  memory.Free(suppressed, kLabel);
  memory.Free(order, kLabel);
  for (std::size_t i = columns.size(); i-- > 0;) memory.Free(columns[i], kLabel);
}

// Each box is compared with those of lower score.
Work KeptWork(const OpView& op) {
  const Count boxes = op.self().size(0);
  return {.compare = boxes * boxes};
}

// The kept are the first of a list that has room for all.
std::vector<Tensor> Nms(Dispatcher& d, const OpView& op) {
  const Tensor kept = d.Call("steelyard::keep_boxes", op.arg(0), op.arg(1));
  const std::optional<std::int64_t> count = d.SizeInFile(0, 0);
  if (!count) d.Note("torchvision::nms is weighed as if it kept every box");
  if (count.value_or(0) > kept.size(0)) {
    Contradict(fmt::format("{} of {} boxes are kept", *count, kept.size(0)));
  }
  return {d.Call("aten::narrow", kept, 0, 0, count.value_or(kept.size(0)))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Detected(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work,
                         Gradient grad = kGradientUnknown) {
  return OpaqueKernel(Family::kPooling, words, shape, allocations, work, grad);
}
constexpr OpDef Inside(const Words& words, WorkFn work) {
  return OpaqueKernel(Family::kConvolution, words, shape::SameAs<0>, allocations::None, work,
                      kGradientUnknown, precision::kFollow, Alias::kInPlace);
}

constexpr std::array kRows{
    Detected({"torchvision::roi_align", "Means over the bins of boxes, between pixels.",
              "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
              "pooled_width, int sampling_ratio, bool aligned) -> Tensor",
              "torchvision::roi_align(f32[1,3,8,8], f32[2,5], 1.0, 2, 2, 2, False)"},
             RoiAlignShape, RoiAllocations, RoiWork, gradients::kRoiAlign),
    Detected({"torchvision::_roi_align_backward", "The gradient of means over the bins of boxes.",
              "(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
              "pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int "
              "sampling_ratio, bool aligned) -> Tensor",
              "torchvision::_roi_align_backward(f32[2,3,2,2], f32[2,5], 1.0, 2, 2, 1, 3, 8, 8, 2, "
              "False)"},
             RoiAlignBackwardShape, RoiAlignBackwardAllocations, RoiAlignBackwardWork),
    Detected({"torchvision::roi_pool", "Largest values in the bins of boxes, and where they are.",
              "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
              "pooled_width) -> (Tensor, Tensor)",
              "torchvision::roi_pool(f32[1,3,8,8], f32[2,5], 1.0, 2, 2)"},
             RoiWithIndexShape<false>, RoiAllocations, RoiWork, gradients::kRoiPool),
    Detected({"torchvision::_roi_pool_backward", "The gradient of largest values in bins of boxes.",
              "(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt "
              "pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt "
              "height, SymInt width) -> Tensor",
              "torchvision::_roi_pool_backward(f32[2,3,2,2], f32[2,5], i32[2,3,2,2], 1.0, 2, 2, 1, "
              "3, 8, 8)"},
             RoiPlacesBackwardShape, RoiPlacesBackwardAllocations<false>, RoiPlacesBackwardWork),
    Detected({"torchvision::ps_roi_align", "Means over bins, each from channels of its own.",
              "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
              "pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
              "torchvision::ps_roi_align(f32[1,4,8,8], f32[2,5], 1.0, 2, 2, 2)"},
             RoiWithIndexShape<true>, RoiAllocations, RoiWork, gradients::kPsRoiAlign),
    Detected({"torchvision::_ps_roi_align_backward",
              "The gradient of means over bins, each from channels of its own.",
              "(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt "
              "pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt "
              "channels, SymInt height, SymInt width) -> Tensor",
              "torchvision::_ps_roi_align_backward(f32[2,1,2,2], f32[2,5], i32[2,1,2,2], 1.0, 2, "
              "2, 2, 1, 4, 8, 8)"},
             RoiPlacesBackwardShape, RoiPlacesBackwardAllocations<true>, RoiPlacesBackwardWork),
    Detected({"torchvision::ps_roi_pool", "Means over bins of pixels, each from its own channels.",
              "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
              "pooled_width) -> (Tensor, Tensor)",
              "torchvision::ps_roi_pool(f32[1,4,8,8], f32[2,5], 1.0, 2, 2)"},
             RoiWithIndexShape<true>, RoiAllocations, RoiWork, gradients::kPsRoiPool),
    Detected({"torchvision::_ps_roi_pool_backward",
              "The gradient of means over bins of pixels, each from its own channels.",
              "(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt "
              "pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt "
              "height, SymInt width) -> Tensor",
              "torchvision::_ps_roi_pool_backward(f32[2,1,2,2], f32[2,5], i32[2,1,2,2], 1.0, 2, 2, "
              "1, 4, 8, 8)"},
             RoiPlacesBackwardShape, RoiPlacesBackwardAllocations<true>, RoiPlacesBackwardWork),
    OnlyWithin(
        Inside({"steelyard::deformed_columns", "Windows gathered at deformed places.",
                "(Tensor(a!) columns) -> Tensor(a!)", "steelyard::deformed_columns(f32[36,64])"},
               kGather)),
    OnlyWithin(Inside({"steelyard::grouped_columns", "Products of a group's weight and windows.",
                       "(Tensor(a!) out, Tensor columns, int groups) -> Tensor(a!)",
                       "steelyard::grouped_columns(f32[1,6,8,8], f32[36,64], 1)"},
                      ColumnsWork)),
    OnlyWithin(
        Inside({"steelyard::spread_columns", "A gradient spread over the windows of its results.",
                "(Tensor(a!) columns, Tensor grad) -> Tensor(a!)",
                "steelyard::spread_columns(f32[36,64], f32[6,64])"},
               SpreadWork)),
    OnlyWithin(Inside(
        {"steelyard::deformed_gradients",
         "Gradients of windows brought back to the image, its offsets and its mask.",
         "(Tensor(a!) columns) -> Tensor(a!)", "steelyard::deformed_gradients(f32[1,36,64])"},
        kScatterBack)),
    Composite("torchvision::deform_conv2d", "Convolution with windows deformed at each place.",
              "(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
              "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt "
              "dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
              "torchvision::deform_conv2d(f32[2,4,8,8], f32[6,4,3,3], f32[2,18,8,8], "
              "f32[2,9,8,8], f32[6], 1, 1, 1, 1, 1, 1, 1, 1, True)",
              Family::kConvolution, DeformableConvolution, precision::kFollow,
              gradients::kDeformableConvolution),
    Composite("torchvision::_deform_conv2d_backward",
              "The gradients of a convolution with windows deformed at each place.",
              "(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
              "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
              "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> (Tensor, "
              "Tensor, Tensor, Tensor, Tensor)",
              "torchvision::_deform_conv2d_backward(f32[2,6,8,8], f32[2,4,8,8], f32[6,4,3,3], "
              "f32[2,18,8,8], f32[2,9,8,8], f32[6], 1, 1, 1, 1, 1, 1, 1, 1, True)",
              Family::kConvolution, DeformableBackward, precision::kFollow),
    Composite("torchvision::nms", "Boxes that overlap with none of a higher score.",
              "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
              "torchvision::nms(f32[20,4], f32[20], 0.5)", Family::kIndexing, Nms,
              precision::kFollow),
    OnlyWithin(OpaqueKernel(
        Family::kIndexing,
        {"steelyard::keep_boxes", "Room for all boxes that `nms` may keep, and how it is filled.",
         "(Tensor dets, Tensor scores) -> Tensor", "steelyard::keep_boxes(f32[20,4], f32[20])"},
        KeptShape, KeptAllocations, KeptWork, kNoGradient)),
};

}  // namespace

std::span<const OpDef> Detection() { return kRows; }

}  // namespace steelyard::ops
