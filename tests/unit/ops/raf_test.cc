// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "calls.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Raf, ProductsNameTheirTransposedFactor) {
  EXPECT_EQ(ResultOf("raf::matmul(f32[3,4], f32[4,5])"), "f32[3,5]");
  EXPECT_EQ(ResultOf("raf::matmul_nt(f32[3,4], f32[5,4])"), "f32[3,5]");
  EXPECT_EQ(ResultOf("raf::matmul_tn(f32[4,3], f32[4,5])"), "f32[3,5]");
  EXPECT_EQ(ResultOf("raf::batch_matmul(f32[2,3,4], f32[2,4,5])"), "f32[2,3,5]");
  EXPECT_EQ(ResultOf("raf::batch_matmul_nt(f32[2,3,4], f32[2,5,4])"), "f32[2,3,5]");
  EXPECT_EQ(ResultOf("raf::batch_matmul_tn(f32[2,4,3], f32[2,4,5])"), "f32[2,3,5]");
  EXPECT_THAT(RefusalOf("raf::matmul_nt(f32[3,4], f32[4,5])"),
              HasSubstr("inner dimensions differ: 4 vs 5"));
  EXPECT_THAT(RefusalOf("raf::batch_matmul(f32[2,3,4], f32[3,4,5])"),
              HasSubstr("batch sizes differ: 2 vs 3"));
  for (const char* call : {"raf::matmul(f32[3,4], f32[4,5])", "raf::matmul_nt(f32[3,4], f32[5,4])",
                           "raf::matmul_tn(f32[4,3], f32[4,5])"}) {
    EXPECT_EQ(WorkOf(call).mac, Count(3 * 4 * 5)) << call;
  }
}

TEST(Raf, WhatMovesElements) {
  EXPECT_EQ(ResultOf("raf::transpose(f32[2,3,4], [2,0,1])"), "f32[4,2,3]");
  EXPECT_EQ(ResultOf("raf::transpose_dx(f32[4,2,3], [2,0,1])"), "f32[2,3,4]");
  EXPECT_EQ(ResultOf("raf::reshape(f32[2,8], [4,4])"), "f32[4,4]");
  EXPECT_EQ(ResultOf("raf::strided_slice(i64[1,9], [0,2], [1,9], [1,2])"), "i64[1,4]");
  EXPECT_EQ(ResultOf("raf::embedding(f32[9,4], i64[2,3])"), "f32[2,3,4]");
  EXPECT_EQ(ResultOf("raf::embedding_dx(f32[2,3,4], i64[2,3], 9)"), "f32[9,4]");
  EXPECT_THAT(RefusalOf("raf::reshape(f32[2,8], [3,5])"),
              HasSubstr("numbers of elements differ: 16 vs 15"));
  EXPECT_THAT(RefusalOf("raf::transpose(f32[2,3], [0,5])"), HasSubstr("there is no such axis"));
  EXPECT_THAT(RefusalOf("raf::strided_slice(i64[4], [3], [2], [1])"),
              HasSubstr("slices count from the front"));
  EXPECT_THAT(RefusalOf("raf::strided_slice(i64[4], [0,0], [1,1], [1,1])"),
              HasSubstr("more dimensions than there are"));
}

TEST(Raf, NormsAndLosses) {
  EXPECT_EQ(ResultOf("raf::layer_norm_dx(f32[2,8], f32[8], f32[2,8])", 0), "f32[2,8]");
  EXPECT_EQ(ResultOf("raf::layer_norm_dx(f32[2,8], f32[8], f32[2,8])", 2), "f32[8]");
  EXPECT_EQ(ResultOf("raf::nll_loss(i64[4], f32[4,9])"), "f32[1]");
  EXPECT_EQ(ResultOf("raf::nll_loss_dpred(f32[], i64[4], f32[4,9])"), "f32[4,9]");
  EXPECT_EQ(ResultOf("raf::sum(f32[2,3,4], [0,2], True)"), "f32[1,3,1]");
  EXPECT_EQ(ResultOf("raf::sum(f32[2,3,4], [0,1])"), "f32[4]");
  EXPECT_THAT(RefusalOf("raf::bias_add(f32[2,8], f32[4])"),
              HasSubstr("sizes of x and the bias differ: 8 vs 4"));
  // Seven operations for each element and three for each row; 18 and 5 for the gradient.
  EXPECT_EQ(WorkOf("raf::layer_norm(f32[2,8], f32[8], f32[8])").alu, Count(7 * 16 + 3 * 2));
  EXPECT_EQ(WorkOf("raf::layer_norm_dx(f32[2,8], f32[8], f32[2,8])").alu, Count(18 * 16 + 5 * 2));
  EXPECT_EQ(WorkOf("raf::nll_loss(i64[4], f32[4,9])").alu, Count(3 * 4));
}

TEST(Raf, ConvolutionsAndPools) {
  EXPECT_EQ(ResultOf("raf::conv2d(f32[2,3,9,8], f32[4,3,3,3], 2, 1)"), "f32[2,4,5,4]");
  EXPECT_EQ(ResultOf("raf::conv2d_dx(f32[4,3,3,3], f32[2,4,8,8], [2,3,8,8])"), "f32[2,3,8,8]");
  EXPECT_EQ(ResultOf("raf::max_pool2d(f32[2,3,8,8], 3, 1, 1)"), "f32[2,3,8,8]");
  EXPECT_EQ(WorkOf("raf::conv2d(f32[2,3,8,8], f32[4,3,3,3], 1, 1)").mac,
            Count(2 * 4 * 8 * 8 * 3 * 3 * 3));
  EXPECT_EQ(WorkOf("raf::conv2d_dx(f32[4,3,3,3], f32[2,4,8,8], [2,3,8,8])").mac,
            Count(2 * 4 * 8 * 8 * 3 * 3 * 3));
  EXPECT_EQ(WorkOf("raf::max_pool2d(f32[2,3,8,8], 3, 1, 1)").alu, Count(2 * 3 * 8 * 8 * 9));
  EXPECT_THAT(RefusalOf("raf::conv2d(f32[2,3,8,8], f32[4,5,3,3])"),
              HasSubstr("channels differ: 3 vs 5"));
  EXPECT_THAT(RefusalOf("raf::conv2d(f32[2,3,8,8], f32[4,3,3,3], 0)"),
              HasSubstr("a stride is positive"));
  EXPECT_THAT(RefusalOf("raf::max_pool2d(f32[2,3,8,8], 3, 0)"), HasSubstr("a stride is positive"));
}

TEST(Raf, AConstantTakesNoMemory) {
  EXPECT_THAT(EventsOfProgram("%c = raf::constant([2,8], f32)\n%y = raf::exp(%c)\nreturn %y\n"),
              ElementsAre("+64 raf::exp", "-64 "));
}

// v = momentum * v + g and w = w - rate * v, of the one parameter that has a gradient.
TEST(Raf, SgdIsWrittenWithTensors) {
  const Program kernels = KernelsOfProgram(
      "parameter %w: f32[4,8]\nparameter %u: f32[4,8]\ninput %x: f32[4,8]\ninput %r: f32[]\n"
      "input %m: f32[]\n%y = raf::multiply(%x, %w)\n%loss = aten::sum(%y)\n"
      "steelyard::backward(%loss) phase backward\nraf::sgd([%w, %u], %r, %m) phase optimizer\n"
      "return %loss\n");
  std::vector<std::string> calls;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase != Phase::kOptimizer) continue;
    const std::string name(kernels.op_name(node.op));
    if (name != kDropMark) calls.push_back(name);
  }
  EXPECT_THAT(calls,
              ElementsAre("raf::multiply", "raf::add.out", "raf::multiply", "raf::subtract.out"));
  std::int64_t state = 0;
  for (const ValueId id : kernels.main().inputs) {
    if (kernels.values[id].role == Role::kOptimizerState) state += TensorView(kernels, id).bytes();
  }
  EXPECT_EQ(state, 4 * 8 * 4);
}

}  // namespace
}  // namespace steelyard
