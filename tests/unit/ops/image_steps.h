// SPDX-License-Identifier: Apache-2.0
//
// Training steps over an image, as short text to compare with.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "events.h"
#include "steps.h"

namespace steelyard {

// A step whose loss is the mean of `%y`, a call of an image %p f32[2,4,8,8], a weight %w
// f32[6,4,3,3] and vectors %a and %b f32[4], all of them parameters; %m and %v f32[4] are not.
inline std::string ImageStepOf(std::string_view call) {
  return "parameter %p: f32[2,4,8,8]\nparameter %w: f32[6,4,3,3]\nparameter %a: f32[4]\n"
         "parameter %b: f32[4]\nbuffer %m: f32[4]\nbuffer %v: f32[4]\n%y = " +
         std::string(call) +
         "\n%loss = aten::mean(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n";
}

// The kernels of the backward pass below the mean, without namespaces and marks.
inline std::vector<std::string> ImageBackwardOf(std::string_view call) {
  const Program kernels = KernelsOfProgram(ImageStepOf(call));
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase != Phase::kBackward || name == kDropMark) continue;
    out.emplace_back(name.substr(name.find("::") + 2));
  }
  // The gradient of the loss is made, spread and divided.
  const auto divided = std::ranges::find(out, "div.Tensor");
  EXPECT_NE(divided, out.end());
  if (divided != out.end()) out.erase(out.begin(), divided + 1);
  return out;
}

// What autograd keeps in that step: "p by ConvolutionBackward0".
inline std::vector<std::string> SavedOfImage(std::string_view call) {
  const Program kernels = KernelsOfProgram(ImageStepOf(call));
  std::vector<std::string> out;
  for (const SavedTensor& saved : kernels.saved) {
    out.push_back(std::string(kernels.text(kernels.values[saved.value].name)) + " by " +
                  std::string(kernels.text(saved.by)));
  }
  return out;
}

}  // namespace steelyard
