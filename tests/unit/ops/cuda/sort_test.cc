// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/sort.h"

#include <gmock/gmock.h>

#include "../calls.h"
#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Positions of one row, which all of them start from.
TEST(CudaSort, ShortRowsAreSortedWhereTheyLie) {
  EXPECT_THAT(CudaBytesOf("aten::sort(f32[4,16], 1)"), ElementsAre(256, 512, 128, -128));
  EXPECT_THAT(CudaBytesOf("aten::sort(f32[1024,4], 0)"), ElementsAre(16384, 32768, 8192, -8192));
}

TEST(CudaSort, ManyLongRowsAreSegments) {
  EXPECT_THAT(CudaBytesOf("aten::sort(f32[1000,5000], 1)"),
              ElementsAre(20000000, 40000000, 40000000, 60000255, -60000255, -40000000));
}

TEST(CudaSort, OneRowIsSortedByItself) {
  EXPECT_THAT(CudaBytesOf("aten::sort(f32[100000], 0)"),
              ElementsAre(400000, 800000, 800000, 1228287, -1228287, -800000));
}

// All elements with their places, then the places by their rows.
TEST(CudaSort, AFewLongRowsAreSortedAtOnce) {
  EXPECT_THAT(CudaBytesOf("aten::sort(f32[2,100000], 1)"),
              ElementsAre(800000, 1600000, 1600000, 1600000, 800000, 2447615, -2447615, -800000,
                          38399, -38399, -1600000, -1600000));
}

TEST(CudaSort, RowsWhoseElementsLieApartAreCopied) {
  EXPECT_THAT(CudaBytesOf("aten::sort(f32[5000,3], 0)"),
              ElementsAre(60000, 120000, 60000, 60000, 120000, 120000, 120000, 60000, 191999,
                          -191999, -60000, 5631, -5631, -120000, -120000, -120000, -60000, -60000));
}

TEST(CudaSort, RowsThatNoIntCountsAreRefused) {
  const Result<Program> program = ProgramOfCall("aten::sort(f32[2147483648])");
  ASSERT_TRUE(program);
  const Result<Program> kernels = Dispatcher(*program, kH100).Run();
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr("more than an int counts"));
}

TEST(CudaTopk, LongRowsAreSharedByBlocksThatCountDigits) {
  EXPECT_THAT(CudaBytesOf("aten::topk(f32[4,1000], 5)"), ElementsAre(80, 160));
  EXPECT_THAT(CudaBytesOf("aten::topk(f32[2,50000], 5)"),
              ElementsAre(40, 80, 8, 16, 16, 50176, 2048, 392, 392, 1279, -1279, 1279, -1279, -392,
                          -392, -2048, -50176, -16, -16, -8));
}

}  // namespace
}  // namespace steelyard
