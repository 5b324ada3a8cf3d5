// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Fused, BlocksAreTakenApart) {
  EXPECT_EQ(CallsOf(OneNode("SwiGLU", {{2, 8}, {2, 8}}, {}, 28)), "aten::silu aten::mul.Tensor");
  EXPECT_EQ(CallsOf(OneNode("SwiGLU", {{2, 8}, {2, 8}}, {Real("alpha", 2)}, 28)),
            "aten::mul.Tensor aten::sigmoid aten::mul.Tensor aten::mul.Tensor");
  EXPECT_EQ(ResultOf(OneNode("SwiGLU", {{"batch", 8}, {"batch", 8}}, {}, 28)), "?,8");
}

ModelText OfMicrosoft(const std::string& op, const std::vector<std::vector<Size>>& inputs,
                      std::vector<Attribute> attributes) {
  ModelText model;
  NodeText node{.op = op, .outputs = {"y"}, .attributes = std::move(attributes)};
  node.domain = "com.microsoft";
  for (const std::vector<Size>& sizes : inputs) {
    node.inputs.push_back("x" + std::to_string(node.inputs.size()));
    model.Input(node.inputs.back(), sizes);
  }
  model.Node(node);
  return model.Output("y");
}

TEST(Fused, ConvolutionsAddAndActivate) {
  const std::vector<std::vector<Size>> with_sum{{1, 3, 8, 8}, {4, 3, 3, 3}, {4}, {1, 4, 6, 6}};
  EXPECT_EQ(CallsOf(OfMicrosoft("FusedConv", with_sum, {Word("activation", "Relu")})),
            "aten::conv2d aten::add.Tensor aten::relu");
  const std::vector<std::vector<Size>> plain{{1, 3, 8, 8}, {4, 3, 3, 3}};
  const auto activated = [&](const char* name, std::vector<double> with) {
    return CallsOf(OfMicrosoft("FusedConv", plain,
                               {Word("activation", name), Reals("activation_params", with)}));
  };
  EXPECT_EQ(activated("Clip", {0, 6}), "aten::conv2d aten::clamp");
  EXPECT_EQ(activated("HardSigmoid", {0.2, 0.5}),
            "aten::conv2d aten::mul.Tensor aten::add.Scalar aten::clamp");
  EXPECT_EQ(activated("Nothing", {}), "com.microsoft::FusedConv");
  EXPECT_EQ(ResultOf(OfMicrosoft("FusedConv", plain, {})), "1,4,6,6");
}

// [rows, batches..., columns] by [columns, batches..., rows]
TEST(Fused, ProductsTakeRowsFromBeforeTheBatches) {
  const std::vector<std::vector<Size>> inputs{{5, 2, 7, 3}, {2, 7, 3, 4}};
  EXPECT_EQ(ResultOf(OfMicrosoft("FusedMatMul", inputs, {Int("transBatchA", 1)})), "2,7,5,4");
  const std::vector<std::vector<Size>> turned{{3, 2, 5}, {4, 2, 3}};
  EXPECT_EQ(ResultOf(OfMicrosoft("FusedMatMul", turned,
                                 {Int("transBatchA", 1), Int("transA", 1), Int("transBatchB", 1),
                                  Int("transB", 1)})),
            "2,5,4");
}

}  // namespace
}  // namespace steelyard::onnx
