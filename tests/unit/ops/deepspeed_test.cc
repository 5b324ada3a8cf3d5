// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cuda/cuda_events.h"
#include "parallel/engine_steps.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The operator does, and the thread of Gloo that receives.
TEST(DeepSpeedStep, GatheringCopiesTwice) {
  EXPECT_THAT(EventsOf("steelyard::gather_parameters([bf16[2,3], bf16[5]], 12)"),
              ElementsAre(Line(12 * 2, "empty"), HasSubstr("-24"), Line(12 * 2, "empty"),
                          HasSubstr("-24")));
  EXPECT_THAT(CudaBytesOf("steelyard::gather_parameters([f32[2,3], f32[5]], 12)"), IsEmpty());
  EXPECT_THAT(RefusalOf("steelyard::gather_parameters([], 12)"),
              HasSubstr("no parameters are gathered"));
}

// One number is for the program, the other for the backward pass.
TEST(DeepSpeedStep, TheLossIsAMeanThatIsScaled) {
  EXPECT_EQ(ResultOf("steelyard::scale_engine_loss(f32[], 4)", 0), "f32[]");
  EXPECT_EQ(ResultOf("steelyard::scale_engine_loss(f32[], 4)", 1), "f32[]");
  std::vector<std::string> nodes = NodesOf("steelyard::scale_engine_loss(f32[], 4)");
  std::erase(nodes, "drop");
  EXPECT_THAT(nodes, ElementsAre("box", "div.Tensor", "box", "mul.Tensor"));
}

TEST(DeepSpeedStep, ItsPartsNeedTheStep) {
  EXPECT_THAT(RefusalOf("steelyard::take_partition_norm()"), HasSubstr("outside of one"));
  std::string other_group = StepOfWhole("2, 2, 0, False, 1, 100");
  other_group.replace(other_group.find("return_master(0)"), 16, "return_master(1)");
  EXPECT_THAT(RefusalOfProgram(other_group), HasSubstr("a group that the step of DeepSpeed has"));
}

TEST(DeepSpeedStep, OptionsThatTheEngineTakesNotAreRefused) {
  EXPECT_THAT(RefusalOfProgram(StepOfWhole("2, 2, 0, False, 1, 0")),
              HasSubstr("no reduce_bucket_size of 0"));
  EXPECT_THAT(RefusalOfProgram(StepOfWhole("2, 2, 0, False, 1, 100, True, False")),
              HasSubstr("overlap_comm without contiguous_gradients"));
  EXPECT_THAT(RefusalOfProgram(StepOfWhole("2, 0, 0, False, 1, 100")), HasSubstr("0 processes"));
  std::string counts = StepOfWhole("2, 2, 0, False, 1, 100");
  counts.replace(counts.find("[2], "), 3, "[3]");
  EXPECT_THAT(RefusalOfProgram(counts), HasSubstr("groups of other parameters than there are"));
}

}  // namespace
}  // namespace steelyard
