// SPDX-License-Identifier: Apache-2.0
//
// Steps of the gradients of what is sampled along a grid.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "../steps.h"

namespace steelyard {

inline constexpr std::string_view kSampledImage =
    "parameter %g: f32[2,3,5,6]\nparameter %x: f32[2,3,4,4]\nparameter %p: f32[2,5,6,2]\n";
inline constexpr std::string_view kSampledVolume =
    "parameter %g: f32[2,3,2,5,6]\nparameter %x: f32[2,3,4,4,4]\nparameter %p: f32[2,2,5,6,3]\n";

// The kernels of the backward pass, of the gradients that a loss is made of: 0 the image's, 1 the
// grid's. Options are interpolation, padding and whether corners are aligned.
inline std::vector<std::string> SampledTwice(std::string_view tensors, std::string_view options,
                                             int gradient = 1) {
  const std::string kernel = tensors == kSampledImage ? "2d" : "3d";
  const Program kernels = KernelsOfProgram(
      std::string(tensors) +
      fmt::format("%a, %b = aten::grid_sampler_{}_backward(%g, %x, %p, {}, [True, True])\n"
                  "%loss = aten::sum(%{})\nsteelyard::backward(%loss) phase backward\n"
                  "return %loss\n",
                  kernel, options, gradient == 0 ? "a" : "b"));
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase == Phase::kBackward && name.starts_with("aten::")) out.emplace_back(name);
  }
  return out;
}

}  // namespace steelyard
