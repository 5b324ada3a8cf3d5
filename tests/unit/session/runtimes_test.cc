// SPDX-License-Identifier: Apache-2.0
#include "session/runtimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/analyses.h"
#include "steelyard/weigh.h"
#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTwoCalls =
    "input %x: f32[2,8]\n%y: f32[2,8] = aten::tanh(%x)\n%z: f32[2,8] = aten::exp(%y)\nreturn %z\n";

TEST(RuntimesTest, TheDefaultComesFirst) {
  EXPECT_EQ(Runtimes().front().name, WeighOptions().runtime);
  EXPECT_EQ(Schedules().front().name, WeighOptions().schedule);
  for (const Choice& runtime : Runtimes()) EXPECT_FALSE(runtime.summary.empty());
  for (const Choice& schedule : Schedules()) EXPECT_FALSE(schedule.summary.empty());
}

TEST(RuntimesTest, ARowSaysWhatItIsCalledAndWhetherItCompiles) {
  EXPECT_FALSE(FindRuntime("eager")->compiles);
  EXPECT_TRUE(FindRuntime("graph")->compiles);
  EXPECT_EQ(FindRuntime("graph")->title, "A compiled graph");
  EXPECT_EQ(FindRuntime("sundial"), nullptr);
}

TEST(RuntimesTest, TheGraphIsFused) {
  const std::string path = WrittenModel(kTwoCalls);
  const Result<Weighing> eager = Weigh({.path = path});
  const Result<Weighing> graph = Weigh({.path = path, .runtime = "graph"});
  ASSERT_TRUE(eager && graph);
  EXPECT_EQ(eager->totals.peak_bytes, 3 * 2 * 8 * 4);
  EXPECT_EQ(graph->totals.peak_bytes, 2 * 2 * 8 * 4);
  EXPECT_FALSE(eager->analyses->graph);
  EXPECT_EQ(graph->analyses->graph->kernels.size(), 2u) << "one, and what remains";
}

TEST(RuntimesTest, EveryScheduleRuns) {
  const std::string path = WrittenModel(kTwoCalls);
  for (const Choice& schedule : Schedules()) {
    EXPECT_TRUE(Weigh({.path = path, .runtime = "graph", .schedule = std::string(schedule.name)}));
  }
}

TEST(RuntimesTest, ABudgetMustBeMet) {
  const std::string path = WrittenModel(kTwoCalls);
  const Result<Weighing> low = Weigh({.path = path, .runtime = "graph", .budget = 2 * 8 * 4});
  ASSERT_FALSE(low);
  EXPECT_EQ(low.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(Describe(low.error()), HasSubstr("Its kernels need at least 128 B"));
  EXPECT_TRUE(Weigh({.path = path, .runtime = "graph", .budget = 2 * 2 * 8 * 4}));
  const Result<Weighing> eager = Weigh({.path = path, .budget = 1 << 20});
  ASSERT_FALSE(eager);
  EXPECT_EQ(eager.error().code, ErrorCode::kUsage);
}

TEST(RuntimesTest, OthersAreRefused) {
  const std::string path = WrittenModel(kTwoCalls);
  const Result<Weighing> runtime = Weigh({.path = path, .runtime = "sundial"});
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error().code, ErrorCode::kUsage);
  EXPECT_THAT(Describe(runtime.error()), HasSubstr("There are: eager, graph."));
  const Result<Weighing> schedule =
      Weigh({.path = path, .runtime = "graph", .schedule = "whenever"});
  ASSERT_FALSE(schedule);
  EXPECT_THAT(Describe(schedule.error()), HasSubstr("There are: post-order, memory."));
}

TEST(RuntimesTest, OnlyTheGraphRuntimeHasAnOrder) {
  const Result<Weighing> eager = Weigh({.path = WrittenModel(kTwoCalls), .schedule = "memory"});
  ASSERT_FALSE(eager);
  EXPECT_EQ(eager.error().code, ErrorCode::kUsage);
  EXPECT_THAT(Describe(eager.error()), HasSubstr("--schedule: only the graph runtime"));
}

}  // namespace
}  // namespace steelyard
