// SPDX-License-Identifier: Apache-2.0

#include "analyze/experts.h"

#include <gtest/gtest.h>

#include "analyze/parameters.h"
#include "weighed.h"

namespace steelyard {
namespace {

TEST(FindExperts, NoneWithoutARouter) {
  const Weighed weighed = WeighText(
      "parameter %w: f32[8,4]\ninput %x: f32[2,4]\n%y: f32[2,8] = aten::linear(%x, %w)\nreturn "
      "%y\n");
  EXPECT_EQ(FindExperts(weighed.kernels).experts, 0);
}

TEST(FindExperts, AStackThatARoutedProductWalks) {
  // 5 tokens, 8 experts of 4 x 16, the router keeps 2: 10 rows.
  const Weighed weighed = WeighText(
      "parameter %stack: bf16[8,4,16]\nparameter %other: bf16[3,3]\ninput %scores: f32[5,8]\ninput "
      "%rows: bf16[10,4]\ninput %ends: i32[8]\n"
      "%best: f32[5,2], %which: i64[5,2] = aten::topk(%scores, 2)\n"
      "%y: bf16[10,16] = aten::_grouped_mm(%rows, %stack, %ends)\n"
      "return %best, %which, %y\n");
  const ExpertUse use = FindExperts(weighed.kernels);
  EXPECT_EQ(use.experts, 8);
  EXPECT_EQ(use.active, 2);
  const ParameterReport parameters = CountParameters(weighed.kernels);
  EXPECT_EQ(parameters.parameters.count, 8 * 4 * 16 + 3 * 3);
  EXPECT_EQ(parameters.active, 2 * 4 * 16 + 3 * 3);
  EXPECT_EQ(weighed.work.of(Phase::kForward).macs, 10 * 4 * 16);
}

}  // namespace
}  // namespace steelyard
