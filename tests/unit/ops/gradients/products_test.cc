// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/products.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ProductGradients, FactorsAreSavedForOneAnother) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[2,3,5]\ninput %a: f32[4,3]\ninput %b: f32[4,5]\n"
      "%y = aten::bilinear(%a, %b, %p)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> backward;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) backward.emplace_back(kernels.op_name(node.op));
  }
  // The weight's own gradient is made of the two inputs.
  EXPECT_EQ(kernels.saved.size(), 2U);
  // One product for each row of the weight.
  EXPECT_THAT(backward, Contains("aten::bmm").Times(2));
}

}  // namespace
}  // namespace steelyard
