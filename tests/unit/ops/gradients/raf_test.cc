// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/raf.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(RafGradients, AProductsFactors) {
  EXPECT_THAT(BackwardOf("raf::matmul_nt(%p, %q)"), ElementsAre("matmul", "matmul_tn"));
  EXPECT_THAT(BackwardOf("raf::matmul_nt(%p, %x)"), ElementsAre("matmul"));
  EXPECT_THAT(BackwardOf("raf::matmul_tn(%p, %q)"), ElementsAre("matmul_nt", "matmul"));
}

TEST(RafGradients, ASumsTermsTakeItWhole) {
  EXPECT_THAT(BackwardOf("raf::add(%p, %q)"), ElementsAre());
  EXPECT_THAT(BackwardOf("raf::subtract(%p, %q)"), ElementsAre("negative"));
  EXPECT_THAT(BackwardOf("raf::multiply(%p, %x)"), ElementsAre("multiply"));
  EXPECT_THAT(BackwardOf("raf::divide(%p, %x)"), ElementsAre("divide"));
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
