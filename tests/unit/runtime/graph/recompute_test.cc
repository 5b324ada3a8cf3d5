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

constexpr std::int64_t kMatrix = 512 * 512 * 4;  // 1 MB
constexpr std::int64_t kStatistics = 512 * 4;
constexpr std::string_view kMatrices =
    "input %p0: f32[512,512]\ninput %p1: f32[512,512]\n"
    "input %p2: f32[512,512]\nparameter %w: f32[512]\n"
    "parameter %b: f32[512]\n";

// What RAF expects of a program: its peak without what is resident, and what is run within one
// matrix less.
void ExpectOneLess(std::string_view lines, std::int64_t peak,
                   const std::vector<std::string>& words) {
  const Built built(std::string(kMatrices) + std::string(lines));
  const std::vector<Step> steps = AsWritten(built);
  EXPECT_EQ(PeakOf(built, steps), peak);
  const auto within = FitByRecomputing(built.graph, steps, peak - kMatrix, built.target);
  ASSERT_TRUE(within);
  EXPECT_EQ(PeakOf(built, *within), peak - kMatrix);
  std::vector<std::string> kernels = built.Words(*within);
  std::erase_if(kernels, [](const std::string& word) {
    return word.starts_with("field") || word.starts_with("view") || word == "result";
  });
  EXPECT_EQ(kernels, words);
}

// Two relus and views of them: 5 MB, one of which is resident, become 4.
TEST(FitByRecomputing, RafsReshape) {
  ExpectOneLess(
      "%a1 = raf::relu(%p0)\n%a2 = raf::relu(%p0)\n%a5 = aten::view(%a1, [262144])\n"
      "%a7 = aten::view(%a2, [262144])\n%a8 = raf::relu(%a5)\n%a9 = raf::relu(%a7)\n"
      "%a10 = raf::add(%a8, %a9)\n%a11 = raf::add(%a5, %a10)\nreturn %a11\n",
      4 * kMatrix, {"relu", "relu", "relu", "relu", "add", "relu", "add"});
}

constexpr std::string_view kNormalize =
    "%y, %m, %v = aten::native_batch_norm(%p0, %w, %b, None, None, True, 0.1, 1e-05)\n";

// Of a normalization whose statistics are returned nothing can go: relu is computed again.
TEST(FitByRecomputing, RafsTupleThatIsPartlyAlive) {
  ExpectOneLess("%a1 = raf::relu(%p0)\n" + std::string(kNormalize) +
                    "%a4 = raf::add(%a1, %y)\n%a5 = raf::relu(%a4)\n%a6 = raf::add(%a4, %a5)\n"
                    "%a7 = raf::add(%y, %a6)\n%a8 = raf::add(%a1, %a7)\nreturn %a8, %m, %v\n",
                5 * kMatrix + 2 * kStatistics,
                {"relu", "native_batch_norm", "add", "relu", "add", "add", "relu", "add"});
}

// Where all of it can go it does. RAF keeps the statistics as long as the rest, in its tuple; here
// they go at once, because nothing reads them.
TEST(FitByRecomputing, RafsTupleIsComputedAgain) {
  ExpectOneLess("%a1 = raf::relu(%p0)\n" + std::string(kNormalize) +
                    "%a4 = raf::add(%a1, %y)\n%a5 = raf::relu(%p0)\n%a6 = raf::add(%a4, %a5)\n"
                    "%a7 = raf::add(%y, %a6)\nreturn %a7\n",
                4 * kMatrix,
                {"relu", "native_batch_norm", "add", "relu", "add", "native_batch_norm", "add"});
}

// RAF's two cases of sums that are written over an operand: 6 MB, 3 of them resident, and 5 if the
// other operand is computed again. Where that is the result of such a sum itself there is no way.
constexpr std::string_view kSumsInPlace =
    "%a3 = raf::add(%a2, %p2)\n%a4 = raf::softmax(%a3)\n%a5 = raf::softmax(%a4)\n"
    "%a6 = raf::add.out(%a5, %a5, %last)\nreturn %a6\n";
TEST(FitByRecomputing, RafsSumInPlace) {
  ExpectOneLess(
      "%last = raf::add(%p0, %p0)\n%a2 = raf::add(%last, %p1)\n" + std::string(kSumsInPlace),
      3 * kMatrix, {"add", "add", "add", "softmax", "softmax", "add", "add"});
}

TEST(FitByRecomputing, RafsSumInPlaceOfASumInPlace) {
  const Built built(std::string(kMatrices) + "%a1 = raf::add(%p0, %p0)\n" +
                    "%a2 = raf::add.out(%a1, %a1, %p1)\n%last = aten::alias(%a2)\n" +
                    std::string(kSumsInPlace));
  const std::vector<Step> steps = AsWritten(built);
  EXPECT_EQ(PeakOf(built, steps), 3 * kMatrix);
  EXPECT_FALSE(FitByRecomputing(built.graph, steps, 2 * kMatrix, built.target));
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
