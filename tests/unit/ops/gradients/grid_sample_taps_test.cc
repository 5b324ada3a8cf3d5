// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/grid_sample_taps.h"

#include <gmock/gmock.h>

#include <cstddef>

#include "grid_sample_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;

// Zeros hide what is gathered and what is scattered; the other paddings have pixels everywhere.
TEST(GridSampleTaps, OnlyZerosHideTaps) {
  EXPECT_THAT(SampledTwice(kSampledVolume, "0, 0, False"), Contains("aten::where.self").Times(2));
  EXPECT_THAT(SampledTwice(kSampledVolume, "0, 1, False"), Contains("aten::where.self").Times(0));
}

// Reflected places of each axis: two signs, and which way it goes.
TEST(GridSampleTaps, LinearPlacesAreMirroredOnce) {
  EXPECT_THAT(SampledTwice(kSampledVolume, "0, 2, True"), Contains("aten::where.self").Times(9));
}

// Cubic places stay where they are. Each of the 16 lines of a volume's taps is mirrored along three
// axes, for what is gathered and for what is scattered.
TEST(GridSampleTaps, CubicTapsAreMirroredOneByOne) {
  constexpr std::size_t kLines = 16;
  EXPECT_THAT(SampledTwice(kSampledVolume, "2, 2, False"),
              Contains("aten::round").Times(kLines * 3 * 2));
  EXPECT_THAT(SampledTwice(kSampledVolume, "0, 2, False"), Contains("aten::round").Times(0));
}

}  // namespace
}  // namespace steelyard
