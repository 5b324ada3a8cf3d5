// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/grid_sample_backward.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "grid_sample_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;

TEST(GridSampleBackwardGradients, AnImagesGradientIsSampledAgain) {
  const std::vector<std::string> kernels = SampledTwice(kSampledImage, "0, 0, False", 0);
  EXPECT_THAT(kernels, Contains("aten::grid_sampler_2d").Times(1));
  EXPECT_THAT(kernels, Contains("aten::grid_sampler_2d_backward").Times(1));
  EXPECT_THAT(kernels, Contains("aten::gather").Times(0));
}

TEST(GridSampleBackwardGradients, NearestPixelsHaveNoSlope) {
  EXPECT_THAT(SampledTwice(kSampledImage, "1, 0, False"), Contains("aten::gather").Times(0));
  EXPECT_THAT(SampledTwice(kSampledImage, "0, 0, False"), Contains("aten::gather").Times(1));
}

// A cubic image has 16 taps at once, a volume 4 for each of 16 pairs of y and z.
TEST(GridSampleBackwardGradients, CubicVolumesGoFourByFour) {
  EXPECT_THAT(SampledTwice(kSampledImage, "2, 1, False"), Contains("aten::gather").Times(1));
  EXPECT_THAT(SampledTwice(kSampledVolume, "2, 1, False"), Contains("aten::gather").Times(16));
  EXPECT_THAT(SampledTwice(kSampledVolume, "2, 1, False"), Contains("aten::scatter_add").Times(16));
}

}  // namespace
}  // namespace steelyard
