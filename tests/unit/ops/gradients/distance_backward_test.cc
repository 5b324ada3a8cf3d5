// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/distance_backward.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;

// Of four vectors %p and four others %x, of which a gradient %g of the distances %d arrived.
std::vector<std::string> StepOfDistances(std::string_view p) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\ninput %x: f32[4,8]\ninput %g: f32[4,4]\ninput %d: f32[4,4]\n"
      "%y = aten::_cdist_backward(%g, %p, %x, " +
      std::string(p) +
      ", %d)\n%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase == Phase::kBackward && name.starts_with("aten::")) out.emplace_back(name);
  }
  return out;
}

TEST(DistanceBackwardGradients, SlopesOfOtherNormsBend) {
  EXPECT_THAT(StepOfDistances("3.0"), Contains("aten::pow.Tensor_Scalar").Times(2));
  EXPECT_THAT(StepOfDistances("1.0"), Contains("aten::pow.Tensor_Scalar").Times(0));
}

TEST(DistanceBackwardGradients, ZerosComeOfSignsAlone) {
  const std::vector<std::string> kernels = StepOfDistances("1.0");
  EXPECT_EQ(kernels.back(), "aten::zeros_like");
}

// A list is kept with its distances and their gradient, and its pairs are places in a square.
TEST(DistanceBackwardGradients, PairsAreASquareOfDistances) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\ninput %g: f32[6]\ninput %d: f32[6]\n"
      "%y = aten::_pdist_backward(%g, %p, 2.0, %d)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> backward;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) backward.emplace_back(kernels.op_name(node.op));
  }
  EXPECT_THAT(backward, Contains("aten::triu_indices").Times(1));
  EXPECT_EQ(kernels.saved.size(), 3U);
}

}  // namespace
}  // namespace steelyard
