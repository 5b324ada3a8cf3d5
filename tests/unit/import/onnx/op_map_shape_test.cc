// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

// Of x, [batch, 4, 6], through Shape and a list of integers, into Reshape.
TEST(Shapes, ReshapeFollowsSizes) {
  ModelText model;
  model.Input("x", {"batch", 4, 6}).Integer("zero", 0).Integers("rest", {-1}).Integers("axes", {0});
  model.Node({.op = "Shape", .inputs = {"x"}, .outputs = {"sizes"}});
  model.Node({.op = "Gather", .inputs = {"sizes", "zero"}, .outputs = {"batch"}});
  model.Node({.op = "Unsqueeze", .inputs = {"batch", "axes"}, .outputs = {"first"}});
  model.Node({.op = "Concat",
              .inputs = {"first", "rest"},
              .outputs = {"to"},
              .attributes = {Int("axis", 0)}});
  model.Node({.op = "Reshape", .inputs = {"x", "to"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(CallsOf(model), "aten::reshape");
  EXPECT_EQ(ResultOf(model), "?,24");
}

ModelText Sliced(std::int64_t start, std::int64_t end, std::int64_t step) {
  return ModelText()
      .Input("x", {10})
      .Integers("start", {start})
      .Integers("end", {end})
      .Integers("axis", {0})
      .Integers("step", {step})
      .Node({.op = "Slice", .inputs = {"x", "start", "end", "axis", "step"}, .outputs = {"y"}})
      .Output("y");
}

TEST(Shapes, SlicesAsPythonDoes) {
  EXPECT_EQ(ResultOf(Sliced(2, -1, 1)), "7");
  EXPECT_EQ(ResultOf(Sliced(0, INT64_MAX, 3)), "4");
  EXPECT_EQ(ResultOf(Sliced(-1, INT64_MIN, -1)), "10");
  EXPECT_EQ(ResultOf(Sliced(8, 2, -4)), "2");  // 8 and 4
  EXPECT_EQ(CallsOf(Sliced(8, 2, -4)), "aten::flip aten::slice.Tensor");
}

TEST(Shapes, SplitsUnevenly) {
  ModelText model;
  model.Input("x", {7, 2});
  model.Node({.op = "Split", .inputs = {"x"}, .outputs = {"a", "b", "y"}}).Output("y");
  EXPECT_EQ(ResultOf(model), "1,2");  // 3, 3 and the rest
}

TEST(Shapes, TakesAxesByAttributeToo) {
  EXPECT_EQ(ResultOf(OneNode("Squeeze", {{1, 3, 1}}, {Ints("axes", {0})}, 11)), "3,1");
  EXPECT_EQ(ResultOf(OneNode("Unsqueeze", {{3}}, {Ints("axes", {0, 2})}, 11)), "1,3,1");
  EXPECT_EQ(ResultOf(OneNode("Flatten", {{2, 3, 4}}, {Int("axis", 2)})), "6,4");
  EXPECT_EQ(ResultOf(OneNode("Transpose", {{2, 3, 4}})), "4,3,2");
  EXPECT_EQ(ResultOf(OneNode("Pad", {{2, 3}}, {Ints("pads", {0, 1, 0, 2})}, 10)), "2,6");
}

// Floats of the file are joined when it is read: nothing is left to compute.
TEST(Shapes, JoinedConstantsAreOneConstant) {
  ModelText model;
  model.Input("x", {8});
  for (const auto& [name, real] : {std::pair("a", 0.5), std::pair("b", 0.25)}) {
    model.Node({.op = "Constant",
                .outputs = {name},
                .attributes = {Reals("value_floats", std::vector<double>(4, real))}});
  }
  model.Node(
      {.op = "Concat", .inputs = {"a", "b"}, .outputs = {"both"}, .attributes = {Int("axis", 0)}});
  model.Node({.op = "Mul", .inputs = {"x", "both"}, .outputs = {"scaled"}});
  model.Node({.op = "Add", .inputs = {"scaled", "both"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(CallsOf(model), "aten::mul.Tensor aten::add.Tensor");
}

TEST(Shapes, RefusesToGuess) {
  // The target is an input: only the data tell it.
  const ModelText model = ModelText()
                              .Input("x", {6})
                              .Input("to", {2}, kInt64)
                              .Declared("y", {2, 3})
                              .Node({.op = "Reshape", .inputs = {"x", "to"}, .outputs = {"y"}})
                              .Output("y");
  EXPECT_EQ(CallsOf(model), "onnx::Reshape");
  EXPECT_EQ(ResultOf(model), "2,3");
}

}  // namespace
}  // namespace steelyard::onnx
