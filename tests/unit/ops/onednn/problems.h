// SPDX-License-Identifier: Apache-2.0
//
// Convolutions to ask oneDNN's rules about.
#pragma once

#include <cstdint>

#include "ops/onednn/problem.h"

namespace steelyard::onednn {

inline constexpr std::int64_t kGap = 128;  // bytes, after every buffer of a scratch

// A dimension with padding on both sides that its stride divides without rest.
inline Axis AxisOf(std::int64_t in, std::int64_t kernel, std::int64_t padding = 0,
                   std::int64_t stride = 1, std::int64_t dilation = 1) {
  Axis axis{.in = in, .kernel = kernel, .stride = stride, .dilation = dilation, .before = padding};
  axis.out = (in + 2 * padding - axis.extent()) / stride + 1;
  return axis;
}

// Square images, `inputs` and `outputs` channels to a group.
inline Problem SquareOf(std::int64_t batch, std::int64_t inputs, std::int64_t outputs,
                        const Axis& axis, std::int64_t groups = 1) {
  Problem p;
  p.batch = batch;
  p.groups = groups;
  p.inputs = inputs;
  p.outputs = outputs;
  p.height = p.width = axis;
  return p;
}

// Images of a single row.
inline Problem RowOf(std::int64_t batch, std::int64_t inputs, std::int64_t outputs,
                     const Axis& axis, std::int64_t groups = 1) {
  Problem p = SquareOf(batch, inputs, outputs, axis, groups);
  p.height = Axis{};
  return p;
}

inline Problem Narrow(Problem p) {
  p.dtype = DType::kBFloat16;
  return p;
}

}  // namespace steelyard::onednn
