// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <set>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program Example() {
  return ParseText(
             "parameter %w: f32[5,8]\ninput %x: f32[2,8]\n%y: f32[2,5] = aten::linear(%x, "
             "%w)\nreturn %y\n",
             "t")
      .value();
}

TEST(RunPasses, InOrderAndVerified) {
  constexpr std::array<std::string_view, 3> kNames{"tie_parameters", "bind", "decompose"};
  PassOptions options;
  options.verify = true;
  const Result<Program> kernels = RunPasses(Example(), kNames, options);
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  EXPECT_NE(kernels->FindOpName("aten::mm"), kNoId);
}

TEST(RunPasses, AnUnknownNameListsTheKnown) {
  constexpr std::array<std::string_view, 1> kNames{"fuse"};
  const Result<Program> program = RunPasses(Example(), kNames, {});
  ASSERT_FALSE(program);
  EXPECT_THAT(Describe(program.error()), HasSubstr("decompose"));
}

TEST(PassesFor, AreThoseThatTheOptionsAskForInTheirOrder) {
  EXPECT_THAT(PassesFor({}), ElementsAre("tie_parameters", "bind", "set_mode", "decompose"));
  const std::vector<std::string_view> step =
      PassesFor({.as_module = true,
                 .train = {.optimizer = "sgd", .parallel = {.wrapper = "ddp"}},
                 .amp = {.dtype = DType::kBFloat16}});
  EXPECT_EQ(step.size(), Passes().size() - 2)
      << "RAF's casts stand instead of autocast, and shared layers instead of a wrapper";
  EXPECT_THAT(PassesFor({.amp = {.dtype = DType::kFloat16}}),
              ElementsAre("tie_parameters", "bind", "set_mode", "autocast", "decompose"));
  EXPECT_THAT(PassesFor({.amp = {.dtype = DType::kFloat16, .policy = CastPolicy::kRaf}}),
              ElementsAre("tie_parameters", "bind", "set_mode", "decompose", "cast_kernels"));
}

TEST(Lower, KeepsWhatTheKernelsWereMadeFromAndTakesTheTimes) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<Lowered> lowered = Lower(Example(), {.verify = true});
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(lowered) << Describe(lowered.error());
  EXPECT_NE(lowered->imported.FindOpName("aten::linear"), kNoId);
  EXPECT_EQ(lowered->imported.FindOpName("aten::mm"), kNoId);
  EXPECT_NE(lowered->kernels.FindOpName("aten::mm"), kNoId);
  std::vector<std::string_view> stages;
  double sum = 0;
  for (const StageTime& time : lowered->times) {
    stages.push_back(time.stage);
    EXPECT_GT(time.seconds, 0) << time.stage;
    sum += time.seconds;
  }
  EXPECT_LE(sum, all.count()) << "each is a part of it";
  EXPECT_EQ(stages, PassesFor({}));
}

TEST(Passes, HaveUniqueNamesAndSummaries) {
  std::set<std::string_view> names;
  for (const PassInfo& pass : Passes()) {
    EXPECT_TRUE(names.insert(pass.name).second);
    EXPECT_FALSE(pass.summary.empty());
    EXPECT_EQ(FindPass(pass.name), &pass);
    EXPECT_NE(pass.run == nullptr, pass.lower == nullptr);
  }
}

}  // namespace
}  // namespace steelyard
