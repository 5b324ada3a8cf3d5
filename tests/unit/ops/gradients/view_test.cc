// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/view.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ViewGradients, ViewsAreViewedBack) {
  EXPECT_THAT(BackwardOf("aten::t(%p)").front(), "t");
  EXPECT_THAT(BackwardOf("aten::unsqueeze(%p, 0)").front(), "squeeze.dim");
  EXPECT_THAT(SavedIn("aten::permute(%p, [1,0])"), IsEmpty());
}

TEST(ViewGradients, ASliceIsZeroElsewhere) {
  EXPECT_THAT(BackwardOf("aten::slice.Tensor(%p, 0, 1, 3)"), ElementsAre("slice_backward"));
}

TEST(ViewGradients, PartsOfACatAreSlices) {
  EXPECT_THAT(BackwardOf("aten::cat([%p, %q], 1)"),
              ElementsAre("slice.Tensor", "slice.Tensor", "new_empty_strided", "copy_",
                          "new_empty_strided", "copy_"));
}

TEST(ViewGradients, ADiagonalIsZeroElsewhere) {
  EXPECT_THAT(BackwardOf("aten::diagonal(%p)"), ElementsAre("diagonal_backward"));
  EXPECT_THAT(BackwardOf("aten::narrow(%p, 1, -3, 2)"), ElementsAre("slice_backward"));
}

TEST(ViewGradients, AViewWithStridesIsWrittenIntoAStorage) {
  EXPECT_THAT(BackwardOf("aten::as_strided(%p, [3,2], [2,1])"),
              ElementsAre("new_zeros", "as_strided", "copy_", "as_strided"));
  // What is seen twice is added up.
  EXPECT_THAT(BackwardOf("aten::as_strided(%p, [3,2], [1,1])"), Contains("index_add_"));
}

TEST(ViewGradients, ACopyGivesItsGradientToTheSource) {
  EXPECT_THAT(BackwardOf("aten::copy_(%x, %p)"), ElementsAre("new_empty_strided", "copy_"));
}

// Elements from 1 on were overwritten: so the part of the gradient begins there.
TEST(ViewGradients, ASliceThatIsOverwrittenBeginsWhereItDid) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[3,8]\n%z = aten::zeros([4,8], f32)\n"
      "%s = aten::slice.Tensor(%z, 0, 1, 4)\n%y = aten::mul_.Tensor(%s, %p)\n"
      "%loss = aten::sum(%z)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::int64_t> begins;
  for (const Node& node : kernels.main().nodes) {
    if (kernels.op_name(node.op) != "aten::as_strided") continue;
    begins.push_back(kernels.args(node).back().dim.number());
  }
  EXPECT_EQ(begins, (std::vector<std::int64_t>{8}));
}

}  // namespace
}  // namespace steelyard
