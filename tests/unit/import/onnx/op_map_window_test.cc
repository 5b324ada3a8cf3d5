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

TEST(Windows, TheLargestOfABoxIsAPoolOverItsSamples) {
  const auto boxes = [](std::int64_t samples) {
    ModelText model(16);
    model.Input("x", {1, 2, 10, 10}).Input("rois", {3, 4}).Integers("images", {0, 0, 0});
    return model
        .Node({.op = "RoiAlign",
               .inputs = {"x", "rois", "images"},
               .outputs = {"y"},
               .attributes = {Word("mode", "max"), Int("output_height", 5), Int("output_width", 5),
                              Int("sampling_ratio", samples)}})
        .Output("y");
  };
  EXPECT_EQ(ResultOf(boxes(2)), "3,2,5,5");
  EXPECT_NE(CallsOf(boxes(2)).find("roi_align aten::max_pool2d"), std::string::npos);
  EXPECT_EQ(CallsOf(boxes(0)), "onnx::RoiAlign");
}

TEST(Windows, WhatAnOutputShapeHasBeyondTheWindowsIsAdded) {
  const ModelText model = OneNode("ConvTranspose", {{1, 1, 3, 3}, {1, 2, 3, 3}},
                                  {Ints("strides", {3, 2}), Ints("output_shape", {10, 8})}, 22);
  EXPECT_EQ(ResultOf(model), "1,2,10,8");
}

}  // namespace
}  // namespace steelyard::onnx
