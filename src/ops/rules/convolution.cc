// SPDX-License-Identifier: Apache-2.0
//
// Sizes and layout of an image are decided here, whichever kernel makes it: its channels come last
// where those of either operand do. To oneDNN a transposed convolution is described as the one
// whose gradient it computes.

#include "ops/rules/convolution.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "ir/layout.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::convolution {

int SpatialRank(const TensorView& weight) { return std::max(weight.rank() - 2, 0); }

void RequireOperands(const TensorView& input, const TensorView& weight, std::int64_t groups) {
  if (weight.rank() < 3 || weight.rank() > 5 || input.rank() != weight.rank()) {
    Refuse(fmt::format("a convolution of {} with {}", shape::Text(input), shape::Text(weight)));
  }
  product::RequireSameDType(input, weight);
  if (groups <= 0 || weight.size(0) % groups != 0) {
    Refuse(fmt::format("{} output channels in {} groups", weight.size(0), groups));
  }
  const Count channels = Count(weight.size(1)) * groups;
  if (channels != Count(input.size(1))) {
    Refuse(fmt::format("input channels differ: {} vs {} groups of {}", input.size(1), groups,
                       weight.size(1)));
  }
}

void RequireOperands(const TensorView& input, const TensorView& weight, const TensorView& bias,
                     std::int64_t groups) {
  RequireOperands(input, weight, groups);
  if (!bias.defined()) return;
  // oneDNN asks for one dtype; what it does not compute in is added by kernels that take any.
  const bool by_onednn = input.dtype() == DType::kFloat32 || input.dtype() == DType::kBFloat16;
  if (by_onednn) product::RequireSummandOf(bias, input);
  shape::RequireRank("the bias", bias, 1);
  shape::RequireEqual("output channels", bias.size(0), weight.size(0));
}

bool UsesChannelsLast(const TensorView& input, const TensorView& weight) {
  return IsChannelsLast(input.sizes(), input.strides()) ||
         IsChannelsLast(weight.sizes(), weight.strides());
}

namespace {

Dims ImageSizes(const TensorView& input, const TensorView& weight, const Geometry& geometry) {
  const Dims spatial = window::OutputSizes(window::Spatial(input.sizes()),
                                           {Dims(window::Spatial(weight.sizes())), geometry.stride,
                                            geometry.padding, geometry.dilation});
  Dims sizes{input.size(0), weight.size(0)};
  for (std::int64_t size : spatial) sizes.push_back(size);
  return sizes;
}

}  // namespace

void AddImage(const TensorView& input, const TensorView& weight, const TensorView& bias,
              const Geometry& geometry, Outputs& out) {
  RequireOperands(input, weight, bias, geometry.groups);
  const Dims sizes = ImageSizes(input, weight, geometry);
  const bool last = UsesChannelsLast(input, weight);
  out.Add(input.dtype(), sizes, last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes));
}

void RequireGradient(const TensorView& gradient, const TensorView& input, const TensorView& weight,
                     const Geometry& geometry) {
  RequireOperands(input, weight, geometry.groups);
  const Dims sizes = ImageSizes(input, weight, geometry);
  if (!std::ranges::equal(gradient.sizes(), std::span<const std::int64_t>(sizes))) {
    Refuse(fmt::format("a gradient {} of a convolution that gives {}", shape::Text(gradient),
                       shape::Text(sizes)));
  }
}

bool NeedsColumns(const TensorView& weight, const Geometry& geometry) {
  const auto any_not = [](const Dims& list, std::int64_t usual) {
    return std::ranges::any_of(std::span<const std::int64_t>(list),
                               [usual](auto n) { return n != usual; });
  };
  return work::Elements(window::Spatial(weight.sizes())) != Count(1) ||
         any_not(geometry.stride, 1) || any_not(geometry.padding, 0);
}

namespace {

// A transposed convolution is described as the one whose gradient it computes.
onednn::Convolution Described(const TensorView& input, const TensorView& weight,
                              std::span<const std::int64_t> source,
                              std::span<const std::int64_t> result, const Geometry& geometry,
                              bool has_bias) {
  return {.source = source,
          .weight = weight.sizes(),
          .result = result,
          .stride = geometry.stride,
          .padding = geometry.padding,
          .dilation = geometry.dilation,
          .groups = geometry.groups,
          .dtype = input.dtype(),
          .has_bias = has_bias,
          .channels_last = UsesChannelsLast(input, weight)};
}

}  // namespace

onednn::Buffers ForwardBuffers(const TensorView& input, const TensorView& weight,
                               std::span<const std::int64_t> out, const Geometry& geometry,
                               bool has_bias, const Target& target) {
  return onednn::ForwardBuffers(Described(input, weight, input.sizes(), out, geometry, has_bias),
                                target);
}

onednn::Buffers TransposedBuffers(const TensorView& input, const TensorView& weight,
                                  std::span<const std::int64_t> out, const Geometry& geometry,
                                  bool has_bias, const Target& target) {
  return onednn::TransposedBuffers(Described(input, weight, out, input.sizes(), geometry, has_bias),
                                   target);
}

Work WorkOf(const OpView& op, const TensorView& weight, const TensorView& bias) {
  const Count elements = work::Elements(op.output());
  Work w{.mac = elements * weight.size(1) * work::Elements(window::Spatial(weight.sizes()))};
  if (bias.defined()) w.alu = elements;
  return w;
}

}  // namespace steelyard::convolution
