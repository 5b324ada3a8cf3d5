// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/masking.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// The saved tensors of a step whose loss is the sum of this call of %p, another matrix and a mask.
std::vector<std::string> SavedOfMasked(const std::string& call) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\ninput %x: f32[4,8]\ninput %m: bool[4,8]\n%y = " + call +
      "\n%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> out;
  for (const SavedTensor& saved : kernels.saved) {
    out.push_back(std::string(kernels.text(kernels.values[saved.value].name)) + " by " +
                  std::string(kernels.text(saved.by)));
  }
  return out;
}

TEST(MaskingGradients, OnlyTheMaskIsSaved) {
  EXPECT_THAT(SavedOfMasked("aten::where.self(%m, %p, %x)"), ElementsAre("m by WhereBackward0"));
  EXPECT_THAT(SavedOfMasked("aten::masked_fill.Scalar(%p, %m, 0)"),
              ElementsAre("m by MaskedFillBackward0"));
}

}  // namespace
}  // namespace steelyard
