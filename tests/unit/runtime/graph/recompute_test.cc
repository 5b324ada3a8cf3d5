// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/recompute.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "graphs.h"

namespace steelyard::graph {
namespace {

using ::testing::ElementsAre;

// RAF's tests (test_pass_rematerialization.py): x of 16 x 16 x 64 x 64 floats is 4 MB, w 9 KB.
// Budgets there count what is resident; here they do not.
constexpr std::int64_t kData = 16 * 16 * 64 * 64 * 4;
constexpr std::string_view kSimple =
    "input %x: f32[16,16,64,64]\nparameter %w: f32[16,16,3,3]\n%a1 = raf::conv2d(%x, %w, 1, 1)\n"
    "%a2 = raf::max_pool2d(%a1, 3, 1, 1)\n%a3 = raf::max_pool2d(%a2, 3, 1, 1)\n"
    "%a4 = raf::max_pool2d(%a3, 3, 1, 1)\n%a5 = raf::max_pool2d_dx(%a3, %a4, %a4, 3)\n"
    "%a6 = raf::max_pool2d_dx(%a2, %a3, %a5, 3)\n%a7 = raf::max_pool2d_dx(%a1, %a2, %a6, 3)\n"
    "%a8 = raf::conv2d_dx(%w, %a7, [16,16,64,64])\n%a9 = raf::softmax(%a8, 1)\nreturn %a9\n";

std::vector<Step> AsWritten(const Built& built) {
  std::vector<Step> steps = built.Unfused();
  std::ranges::sort(steps, {}, [](const Step& step) { return step.last(); });
  return steps;
}

std::int64_t PeakOf(const Built& built, const std::vector<Step>& steps) {
  return ExtentOf(PlanMemory(built.graph, steps, built.target), steps).peak;
}

TEST(FitByRecomputing, NothingIsRepeatedWhereThereIsRoom) {
  const Built built(kSimple);
  const std::vector<Step> steps = AsWritten(built);
  EXPECT_EQ(PeakOf(built, steps), 5 * kData) << "a1 to a5; x is resident";
  const auto within = FitByRecomputing(built.graph, steps, 5 * kData, built.target);
  ASSERT_TRUE(within);
  EXPECT_EQ(within->size(), steps.size());
}

// One tensor less: RAF computes the first pool again before a6, and the convolution before a7.
TEST(FitByRecomputing, RafsTwoTensors) {
  const Built built(kSimple);
  const auto within = FitByRecomputing(built.graph, AsWritten(built), 4 * kData, built.target);
  ASSERT_TRUE(within);
  EXPECT_EQ(PeakOf(built, *within), 4 * kData);
  EXPECT_THAT(
      built.Words(*within),
      ElementsAre("conv2d", "max_pool2d", "max_pool2d", "max_pool2d", "max_pool2d_dx", "max_pool2d",
                  "max_pool2d_dx", "conv2d", "max_pool2d_dx", "conv2d_dx", "softmax", "result"));
}

TEST(FitByRecomputing, ABudgetMayBeTooLow) {
  const Built built(kSimple);
  EXPECT_FALSE(FitByRecomputing(built.graph, AsWritten(built), 4 * kData - 4, built.target));
}

// What is returned, and what a concatenation reads, must all be there.
TEST(FitByRecomputing, RafsTupleAndConcatenationStayAsTheyAre) {
  const Built tuple(
      "input %p0: f32[16,16,64,64]\ninput %p1: f32[16,16,64,64]\ninput %p2: f32[16,16,64,64]\n"
      "%a1 = raf::add(%p0, %p1)\n%a2 = raf::relu(%a1)\n%a3 = raf::add(%a2, %p2)\n"
      "return %a2, %a3, %a1\n");
  const std::vector<Step> steps = AsWritten(tuple);
  EXPECT_EQ(PeakOf(tuple, steps), 3 * kData);
  EXPECT_EQ(FitByRecomputing(tuple.graph, steps, 4 * kData, tuple.target)->size(), steps.size());
  const Built joined(
      "input %p0: f32[16,16,64,64]\ninput %p1: f32[16,16,64,64]\n%a = raf::relu(%p0)\n"
      "%b = raf::relu(%p1)\n%c = aten::cat([%a, %b], 1)\nreturn %c\n");
  EXPECT_EQ(PeakOf(joined, AsWritten(joined)), 4 * kData);
  EXPECT_FALSE(FitByRecomputing(joined.graph, AsWritten(joined), 3 * kData, joined.target));
}

// A view of what is computed again is one of the new tensor.
TEST(FitByRecomputing, AViewFollowsItsTensor) {
  const Built built(
      "input %p: f32[1024,1024]\n%a = raf::softmax(%p)\n%v = raf::reshape(%a, [1048576])\n"
      "%b = raf::softmax(%v)\n%c = raf::softmax(%b)\n%d = raf::softmax(%c)\n"
      "%e = raf::add(%d, %v)\nreturn %e\n");
  const std::vector<Step> steps = AsWritten(built);
  const std::int64_t matrix = 1024 * 1024 * 4;
  EXPECT_EQ(PeakOf(built, steps), 3 * matrix) << "a with b and c, c and d, or d and e";
  const auto within = FitByRecomputing(built.graph, steps, 3 * matrix, built.target);
  ASSERT_TRUE(within);
  EXPECT_LE(PeakOf(built, *within), 3 * matrix);
}

// %a reads the parameter before it is overwritten; afterwards it would be another tensor.
TEST(FitByRecomputing, WhatReadAnOverwrittenParameterIsNotRepeated) {
  constexpr std::string_view kText =
      "input %p: f32[1024,1024]\nparameter %w: f32[1024,1024]\n%a = raf::softmax(%w)\n"
      "%b = raf::softmax(%p)\n%c = raf::add.out(%w, %w, %b)\n%d = raf::softmax(%b)\n"
      "%e = raf::softmax(%d)\n%f = raf::add(%e, %a)\nreturn %f\n";
  const Built built(kText);
  const std::int64_t matrix = 1024 * 1024 * 4;
  const std::vector<Step> steps = AsWritten(built);
  EXPECT_EQ(PeakOf(built, steps), 3 * matrix);
  EXPECT_FALSE(FitByRecomputing(built.graph, steps, 2 * matrix, built.target));
}

TEST(FitByRecomputing, ChanceIsNotRepeated) {
  const Built built(
      "input %p: f32[1024,1024]\n%a = aten::rand_like(%p)\n%b = raf::softmax(%a)\n"
      "%c = raf::softmax(%b)\n%d = raf::softmax(%c)\n%e = raf::add(%d, %a)\nreturn %e\n");
  EXPECT_FALSE(FitByRecomputing(built.graph, AsWritten(built), 2 * 1024 * 1024 * 4, built.target));
}

}  // namespace
}  // namespace steelyard::graph
