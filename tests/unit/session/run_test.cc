// SPDX-License-Identifier: Apache-2.0
//
// What is refused before anything runs; what runs is tested beside PyTorch, in tests/engine.
#include "session/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(RunTest, SaysWhichCommandMakesTheEngine) {
  const auto running =
      steelyard::Run({.weigh = {.path = WrittenModel(kLinear)}, .engine = "/nowhere.so"});
  ASSERT_FALSE(running);
  EXPECT_THAT(running.error().hint, HasSubstr("cmake --preset engine"));
}

TEST(RunTest, RefusesWhatCannotRun) {
  EXPECT_EQ(
      steelyard::Run({.weigh = {.path = WrittenModel(kLinear), .runtime = "graph"}}).error().code,
      ErrorCode::kUsage);
  EXPECT_EQ(steelyard::Run({.weigh = {.path = WrittenModel(kLinear)}, .number = -1}).error().code,
            ErrorCode::kUsage);
  EXPECT_FALSE(steelyard::Run({.weigh = {.path = "/nowhere.pt2"}}));
}

TEST(CompareRunsTest, RefusesWhatCannotBeCompared) {
  const auto refused = [](RunOptions options) {
    options.weigh.path = WrittenModel(kLinear);
    const Result<RunComparison> compared = CompareRuns(options);
    return compared ? std::string() : compared.error().message;
  };
  EXPECT_EQ(refused({.compare = {"fp32"}}), "two precisions are compared");
  EXPECT_EQ(refused({.compare = {"bf16", "bf16"}}), "two precisions are compared");
  EXPECT_EQ(refused({.compare = {"fp32", "fp64"}}), "there is no precision \"fp64\"");
  EXPECT_EQ(refused({.weigh = {.amp = {.dtype = DType::kBFloat16}}, .compare = {"fp32", "bf16"}}),
            "what is compared says the precisions");
  EXPECT_EQ(refused({.compare = {"fp32", "bf16"}, .peak_flops = {1e12}}), "1 peaks of 2 programs");
}

}  // namespace
}  // namespace steelyard
