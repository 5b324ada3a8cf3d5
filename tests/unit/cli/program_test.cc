// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../temporary.h"
#include "captured.h"
#include "steelyard/report.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

TEST(ProgramTest, Version) {
  const Captured run = RunCaptured({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, std::string("steelyard ") + kVersion + "\n");
}

TEST(ProgramTest, WithoutWordsItSaysWhatItDoes) {
  EXPECT_EQ(RunCaptured({}).out, RunCaptured({"--help"}).out);
  EXPECT_THAT(RunCaptured({}).out, HasSubstr("usage: steelyard COMMAND"));
}

TEST(ProgramTest, HelpOfACommand) {
  const Captured run = RunCaptured({"weigh", "--help"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("usage: steelyard weigh MODEL"));
}

TEST(ProgramTest, UnknownCommandsGetAGuess) {
  EXPECT_EQ(RunCaptured({"wiegh", "m.pt2"}).err,
            "steelyard: there is no command \"wiegh\". Did you mean weigh?\n");
  EXPECT_EQ(RunCaptured({"conquer"}).err,
            "steelyard: there is no command \"conquer\". See steelyard --help.\n");
  EXPECT_EQ(RunCaptured({"conquer"}).status, 2);
}

TEST(ProgramTest, AModelWithoutACommandIsMeantToBeWeighed) {
  const std::string path = WriteTemporary("model.syt", "return\n");
  EXPECT_THAT(RunCaptured({path}).err, HasSubstr("Did you mean steelyard weigh " + path + "?"));
}

TEST(ProgramTest, AMissingFileIsRefusedInOneLine) {
  const Captured run = RunCaptured({"weigh", "no_such.pt2"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.err.starts_with("steelyard: no_such.pt2: ")) << run.err;
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1);
}

}  // namespace
}  // namespace steelyard::cli
