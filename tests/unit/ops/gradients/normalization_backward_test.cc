// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/normalization_backward.h"

#include <gmock/gmock.h>

#include "../programs.h"
#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

std::string LayerNormStep(const std::string& parameter) {
  const auto is = [&](const std::string& name) {
    return (name == parameter ? "parameter %" : "input %") + name;
  };
  return is("g") + ": f32[4,8]\n" + is("x") + ": f32[4,8]\n" + is("m") + ": f32[4,1]\n" + is("r") +
         ": f32[4,1]\n" + is("w") + ": f32[8]\n" +
         "%a, %b, %c = aten::native_layer_norm_backward(%g, %x, [8], %m, %r, %w, %w, "
         "[True,True,True])\n%loss = aten::sum(%a)\nsteelyard::backward(%loss) phase backward\n"
         "return %loss\n";
}

TEST(NormalizationBackwardGradients, TheInputIsSaved) {
  const Program kernels = KernelsOfProgram(LayerNormStep("x"));
  EXPECT_EQ(kernels.saved.size(), 5u);  // gradient, input, mean, 1 / σ, weight
}

TEST(NormalizationBackwardGradients, PyTorchHasNoneOfTheMean) {
  const Result<Program> kernels = RunText(LayerNormStep("m"));
  ASSERT_FALSE(kernels);
  EXPECT_THAT(Describe(kernels.error()), HasSubstr("native_layer_norm_backward"));
}

// The mean that the forward kernel gave has no history, as in programs that torch.export makes of a
// network with its backward pass.
TEST(NormalizationBackwardGradients, OfTheForwardKernelTheOutputAloneHasAGradient) {
  const Program kernels = KernelsOfProgram(
      "parameter %x: f32[4,8]\n%y, %m, %r = aten::native_layer_norm(%x, [8], None, None, 1e-05)\n"
      "%a, %b, %c = aten::native_layer_norm_backward(%y, %x, [8], %m, %r, None, None, "
      "[True,False,False])\n%loss = aten::sum(%a)\nsteelyard::backward(%loss) phase backward\n"
      "return %loss\n");
  ASSERT_EQ(kernels.gradients.size(), 1u);
  EXPECT_NE(kernels.gradients[0], kNoId);
}

}  // namespace
}  // namespace steelyard
