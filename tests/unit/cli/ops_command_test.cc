// SPDX-License-Identifier: Apache-2.0
#include "cli/ops_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "captured.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(OpsCommandTest, ListsWhatIsModelled) {
  const Captured run = RunCaptured({"ops"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("aten::linear"));
}

TEST(OpsCommandTest, APatternPicks) {
  const Captured run = RunCaptured({"ops", "softmax"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("aten::softmax"));
  EXPECT_THAT(run.out, Not(HasSubstr("aten::linear")));
}

TEST(OpsCommandTest, NothingFoundIsSaid) {
  const Captured run = RunCaptured({"ops", "no_such_operator"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("\"no_such_operator\""));
}

}  // namespace
}  // namespace steelyard::cli
