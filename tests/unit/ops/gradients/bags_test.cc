// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/bags.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::Not;

// A sum did not need the bag of each index; its gradient does.
TEST(BagGradients, ASumFindsItsBagsAgain) {
  const std::vector<std::string> of_sum =
      BackwardOf("aten::_embedding_bag(%p, %i, %i, False, 0, False)");
  EXPECT_THAT(of_sum, Contains("cumsum"));
  const std::vector<std::string> of_mean =
      BackwardOf("aten::_embedding_bag(%p, %i, %i, False, 1, False)");
  EXPECT_THAT(of_mean, Not(Contains("cumsum")));
  EXPECT_THAT(of_mean, Contains("add_to_rows"));
}

TEST(BagGradients, AnAlignmentHasAKernel) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[10,2,5]\ninput %t: i64[2,3]\n"
      "%y, %a = aten::_ctc_loss(%p, %t, [10,10], [3,2])\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> names;
  for (const Node& node : kernels.main().nodes) names.emplace_back(kernels.op_name(node.op));
  EXPECT_THAT(names, Contains("steelyard::ctc_gradients"));
}

}  // namespace
}  // namespace steelyard
