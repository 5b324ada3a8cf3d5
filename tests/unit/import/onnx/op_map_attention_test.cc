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

TEST(Attention, ScoresThatAreLimitedAreWrittenOut) {
  const std::vector<std::vector<Size>> sizes{{1, 4, 3, 8}, {1, 2, 5, 8}, {1, 2, 5, 6}};
  const ModelText model = OneNode("Attention", sizes, {Real("softcap", 2)}, 23);
  EXPECT_EQ(CallsOf(model),
            "aten::repeat_interleave.self_int aten::transpose.int aten::mul.Tensor aten::matmul "
            "aten::div.Tensor aten::tanh aten::mul.Tensor aten::softmax.int "
            "aten::repeat_interleave.self_int aten::matmul");
  EXPECT_EQ(ResultOf(model), "1,4,3,6");
}

TEST(Attention, WindowsAndMasksAreOneMask) {
  const std::vector<std::vector<Size>> sizes{{1, 4, 3, 8}, {1, 4, 5, 8}, {1, 4, 5, 8}};
  const std::vector<Attribute> window{Int("is_causal", 1), Int("left_window_size", 2)};
  EXPECT_EQ(CallsOf(OneNode("Attention", sizes, window, 25)),
            "aten::ones aten::tril aten::ones aten::triu aten::logical_and "
            "aten::scaled_dot_product_attention");
  EXPECT_EQ(CallsOf(OneNode("Attention", sizes, {Int("is_causal", 1)}, 25)),
            "aten::scaled_dot_product_attention");
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

TEST(Attention, QueriesOfOneGroupShareKeys) {
  ModelText model;
  model.Input("x", {2, 5, 8 * (4 + 2 * 2)}).Input("past", {2, 2, 3, 8});
  model.Input("cosines", {16, 4}).Input("sines", {16, 4});
  NodeText node{.op = "GroupQueryAttention",
                .inputs = {"x", "", "", "past", "past", "", "", "cosines", "sines"},
                .outputs = {"y", "keys"},
                .attributes = {Int("num_heads", 4), Int("kv_num_heads", 2), Int("do_rotary", 1)},
                .domain = "com.microsoft"};
  EXPECT_EQ(ResultOf(model.Node(node).Output("keys")), "2,2,8,8");  // 3 that are cached and 5
}

TEST(Attention, PairsAreNeighboursOrOfBothHalves) {
  const std::vector<std::vector<Size>> sizes{{2, 4, 3, 8}, {2, 3, 2}, {2, 3, 2}};
  const ModelText model = OneNode("RotaryEmbedding", sizes,
                                  {Int("interleaved", 1), Int("rotary_embedding_dim", 4)}, 23);
  const std::string calls = CallsOf(model);
  EXPECT_NE(calls.find("aten::stack aten::flatten.using_ints aten::cat"), std::string::npos);
  EXPECT_EQ(ResultOf(model), "2,4,3,8");
}

TEST(Attention, FusedBlocksAreTakenApart) {
  EXPECT_EQ(CallsOf(Microsoft("SkipLayerNormalization", {{2, 3, 8}, {2, 3, 8}, {8}})),
            "aten::add.Tensor aten::layer_norm");
  EXPECT_EQ(CallsOf(Microsoft("FastGelu", {{2, 8}, {8}})), "aten::add.Tensor aten::gelu");
  EXPECT_EQ(ResultOf(Microsoft("Attention", {{2, 5, 8}, {8, 24}, {24}}, {Int("num_heads", 2)})),
            "2,5,8");
  EXPECT_EQ(ResultOf(Microsoft("FusedMatMul", {{3, 2}, {3, 4}}, {Int("transA", 1)})), "2,4");
}

TEST(Attention, AGraphOfScoresIsWrittenOut) {
  const auto flexible = [](const std::vector<Attribute>& attributes) {
    ModelText model(26);
    model.Input("q", {2, 8, 4, 16}).Input("k", {2, 2, 6, 16}).Input("v", {2, 2, 6, 32});
    return model
        .Node({.op = "FlexAttention",
               .inputs = {"q", "k", "v"},
               .outputs = {"y"},
               .attributes = attributes,
               .name = "",
               .domain = "ai.onnx.preview"})
        .Output("y");
  };
  EXPECT_EQ(CallsOf(flexible({})), "aten::scaled_dot_product_attention");
  EXPECT_EQ(ResultOf(flexible({})), "2,8,4,32");
  const std::string wide = CallsOf(flexible({Int("softmax_precision", 11)}));
  EXPECT_NE(wide.find("aten::softmax.int aten::to.dtype"), std::string::npos);
  EXPECT_EQ(ResultOf(flexible({Int("softmax_precision", 11)})), "2,8,4,32");
}

}  // namespace
}  // namespace steelyard::onnx
