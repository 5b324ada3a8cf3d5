// SPDX-License-Identifier: Apache-2.0
//
// Training steps of a program with one parameter.
#pragma once

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {

// The kernels and marks of the backward pass of a step whose loss is the sum of `%y`, a result of a
// call of the parameter `%a`, which is a `matrix`.
inline std::vector<std::string> BackwardOfMatrix(const std::string& matrix,
                                                 const std::string& call) {
  const Program kernels =
      KernelsOfProgram("parameter %a: " + matrix + "\n" + call +
                       "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\n"
                       "return %loss\n");
  std::vector<std::string> names;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) names.emplace_back(kernels.op_name(node.op));
  }
  return names;
}

}  // namespace steelyard
