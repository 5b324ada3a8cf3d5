// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <set>

#include "ir/text_reader.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

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

TEST(Passes, HaveUniqueNamesAndSummaries) {
  std::set<std::string_view> names;
  for (const PassInfo& pass : Passes()) {
    EXPECT_TRUE(names.insert(pass.name).second);
    EXPECT_FALSE(pass.summary.empty());
    EXPECT_EQ(FindPass(pass.name), &pass);
  }
}

}  // namespace
}  // namespace steelyard
