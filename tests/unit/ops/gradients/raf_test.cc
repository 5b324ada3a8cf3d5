// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/raf.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(RafGradients, AProductsFactors) {
  EXPECT_THAT(BackwardOf("raf::matmul_nt(%p, %q)"), ElementsAre("matmul", "matmul_tn"));
  EXPECT_THAT(BackwardOf("raf::matmul_nt(%p, %x)"), ElementsAre("matmul"));
  EXPECT_THAT(BackwardOf("raf::matmul_tn(%p, %q)"), ElementsAre("matmul_nt", "matmul"));
}

// The kernels of RAF in the backward pass of the sum of `%y`, of parameters %p f32[4,8] and %b
// f32[8].
std::vector<std::string> RafsOwn(std::string_view call) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[4,8]\nparameter %b: f32[8]\ninput %x: f32[4,8]\n%y = " +
      std::string(call) +
      "\n%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n");
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase == Phase::kBackward && name.starts_with("raf::")) out.emplace_back(name);
  }
  return out;
}

TEST(RafGradients, TermsTakeTheGradientSummedToTheirSizes) {
  EXPECT_THAT(RafsOwn("raf::add(%p, %x)"), ElementsAre());
  EXPECT_THAT(RafsOwn("raf::add(%p, %b)"), ElementsAre("raf::sum"));
  EXPECT_THAT(RafsOwn("raf::subtract(%x, %b)"), ElementsAre("raf::negative", "raf::sum"));
  EXPECT_THAT(RafsOwn("raf::multiply(%x, %b)"), ElementsAre("raf::multiply", "raf::sum"));
  EXPECT_THAT(RafsOwn("raf::divide(%p, %x)"), ElementsAre("raf::divide"));
}

// The gradient of what a bias was added to is reshaped to the sizes that it has.
TEST(RafGradients, ABias) {
  EXPECT_THAT(RafsOwn("raf::bias_add(%p, %b)"), ElementsAre("raf::reshape", "raf::sum"));
}

TEST(RafGradients, ALayerNormIsOneKernel) {
  EXPECT_THAT(RafsOwn("raf::layer_norm(%p, %b, %b)"), ElementsAre("raf::layer_norm_dx"));
}

TEST(RafGradients, WhatIsComputedAgainOrSaved) {
  EXPECT_THAT(BackwardOf("raf::gelu(%p)"), ElementsAre("gelu_dx"));
  EXPECT_THAT(BackwardOf("raf::softmax(%p)"), ElementsAre("softmax_dx"));
  EXPECT_THAT(BackwardOf("raf::log_softmax(%p)"),
              ElementsAre("sum", "exp", "multiply", "subtract"));
  EXPECT_THAT(BackwardOf("raf::reshape(%p, [32])"), ElementsAre("reshape"));
  EXPECT_THAT(BackwardOf("raf::transpose(%p, [1,0])"), ElementsAre("transpose_dx"));
  EXPECT_THAT(BackwardOf("raf::embedding(%p, %i)"), ElementsAre("embedding_dx"));
  EXPECT_THAT(SavedIn("raf::softmax(%p)"), ElementsAre("y by raf::softmax_dx"));
}

}  // namespace
}  // namespace steelyard
