// SPDX-License-Identifier: Apache-2.0
//
// A convolution as oneDNN's kernels look at it: channels per group, and three dimensions of the
// image of which the first may be missing.
#pragma once

#include <cstdint>

#include "ops/rules/onednn.h"
#include "support/rounding.h"

namespace steelyard::onednn {

inline constexpr std::int64_t RoundDown(std::int64_t n, std::int64_t to) { return n / to * to; }

// One dimension of the image.
struct Axis {
  std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1;
  std::int64_t before = 0;  // padding

  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }  // pixels a kernel spans
  // Pixels that `outputs` results read behind the image; negative where they end within it.
  std::int64_t After(std::int64_t outputs) const {
    return (outputs - 1) * stride + extent() - (in + before);
  }
  std::int64_t after() const { return After(out); }
  // Whether the first or last result may read no pixel at all.
  bool LeavesImage() const { return extent() <= before || extent() <= after(); }
};

struct Problem {
  std::int64_t batch = 1, groups = 1;
  std::int64_t inputs = 1, outputs = 1;  // channels of a group
  Axis depth, height, width;
  int rank = 4;  // 5: of volumes
  DType dtype = DType::kFloat32;
  bool has_bias = false;
  bool channels_last = false;
  // Some number does not fit in 32 bits: oneDNN's own kernels refuse it. Else products of two
  // numbers fit in 64 bits.
  bool large = false;

  bool narrow() const { return dtype != DType::kFloat32; }
  std::int64_t kernel() const { return depth.kernel * height.kernel * width.kernel; }
  // Of all dimensions together.
  double strides() const {
    return static_cast<double>(depth.stride * height.stride) * static_cast<double>(width.stride);
  }
  bool pointwise() const { return kernel() == 1; }
  bool depthwise() const { return groups > 1 && inputs == 1 && outputs == 1; }
  Count SourceElements() const { return Elements(inputs, depth.in, height.in, width.in); }
  Count ResultElements() const { return Elements(outputs, depth.out, height.out, width.out); }
  Count WeightElements() const { return Count(groups) * outputs * inputs * kernel(); }
  // Whether the kernel covers each image of a batch once, in which case oneDNN multiplies matrices.
  bool IsInnerProduct() const {
    constexpr std::int64_t kFewElements = 27;
    const auto covers = [](const Axis& a) {
      return a.out == 1 && a.before == 0 && a.after() == 0 && a.stride == 1 && a.dilation == 1;
    };
    return !large && batch > 1 && groups == 1 && kernel() > kFewElements && covers(depth) &&
           covers(height) && covers(width);
  }
  bool LeavesImage() const {
    return depth.LeavesImage() || height.LeavesImage() || width.LeavesImage();
  }

 private:
  Count Elements(std::int64_t channels, std::int64_t d, std::int64_t h, std::int64_t w) const {
    return Count(batch) * groups * channels * d * h * w;
  }
};

Problem ProblemOf(const Convolution& convolution);

}  // namespace steelyard::onednn
