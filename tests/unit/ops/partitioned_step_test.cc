// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "ops/parallel/replaced_by_engine.h"
#include "parallel/engine_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kTwoRanks = "[0, 1, 0, 1], 2, 0, False, 1, 100";

std::vector<std::string> SavedBy(const std::string& text) {
  const Program kernels = KernelsOfProgram(text);
  std::vector<std::string> names;
  for (const SavedTensor& saved : kernels.saved) names.emplace_back(kernels.text(saved.by));
  return names;
}

TEST(PartitionedStep, ALayersProductSavesItsOperands) {
  EXPECT_EQ(ops::ReplacedByEngine("aten::linear"), "steelyard::engine_linear");
  EXPECT_EQ(ops::ReplacedByEngine("aten::addmm"), "aten::addmm");
  EXPECT_THAT(SavedBy(StepOfParts(kTwoRanks)), Contains("LinearFunctionForZeroStage3Backward"));
  EXPECT_THAT(SavedBy(StepOfParts(std::string(kTwoRanks) + ", memory_efficient_linear=False")),
              Not(Contains("LinearFunctionForZeroStage3Backward")));
}

TEST(PartitionedStep, OutsideOfTheEngineALayerIsAnyLayer) {
  EXPECT_EQ(NodesOf("steelyard::engine_linear(f32[2,3], f32[4,3], f32[4])"),
            NodesOf("aten::linear(f32[2,3], f32[4,3], f32[4])"));
}

TEST(PartitionedStep, ATensorGetsItsMemoryLater) {
  EXPECT_THAT(EventsOf("steelyard::without_memory([6], f32)"), IsEmpty());
  EXPECT_THAT(EventsOf("steelyard::give_memory(f32[2,3], 8)"), ElementsAre(Line(32, "")));
}

TEST(PartitionedStep, ModulesAndParametersThatThereAreNotAreRefused) {
  const auto refusal = [](std::string_view what, std::string_view instead) {
    std::string text = StepOfParts(kTwoRanks);
    text.replace(text.find(what), what.size(), instead);
    return RefusalOfProgram(text);
  };
  EXPECT_THAT(refusal("[2], [5,3], [1]", "[2], [5,3], [-1]"), HasSubstr("a module that no model"));
  EXPECT_THAT(refusal("[2], [5,3], [1]", "[3], [5,3], [1]"), HasSubstr("fewer sizes than"));
  EXPECT_THAT(refusal("[2], [5,3], [1]", "[2], [5,3], [1, 2]"), HasSubstr("as long as each other"));
  EXPECT_THAT(refusal("[1], [0])", "[1], [1])"), HasSubstr("a parameter that there is not"));
  EXPECT_THAT(refusal("1, 100", "1, 0"), HasSubstr("no reduce_bucket_size of 0"));
}

}  // namespace
}  // namespace steelyard
