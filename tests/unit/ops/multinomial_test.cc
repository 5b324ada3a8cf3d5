// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cuda/cuda_events.h"
#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

// Recorded, as all that follows.
TEST(Multinomial, DrawsWithReplacementFromRunningSums) {
  EXPECT_THAT(EventsOf("aten::multinomial(f32[2,8], 3, True)"),
              ElementsAre(Line(48, "resize_"), Line(32, "empty"), Line(-32, "multinomial")));
  EXPECT_THAT(CudaBytesOf("aten::multinomial(f32[2,8], 3, True)"),
              ElementsAre(48, 64, 64, -64, -64));
}

// Whether they are probabilities is asked first; then a quotient with a random number for each, and
// the largest of these.
TEST(Multinomial, DrawsWithoutAsTheLargestQuotients) {
  EXPECT_THAT(CudaBytesOf("aten::multinomial(f32[2,8], 3)"),
              ElementsAre(48, 4, 4, 1, 1, 1, -1, -1, 8, 2, 1, -2, -8, 1, -1, 64, 24, -24, -64, -1,
                          -1, -4, -4));
  EXPECT_THAT(
      CudaBytesOf("aten::multinomial(f32[8], 3)"),
      ElementsAre(24, 4, 4, 1, 1, 1, -1, -1, 4, 1, -4, 1, -1, 32, 12, -12, -32, -1, -1, -4, -4));
}

TEST(Multinomial, OneNeedsNoOrder) {
  EXPECT_THAT(
      CudaBytesOf("aten::multinomial(f32[2,8], 1)"),
      ElementsAre(16, 4, 4, 1, 1, 1, -1, -1, 8, 2, 1, -2, -8, 1, -1, 64, -64, -1, -1, -4, -4));
}

}  // namespace
}  // namespace steelyard
