// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Random, ScaledOnlyWhereItHasTo) {
  EXPECT_EQ(CallsOf(OneNode("RandomNormalLike", {{2, 3}})), "aten::randn_like");
  EXPECT_EQ(CallsOf(OneNode("RandomUniformLike", {{2, 3}}, {Real("low", 1), Real("high", 3)})),
            "aten::rand_like aten::mul.Tensor aten::add.Tensor");
  EXPECT_EQ(ResultOf(OneNode("RandomNormal", {}, {Ints("shape", {4, 5})})), "4,5");
}

ModelText Loss(const std::string& reduction) {
  ModelText model;
  model.Input("x", {6, 10}).Input("classes", {6}, kInt64);
  model.Node({.op = "SoftmaxCrossEntropyLoss",
              .inputs = {"x", "classes"},
              .outputs = {"y"},
              .attributes = {Word("reduction", reduction)}});
  return model.Output("y");
}

TEST(Losses, AreReducedAsTheyAreTold) {
  EXPECT_EQ(ResultOf(Loss("none")), "6");
  EXPECT_EQ(ResultOf(Loss("sum")), "");
  EXPECT_EQ(CallsOf(Loss("mean")), "aten::cross_entropy_loss");
}

}  // namespace
}  // namespace steelyard::onnx
