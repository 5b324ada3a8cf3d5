// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Attention, HeadsAreTakenApartAndJoined) {
  const std::vector<Attribute> heads{Int("q_num_heads", 4), Int("kv_num_heads", 2)};
  const ModelText model =
      OneNode("Attention", {{"batch", 7, 32}, {"batch", 9, 16}, {"batch", 9, 16}}, heads, 23);
  EXPECT_EQ(ResultOf(model), "?,7,32");
  EXPECT_NE(CallsOf(model).find("aten::scaled_dot_product_attention"), std::string::npos);
}

TEST(Attention, ScoresThatAreLimitedAreNotKnown) {
  EXPECT_EQ(CallsOf(OneNode("Attention", {{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}},
                            {Real("softcap", 2)}, 23)),
            "onnx::Attention");
}

ModelText Microsoft(const std::string& op, const std::vector<std::vector<Size>>& sizes,
                    const std::vector<Attribute>& attributes = {}) {
  ModelText model;
  NodeText node{.op = op, .outputs = {"y"}, .attributes = attributes, .domain = "com.microsoft"};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    node.inputs.emplace_back(1, static_cast<char>('a' + i));
    model.Input(node.inputs.back(), sizes[i]);
  }
  return model.Node(node).Output("y");
}

TEST(Attention, FusedBlocksAreTakenApart) {
  EXPECT_EQ(CallsOf(Microsoft("SkipLayerNormalization", {{2, 3, 8}, {2, 3, 8}, {8}})),
            "aten::add.Tensor aten::layer_norm");
  EXPECT_EQ(CallsOf(Microsoft("FastGelu", {{2, 8}, {8}})), "aten::add.Tensor aten::gelu");
  EXPECT_EQ(ResultOf(Microsoft("Attention", {{2, 5, 8}, {8, 24}, {24}}, {Int("num_heads", 2)})),
            "2,5,8");
  EXPECT_EQ(ResultOf(Microsoft("FusedMatMul", {{3, 2}, {3, 4}}, {Int("transA", 1)})), "2,4");
}

}  // namespace
}  // namespace steelyard::onnx
