// SPDX-License-Identifier: Apache-2.0
#include "models/swin_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;

TEST(SwinWindows, AGridIsCutIntoSquares) {
  NetUnderTest t;
  const Windows windows{.net = t.net, .side = 3, .grid = {.height = 6, .width = 9}, .channels = 4};
  EXPECT_EQ(windows.count(), 6 / 3 * 9 / 3);
  const Tensor x = t.builder.Input("x", DType::kFloat32, {2, 6, 9, 4});
  t.builder.Return(windows.Joined(windows.Of(x, 2)));
  const std::string text = t.Text();
  EXPECT_THAT(text, HasSubstr("aten::view(%x, [2, 2, 3, 3, 3, 4])"));
  EXPECT_THAT(text, HasSubstr("[-1, 6, 9, 4]"));
}

TEST(SwinWindows, AShiftedGridHasThreeStretches) {
  NetUnderTest t;
  const Windows windows{.net = t.net, .side = 4, .grid = {.height = 8, .width = 12}, .channels = 5};
  t.builder.Return(ShiftMask(t.net, windows, 2));
  const std::string text = t.Text();
  // From the last window on, and from where the shift begins.
  EXPECT_THAT(text, HasSubstr("aten::ge.Scalar(%arange, 4)"));
  EXPECT_THAT(text, HasSubstr("aten::ge.Scalar(%arange, 6)"));
  EXPECT_THAT(text, HasSubstr("aten::ge.Scalar(%arange_1, 8)"));
  EXPECT_THAT(text, HasSubstr("aten::ge.Scalar(%arange_1, 10)"));
}

}  // namespace
}  // namespace steelyard::models
