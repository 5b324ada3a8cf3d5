// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Reductions, AxesAreAnAttributeOrAnOperand) {
  EXPECT_EQ(ResultOf(OneNode("ReduceMean", {{2, 3, 4}}, {Ints("axes", {-1})}, 13)), "2,3,1");
  const ModelText model = ModelText()
                              .Input("x", {2, 3, 4})
                              .Integers("axes", {0, 2})
                              .Node({.op = "ReduceSum",
                                     .inputs = {"x", "axes"},
                                     .outputs = {"y"},
                                     .attributes = {Int("keepdims", 0)}})
                              .Output("y");
  EXPECT_EQ(ResultOf(model), "3");
}

TEST(Reductions, NoAxesAreAllOrNone) {
  EXPECT_EQ(ResultOf(OneNode("ReduceMax", {{2, 3}}, {Int("keepdims", 0)})), "");
  EXPECT_EQ(CallsOf(OneNode("ReduceMax", {{2, 3}}, {Int("noop_with_empty_axes", 1)})), "");
}

TEST(Reductions, ProductsAreOneDimensionAtATime) {
  EXPECT_EQ(CallsOf(OneNode("ReduceProd", {{2, 3}})), "aten::prod.dim_int aten::prod.dim_int");
}

TEST(Reductions, PositionsAreIntegers) {
  const Result<Program> program = ImportText(OneNode("ArgMax", {{2, 3}}, {Int("axis", 1)}).bytes());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->values[program->main().outputs[0].value].dtype, DType::kInt64);
}

TEST(Reductions, CountElementsOfSizes) {
  ModelText model;
  model.Input("x", {"batch", 4});
  model.Node({.op = "Shape", .inputs = {"x"}, .outputs = {"sizes"}});
  model.Node({.op = "ReduceProd", .inputs = {"sizes"}, .outputs = {"count"}});
  model.Node({.op = "Reshape", .inputs = {"x", "count"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(CallsOf(model), "aten::reshape");
}

}  // namespace
}  // namespace steelyard::onnx
