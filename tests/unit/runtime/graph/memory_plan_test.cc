// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/memory_plan.h"

#include <gmock/gmock.h>

#include <numeric>

#include "graphs.h"

namespace steelyard::graph {
namespace {

using ::testing::ElementsAre;

std::int64_t AllBytes(const MemoryPlan& plan) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan.buffers) bytes += buffer.bytes;
  return bytes;
}

// RAF's test of its memory plan: five additions of matrices of 5 x 5.
constexpr std::string_view kFiveAdditions =
    "input %p0: f32[5,5]\ninput %p1: f32[5,5]\ninput %p2: f32[5,5]\ninput %p3: f32[5,5]\n"
    "%t0 = raf::add(%p0, %p0)\n%t1 = raf::add(%t0, %p1)\n%t2 = raf::add(%t1, %p2)\n"
    "%t3 = raf::add(%t2, %t0)\n%t4 = raf::add(%t3, %p3)\nreturn %t4\n";

TEST(PlanMemory, RafsFiveAdditions) {
  const Built built(kFiveAdditions);
  const std::vector<Step> steps = built.Unfused();
  const MemoryPlan plan = PlanMemory(built.graph, steps, built.target);
  ASSERT_EQ(plan.buffers.size(), 5u);
  EXPECT_EQ(AllBytes(plan), 5 * 5 * 5 * kFloat);
  // t0 is read by the fourth addition, t1 to t3 by the next one each; t4 is returned.
  std::vector<std::uint32_t> last;
  for (const Buffer& buffer : plan.buffers) last.push_back(buffer.last);
  EXPECT_THAT(last, ElementsAre(3u, 2u, 3u, 4u, 5u));
  EXPECT_TRUE(plan.buffers[4].kept);

  const std::vector<Step> fused = built.Fused();
  EXPECT_EQ(AllBytes(PlanMemory(built.graph, fused, built.target)), 5 * 5 * kFloat);
}

// RAF's test with a reshape between: a view takes no memory, and keeps its tensor.
TEST(PlanMemory, RafsReshapeBetweenTwoKernels) {
  const Built built(
      "input %x: f32[3,4,5]\n%a = raf::exp(%x)\n%b = raf::reshape(%a, [12,5])\n"
      "%c = raf::exp(%b)\nreturn %c\n");
  const std::vector<Step> steps = built.Unfused();
  const MemoryPlan plan = PlanMemory(built.graph, steps, built.target);
  ASSERT_EQ(plan.buffers.size(), 2u);
  EXPECT_EQ(AllBytes(plan), 2 * 3 * 4 * 5 * kFloat);
  EXPECT_EQ(plan.buffers[0].last, 2u);
}

TEST(PlanMemory, AKernelOfTwoReshapesCopies) {
  const Built built(
      "input %x: f32[2,8]\n%a = raf::softmax(%x)\n%b = raf::reshape(%a, [16])\n"
      "%c = raf::reshape(%b, [4,4])\n%d = raf::softmax(%c)\nreturn %d\n");
  const std::vector<Step> steps = built.Fused();
  EXPECT_EQ(PlanMemory(built.graph, steps, built.target).buffers.size(), 3u);
}

// Two results of 2 x 1 beside the one of 2 x 8: the kernel that reads one of the three inside it
// keeps all.
TEST(PlanMemory, ATupleIsKeptAsAWhole) {
  constexpr std::string_view kText =
      "input %x: f32[2,8]\nparameter %w: f32[8]\n"
      "%n, %mean, %rstd = aten::native_layer_norm(%x, [8], %w, %w, 1e-5)\n"
      "%a = aten::tanh(%mean)\n%b = aten::exp(%a)\nreturn %b\n";
  const Built built(kText);
  const std::vector<Step> fused = built.Fused();
  for (const Buffer& buffer : PlanMemory(built.graph, fused, built.target).buffers) {
    EXPECT_EQ(buffer.last, buffer.kept ? 2u : 1u);
  }
  // Read by itself, the field is all that stays.
  const std::vector<Step> unfused = built.Unfused();
  const MemoryPlan plan = PlanMemory(built.graph, unfused, built.target);
  EXPECT_EQ(plan.buffers[0].last, 0u);
  EXPECT_EQ(plan.buffers[1].last, 2u);
}

TEST(PlanMemory, AnOverwrittenParameterTakesNothing) {
  const Built built(
      "input %x: f32[8]\nparameter %w: f32[8]\n%b = aten::add_.Tensor(%w, %x)\nreturn %b\n");
  const std::vector<Step> steps = built.Fused();
  EXPECT_TRUE(PlanMemory(built.graph, steps, built.target).buffers.empty());
}

TEST(PlanMemory, AViewAtTheEndOfAKernelShowsWhatIsSmaller) {
  const Built expanded(
      "input %x: f32[1,8]\n%a = aten::tanh(%x)\n%b = aten::exp(%a)\n"
      "%c = aten::expand(%b, [4,8])\nreturn %c\n");
  EXPECT_EQ(AllBytes(PlanMemory(expanded.graph, expanded.Fused(), expanded.target)), 8 * kFloat);
  const Built sliced(
      "input %x: f32[4,8]\n%a = aten::tanh(%x)\n%b = aten::exp(%a)\n"
      "%c = aten::slice.Tensor(%b, 0, 0, 1)\nreturn %c\n");
  EXPECT_EQ(AllBytes(PlanMemory(sliced.graph, sliced.Fused(), sliced.target)), 8 * kFloat);
}

TEST(PlanMemory, AWorkspaceIsThereWhileItsKernelRuns) {
  // The columns of the convolution's image, 3 * 3 * 4 by 6 * 6 in bfloat16's float copy, or none:
  // whatever the row allocates besides the result.
  const Built built(
      "input %x: f32[2,8]\ninput %y: f16[8]\n%a = aten::add.Tensor(%x, %y)\nreturn %a\n");
  const std::vector<Step> steps = built.Fused();
  const MemoryPlan plan = PlanMemory(built.graph, steps, built.target);
  EXPECT_EQ(plan.workspace[0], 8 * kFloat) << "the second operand, cast";
  EXPECT_EQ(ExtentOf(plan, steps).peak, (2 * 8 + 8) * kFloat);
}

TEST(ExtentOf, TheBoundIsWhatOneStepHoldsByItself) {
  const Built built(kFiveAdditions);
  const std::vector<Step> steps = built.Unfused();
  const Extent extent = ExtentOf(PlanMemory(built.graph, steps, built.target), steps);
  const std::int64_t matrix = 5 * 5 * kFloat;
  EXPECT_EQ(extent.peak, 3 * matrix) << "t0, t1 and t2";
  EXPECT_EQ(extent.bound, 3 * matrix) << "t2, t0 and t3 = t2 + t0";
}

TEST(Growth, IsWhatAStepTakesLessWhatIsFreeAfterIt) {
  const Built built(kFiveAdditions);
  const std::vector<Step> steps = built.Unfused();
  const std::int64_t matrix = 5 * 5 * kFloat;
  EXPECT_THAT(Growth(PlanMemory(built.graph, steps, built.target), steps),
              ElementsAre(matrix, matrix, 0, -matrix, 0, 0));
}

}  // namespace
}  // namespace steelyard::graph
