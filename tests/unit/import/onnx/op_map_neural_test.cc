// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Neural, GemmIsALinearWhereItCanBe) {
  EXPECT_EQ(CallsOf(OneNode("Gemm", {{2, 3}, {4, 3}, {4}}, {Int("transB", 1)})), "aten::linear");
  EXPECT_EQ(CallsOf(OneNode("Gemm", {{2, 3}, {3, 4}, {4}})), "aten::addmm");
  EXPECT_EQ(CallsOf(OneNode("Gemm", {{3, 2}, {3, 4}}, {Int("transA", 1), Real("alpha", 2)})),
            "aten::t aten::mm aten::mul.Tensor");
  EXPECT_EQ(ResultOf(OneNode("Gemm", {{3, 2}, {4, 3}}, {Int("transA", 1), Int("transB", 1)})),
            "2,4");
}

TEST(Neural, ProductsBroadcastBatches) {
  EXPECT_EQ(ResultOf(OneNode("MatMul", {{"batch", 1, 2, 3}, {5, 3, 4}})), "?,5,2,4");
  EXPECT_EQ(ResultOf(OneNode("MatMul", {{3}, {5, 3, 4}})), "5,4");
  EXPECT_EQ(ResultOf(OneNode("MatMul", {{2, 3}, {3}})), "2");
}

TEST(Neural, EquationsTellTheSizes) {
  EXPECT_EQ(ResultOf(OneNode("Einsum", {{2, 3}, {3, 4}}, {Word("equation", "ij, jk -> ki")})),
            "4,2");
  EXPECT_EQ(ResultOf(OneNode("Einsum", {{2, 3}, {3, 4}}, {Word("equation", "ij,jk")})), "2,4");
  EXPECT_EQ(ResultOf(OneNode("Einsum", {{7, 2, 3}}, {Word("equation", "...ij->...ji")})), "7,3,2");
  // A size of 1 goes with any, whichever operand has it.
  EXPECT_EQ(ResultOf(OneNode("Einsum", {{2, 3, 4}, {1, 4, 5}}, {Word("equation", "bij,bjk->bik")})),
            "2,3,5");
  EXPECT_EQ(ResultOf(OneNode("Einsum", {{1, 3, 4}, {2, 4, 5}}, {Word("equation", "bij,bjk->bik")})),
            "2,3,5");
}

TEST(Neural, OldSoftmaxIsOfAMatrix) {
  EXPECT_EQ(CallsOf(OneNode("Softmax", {{2, 3, 4}}, {}, 11)),
            "aten::reshape aten::softmax.int aten::reshape");
  EXPECT_EQ(CallsOf(OneNode("Softmax", {{2, 3, 4}}, {}, 13)), "aten::softmax.int");
}

TEST(Neural, StatisticsAreBuffers) {
  ModelText model;
  model.Input("x", {2, 3, 4, 4});
  for (const char* name : {"scale", "shift", "mean", "variance"}) model.Weight(name, {3});
  model.Node({.op = "BatchNormalization",
              .inputs = {"x", "scale", "shift", "mean", "variance"},
              .outputs = {"y"}});
  const Result<Program> program = ImportText(model.Output("y").bytes());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->parameters.size(), 2U);
  EXPECT_EQ(program->buffers.size(), 2U);
}

}  // namespace
}  // namespace steelyard::onnx
