// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "events.h"
#include "steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Collectives, GatherAndScatterByProcess) {
  EXPECT_EQ(ResultOf("_c10d_functional::all_gather_into_tensor(f32[2,3], 4, '0')"), "f32[8,3]");
  EXPECT_EQ(ResultOf("_c10d_functional::reduce_scatter_tensor(f32[8,3], 'sum', 4, '0')"),
            "f32[2,3]");
  EXPECT_THAT(RefusalOf("_c10d_functional::reduce_scatter_tensor(f32[7,3], 'sum', 4, '0')"),
              HasSubstr("for 4 processes"));
  EXPECT_EQ(ResultOf("_c10d_functional::all_to_all_single(f32[4,3], [1,4], [2,2], '0')"),
            "f32[5,3]");
}

TEST(Collectives, SumsAreCopies) {
  EXPECT_THAT(EventsOf("_c10d_functional::all_reduce(f32[2,3], 'sum', '0')"),
              ElementsAre(Line(2 * 3 * 4, "empty")));
  EXPECT_THAT(EventsOf("_c10d_functional::wait_tensor(f32[2,3])"), IsEmpty());
}

// One call for several tensors; those in place are the operands, of which autograd sees nothing.
TEST(Collectives, ListsAreWhatTheirElementsAre) {
  EXPECT_THAT(EventsOf("_c10d_functional::all_reduce_coalesced([f32[2,3], f32[5]], 'sum', '0')"),
              ElementsAre(Line(2 * 3 * 4, "empty"), Line(5 * 4, "empty")));
  EXPECT_THAT(EventsOf("_c10d_functional::all_reduce_coalesced_([f32[2,3], f32[5]], 'sum', '0')"),
              IsEmpty());
  EXPECT_EQ(ResultOf("_c10d_functional::all_gather_into_tensor_coalesced([f32[2,3]], 4, '0')"),
            "f32[8,3]");
  EXPECT_EQ(ResultOf("_c10d_functional::reduce_scatter_tensor_coalesced([f32[8]], 'sum', 4, '0')"),
            "f32[2]");
  EXPECT_THAT(EventsOf("_c10d_functional::broadcast_(f32[2,3], 0, '0')"), IsEmpty());
}

// What one sends in the backward pass is what it received in the forward pass, laid out densely.
TEST(Collectives, GradientsGoTheOtherWay) {
  EXPECT_THAT(BackwardOf("_c10d_functional::all_reduce(%p, 'sum', '0')"),
              ElementsAre("clone", "all_reduce"));
  EXPECT_THAT(BackwardOf("_c10d_functional_autograd::all_gather_into_tensor(%p, 4, '0')"),
              ElementsAre("clone", "reduce_scatter_tensor"));
  EXPECT_THAT(BackwardOf("_c10d_functional::reduce_scatter_tensor(%p, 'sum', 4, '0')"),
              ElementsAre("clone", "all_gather_into_tensor"));
  EXPECT_THAT(BackwardOf("_c10d_functional::all_to_all_single(%p, [3,3], [2,2], '0')"),
              ElementsAre("clone", "all_to_all_single"));
  EXPECT_THAT(BackwardOf("_c10d_functional::broadcast(%p, 0, '0')"),
              ElementsAre("new_empty_strided", "copy_"));
}

// Those who have the largest element share the gradient: operand and result are kept for that, and
// how many they are is a sum of float32.
TEST(Collectives, AnExtremeIsSharedByThoseWhoHaveIt) {
  EXPECT_THAT(BackwardOf("_c10d_functional::all_reduce(%p, 'max', '0')"),
              ElementsAre("clone", "all_reduce", "eq.Tensor", "ne.Tensor", "ne.Tensor",
                          "bitwise_and.Tensor", "bitwise_or.Tensor", "_to_copy", "all_reduce",
                          "div.Tensor", "scalar_tensor", "where.self"));
  const auto kept = [](std::string_view call) {
    return KernelsOfProgram(StepOf(call)).saved.size();
  };
  EXPECT_EQ(kept("_c10d_functional::all_reduce(%p, 'min', '0')"), 2u);
  EXPECT_EQ(kept("_c10d_functional::all_reduce(%p, 'sum', '0')"), 0u);
}

// What it sends lies densely.
TEST(Collectives, GathersFromADenseCopy) {
  constexpr int kPart = 2 * 3 * 4;
  EXPECT_THAT(EventsOf("_c10d_functional::all_gather_into_tensor(f32[2,3]{1,2}, 4, '0')"),
              ElementsAre(Line(kPart, "empty"), Line(4 * kPart, "empty"),
                          Line(-kPart, "_c10d_functional::all_gather_into_tensor")));
}

std::vector<std::string> AveragingOf(const std::string& parameters, const std::string& names) {
  const Program kernels = KernelsOfProgram(
      parameters + "steelyard::backward(%loss) phase backward\nsteelyard::average_gradients([" +
      names + "], 2) phase optimizer\nreturn %loss\n");
  std::vector<std::string> out;
  for (const Node& node : kernels.main().nodes) {
    const std::string_view name = kernels.op_name(node.op);
    if (node.phase != Phase::kOptimizer || name == kDropMark) continue;
    out.emplace_back(name.substr(name.find("::") + 2));
  }
  return out;
}

// The last parameter's gradient first; a sum of each bucket, which goes back where it came from.
TEST(AverageGradients, OneBucketOfSmallOnes) {
  EXPECT_THAT(AveragingOf("parameter %p: f32[4]\nparameter %q: f32[4]\n"
                          "%y = aten::mul.Tensor(%p, %q)\n%loss = aten::sum(%y)\n",
                          "%p, %q"),
              ElementsAre("view", "view", "cat", "sum_across_", "box", "div_.Tensor",
                          "split_with_sizes", "view", "copy_", "view", "copy_"));
}

// 2^18 floats are 1 MiB, as much as the first bucket holds.
TEST(AverageGradients, TheFirstBucketIsSmall) {
  const std::vector<std::string> kernels = AveragingOf(
      "parameter %p: f32[262144]\nparameter %q: f32[262144]\n"
      "parameter %r: f32[262144]\n%x = aten::mul.Tensor(%p, %q)\n"
      "%y = aten::mul.Tensor(%x, %r)\n%loss = aten::sum(%y)\n",
      "%p, %q, %r");
  EXPECT_EQ(std::ranges::count(kernels, "sum_across_"), 2) << "one alone, and two that follow";
}

}  // namespace
}  // namespace steelyard
