// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

// As RAF's estimator prints it for BERT.
TEST(ProgressTest, ALineHasThePartAndBothCounts) {
  EXPECT_EQ(ProgressLine(0, 1833), "Estimated 0.00% (0/1833)\n");
  EXPECT_EQ(ProgressLine(183, 1833), "Estimated 9.98% (183/1833)\n");
  EXPECT_EQ(ProgressLine(1830, 1833), "Estimated 99.84% (1830/1833)\n");
  EXPECT_EQ(ProgressLine(8060, 8066), "Estimated 99.93% (8060/8066)\n");
}

TEST(ProgressTest, ItIsWrittenWhereItIsAskedFor) {
  testing::internal::CaptureStderr();
  StandardErrorProgress(true)(1, 4);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "Estimated 25.00% (1/4)\n");
}

}  // namespace
}  // namespace steelyard::cli
