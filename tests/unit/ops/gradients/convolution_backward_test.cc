// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/convolution_backward.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Kernels of the backward pass, where the gradients of input and weight arrive.
std::vector<std::string> BackwardOfGroups(const std::string& groups, const std::string& weight) {
  const Program kernels = KernelsOfProgram(
      "input %g: f64[2,6,8,8]\ninput %x: f64[2,4,8,8]\nparameter %p: " + weight +
      "\n%a, %b, %c = aten::convolution_backward(%g, %x, %p, [6], [1,1], [1,1], [1,1], False, "
      "[0,0], " +
      groups +
      ", [True,True,True])\n%s = aten::sum(%a)\n%t = aten::sum(%b)\n"
      "%loss = aten::add.Tensor(%s, %t)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) out.emplace_back(kernels.op_name(node.op));
  }
  return out;
}

TEST(ConvolutionBackwardGradients, GroupsAreConvolvedOneByOneAndJoined) {
  EXPECT_THAT(BackwardOfGroups("2", "f64[6,2,3,3]"), Contains("aten::cat"));
  EXPECT_THAT(BackwardOfGroups("1", "f64[6,4,3,3]"), Not(Contains("aten::cat")));
}

}  // namespace
}  // namespace steelyard
