// SPDX-License-Identifier: Apache-2.0

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

void RequireOperands(const TensorView& input, const TensorView& weight, const TensorView& bias,
                     std::int64_t groups) {
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
  if (!bias.defined()) return;
  shape::RequireRank("the bias", bias, 1);
  shape::RequireEqual("output channels", bias.size(0), weight.size(0));
}

bool UsesChannelsLast(const TensorView& input, const TensorView& weight) {
  return IsChannelsLast(input.sizes(), input.strides()) ||
         IsChannelsLast(weight.sizes(), weight.strides());
}

void AddImage(const TensorView& input, const TensorView& weight, const TensorView& bias,
              const Geometry& geometry, Outputs& out) {
  RequireOperands(input, weight, bias, geometry.groups);
  const Dims spatial = window::OutputSizes(window::Spatial(input.sizes()),
                                           {Dims(window::Spatial(weight.sizes())), geometry.stride,
                                            geometry.padding, geometry.dilation});
  Dims sizes{input.size(0), weight.size(0)};
  for (std::int64_t size : spatial) sizes.push_back(size);
  const bool last = UsesChannelsLast(input, weight);
  out.Add(input.dtype(), sizes, last ? ChannelsLastStrides(sizes) : ContiguousStrides(sizes));
}

Work WorkOf(const OpView& op, const TensorView& weight, const TensorView& bias) {
  const Count elements = work::Elements(op.output());
  Work w{.mac = elements * weight.size(1) * work::Elements(window::Spatial(weight.sizes()))};
  if (bias.defined()) w.alu = elements;
  return w;
}

}  // namespace steelyard::convolution
