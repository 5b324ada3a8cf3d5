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

}  // namespace
}  // namespace steelyard
