// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "../temporary.h"
#include "captured.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

std::string Model(const std::string& op) {
  return WriteTemporary(
      op + ".syt", "input %x: f32[batch,8]\n%y: f32[batch,8] = aten::" + op + "(%x)\nreturn %y\n");
}

TEST(CompareCommandTest, ShowsWhatDiffers) {
  const Captured run = RunCaptured({"compare", Model("relu"), Model("exp"), "--batch", "4"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("aten::relu"));
  EXPECT_THAT(run.out, HasSubstr("aten::exp"));
}

TEST(CompareCommandTest, WritesEveryFormat) {
  const std::string a = Model("relu"), b = Model("exp");
  EXPECT_THAT(RunCaptured({"compare", a, b, "--batch", "4", "--format", "json"}).out,
              HasSubstr("\"schema\": \"steelyard.comparison/1\""));
  EXPECT_TRUE(RunCaptured({"compare", a, b, "--batch", "4", "--table", "operators"})
                  .out.starts_with("op,differs,"));
  EXPECT_EQ(RunCaptured({"compare", a, b, "--format", "chrome"}).status, 2);
}

TEST(CompareCommandTest, NeedsBoth) {
  EXPECT_EQ(RunCaptured({"compare", Model("relu")}).status, 2);
}

TEST(CompareCommandTest, OptionsOfWeighingAreRefusedForReports) {
  const std::string report = TemporaryPath("report.json");
  ASSERT_EQ(RunCaptured({"weigh", Model("relu"), "--batch", "2", "-o", report}).status, 0);
  EXPECT_EQ(RunCaptured({"compare", report, report, "--depth", "1"}).status, 0);
  for (const auto& asked : {std::pair("--batch", "2"), std::pair("--mode", "exported")}) {
    const Captured run = RunCaptured({"compare", report, report, asked.first, asked.second});
    EXPECT_EQ(run.status, 2) << "also where it is the default";
    EXPECT_THAT(run.err, HasSubstr(std::string("steelyard: ") + asked.first + ": both files are"));
  }
}

}  // namespace
}  // namespace steelyard::cli
