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

}  // namespace
}  // namespace steelyard
