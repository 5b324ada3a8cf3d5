// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary.h"
#include "captured.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

std::string ReluModel() {
  return WriteTemporary("relu.syt",
                        "input %x: f32[4,8]\n%y: f32[4,8] = aten::relu(%x)\nreturn %y\n");
}

TEST(RunCommandTest, SaysHowToGetAnEngine) {
  const Captured run = RunCaptured({"run", ReluModel(), "--engine", "/nowhere.so"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("cmake --preset engine"));
  EXPECT_EQ(run.out, "");
}

TEST(RunCommandTest, RefusesWhatCannotBe) {
  const Captured none = RunCaptured({"run", ReluModel(), "--threads", "0"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--threads: 0 is less than 1. It is a whole number from 1 on."));
  EXPECT_EQ(RunCaptured({"run", ReluModel(), "--runtime", "graph"}).status, 2) << "no flag of it";
  EXPECT_EQ(RunCaptured({"run"}).status, 2);
}

TEST(RunCommandTest, RefusesWhatCannotBeCompared) {
  EXPECT_EQ(RunCaptured({"run", ReluModel(), "--compare", "bf16"}).status, 2);
  EXPECT_EQ(RunCaptured({"run", ReluModel(), "--compare", "fp32,bf16", "--amp", "bf16"}).status, 2);
  const Captured run = RunCaptured({"run", ReluModel(), "--compare", "fp32,int8"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("There are: fp32, bf16, fp16."));
  EXPECT_EQ(RunCaptured({"run", ReluModel(), "--peak-flops", "many"}).status, 2);
}

}  // namespace
}  // namespace steelyard::cli
