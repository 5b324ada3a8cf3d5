// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/distance.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(DistanceGradients, BothOfAProductAreComputedThoughOneIsWanted) {
  const std::vector<std::string> kernels = BackwardOf("aten::_euclidean_dist(%p, %x)");
  EXPECT_THAT(kernels, Contains("mm").Times(2));
  EXPECT_THAT(kernels, Contains("sub.Tensor").Times(2));
}

TEST(DistanceGradients, OthersHaveAKernelForEach) {
  EXPECT_THAT(BackwardOf("aten::_cdist_forward(%p, %x, 1.0, None)"),
              Contains("distance_gradients").Times(1));
  EXPECT_THAT(BackwardOf("aten::_cdist_forward(%p, %q, 1.0, None)"),
              Contains("distance_gradients").Times(2));
}

TEST(DistanceGradients, AWeightSavesDirectionLengthAndNorm) {
  const Program kernels = KernelsOfProgram(
      "parameter %v: f32[4,8]\nparameter %g: f32[4,1]\n"
      "%w, %n = aten::_weight_norm_interface(%v, %g)\n%loss = aten::sum(%w)\n"
      "steelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> saved;
  for (const SavedTensor& tensor : kernels.saved) {
    saved.emplace_back(kernels.text(kernels.values[tensor.value].name));
  }
  EXPECT_THAT(saved, ElementsAre("g", "v", "n"));
}

}  // namespace
}  // namespace steelyard
