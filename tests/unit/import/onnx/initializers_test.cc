// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/initializers.h"

#include <gtest/gtest.h>

#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(Initializers, AreSortedByWhatTheyAre) {
  ModelText model;
  model.Input("x", {2, 4}).Weight("fc.weight", {4, 4}).Weight("positions", {512}, kInt64);
  model.Weight("quantized", {128, 4}, kInt8).Integer("one", 1);
  const Result<Program> program = ImportText(model.bytes());
  ASSERT_TRUE(program);
  ASSERT_EQ(program->parameters.size(), 2U);
  EXPECT_TRUE(program->values[program->parameters[0].value].requires_grad);
  EXPECT_FALSE(program->values[program->parameters[1].value].requires_grad);
  ASSERT_EQ(program->buffers.size(), 1U);
  EXPECT_EQ(program->text(program->buffers[0].name), "positions");
}

TEST(Initializers, MayNotStandTwice) {
  ModelText model;
  model.Weight("w", {4}).Weight("w", {4});
  const Result<Program> program = ImportText(model.bytes());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "two initializers of this name");
}

}  // namespace
}  // namespace steelyard::onnx
