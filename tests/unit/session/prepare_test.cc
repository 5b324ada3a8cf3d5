// SPDX-License-Identifier: Apache-2.0
#include "session/prepare.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(Prepare, NamesWhatAsksForARun) {
  EXPECT_EQ(AskedOfRun({}), "");
  EXPECT_EQ(AskedOfRun({.bind = {.batch = 3}}), "--batch");
  EXPECT_TRUE(ImportOf({.train = {.optimizer = "sgd"}}).training);
  EXPECT_FALSE(ImportOf({}).runs);
}

TEST(Prepare, ACompilerSeesEveryMicroStep) {
  EXPECT_FALSE(PassesOf({}).train.unroll);
  EXPECT_TRUE(PassesOf({.runtime = "graph"}).train.unroll);
}

}  // namespace
}  // namespace steelyard
