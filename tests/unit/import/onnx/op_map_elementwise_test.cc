// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

// A constant of one number, as an initializer.
ModelText WithNumber(const std::string& op, const std::vector<std::string>& inputs) {
  return ModelText()
      .Input("x", {2, 3}, kInt64)
      .Integer("n", 2)
      .Node({.op = op, .inputs = inputs, .outputs = {"y"}})
      .Output("y");
}

TEST(Elementwise, Broadcasts) {
  EXPECT_EQ(ResultOf(OneNode("Add", {{2, 1, 4}, {3, 1}})), "2,3,4");
  EXPECT_EQ(ResultOf(OneNode("Where", {{2, 1}, {1, 3}, {1}})), "2,3");
  EXPECT_EQ(ResultOf(OneNode("Less", {{"batch", 4}, {4}})), "?,4");
}

TEST(Elementwise, NumbersAreNoTensors) {
  EXPECT_EQ(CallsOf(WithNumber("Sub", {"n", "x"})), "aten::rsub.Scalar");
  EXPECT_EQ(CallsOf(WithNumber("Pow", {"x", "n"})), "aten::pow.Tensor_Scalar");
  const Result<Program> program = ImportText(WithNumber("Mul", {"x", "n"}).bytes());
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->buffers.empty());
}

TEST(Elementwise, IntegersAreDividedTowardsZero) {
  EXPECT_EQ(CallsOf(WithNumber("Div", {"x", "n"})), "aten::div.Tensor_mode");
  EXPECT_EQ(CallsOf(OneNode("Div", {{2}, {2}})), "aten::div.Tensor");
}

TEST(Elementwise, KnownIntegersAreDividedTowardsZeroToo) {
  ModelText model;
  model.Integers("a", {-7}).Integers("b", {2}).Integers("c", {5});
  model.Node({.op = "Div", .inputs = {"a", "b"}, .outputs = {"quotient"}});
  model.Node({.op = "Add", .inputs = {"quotient", "c"}, .outputs = {"to"}});
  model.Node({.op = "ConstantOfShape", .inputs = {"to"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(ResultOf(model), "2");  // -3 + 5
}

TEST(Elementwise, CastsToTheSameAreNone) {
  EXPECT_EQ(CallsOf(OneNode("Cast", {{2}}, {Int("to", kFloat)})), "");
  EXPECT_EQ(CallsOf(OneNode("Cast", {{2}}, {Int("to", kInt64)})), "aten::to.dtype");
  EXPECT_EQ(CallsOf(OneNode("Cast", {{2}}, {Int("to", kText)})), "onnx::Cast");
}

TEST(Elementwise, DropoutDoesNothingWithoutTraining) {
  EXPECT_EQ(CallsOf(OneNode("Dropout", {{2}})), "");
}

}  // namespace
}  // namespace steelyard::onnx
