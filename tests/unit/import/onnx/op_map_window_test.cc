// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Windows, ConvolutionsTakeTheirKernelFromTheWeight) {
  const std::vector<Attribute> attributes{Ints("pads", {1, 1, 1, 1}), Ints("strides", {2, 2})};
  EXPECT_EQ(ResultOf(OneNode("Conv", {{"batch", 3, 9, 9}, {8, 3, 3, 3}}, attributes)), "?,8,5,5");
  EXPECT_EQ(CallsOf(OneNode("Conv", {{1, 3, 9}, {8, 3, 3}})), "aten::conv1d");
}

TEST(Windows, UnevenPaddingIsACopy) {
  EXPECT_EQ(CallsOf(OneNode("Conv", {{1, 3, 9, 9}, {8, 3, 3, 3}}, {Ints("pads", {0, 0, 1, 1})})),
            "aten::constant_pad_nd aten::conv2d");
  EXPECT_EQ(
      ResultOf(OneNode("Conv", {{1, 3, 9, 9}, {8, 3, 2, 2}}, {Word("auto_pad", "SAME_UPPER")})),
      "1,8,9,9");
}

TEST(Windows, TransposedOnesGrow) {
  // (5 - 1) * 2 + 3 - 2 + 1
  EXPECT_EQ(
      ResultOf(OneNode("ConvTranspose", {{1, 4, 5}, {4, 6, 3}},
                       {Ints("strides", {2}), Ints("pads", {1, 1}), Ints("output_padding", {1})})),
      "1,6,10");
}

TEST(Windows, PoolsOfAllOfAnImage) {
  EXPECT_EQ(CallsOf(OneNode("GlobalAveragePool", {{1, 3, 9, 9}})), "aten::adaptive_avg_pool2d");
  EXPECT_EQ(ResultOf(OneNode("GlobalMaxPool", {{1, 3, 9, 9}})), "1,3,1,1");
}

}  // namespace
}  // namespace steelyard::onnx
