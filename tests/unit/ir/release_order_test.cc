// SPDX-License-Identifier: Apache-2.0

#include "ir/release_order.h"

#include <gmock/gmock.h>

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Program Returning(std::size_t outputs, std::vector<std::uint32_t> released) {
  Program program;
  program.main().outputs.resize(outputs);
  program.released = std::move(released);
  return program;
}

TEST(ReleaseOrder, ATupleGoesFromItsEnd) {
  EXPECT_THAT(ReleaseOrder(Returning(3, {})), ElementsAre(2, 1, 0));
  EXPECT_THAT(ReleaseOrder(Returning(0, {})), IsEmpty());
}

TEST(ReleaseOrder, WhatPassesAppendGoesLast) {
  EXPECT_THAT(ReleaseOrder(Returning(3, {1, 0})), ElementsAre(1, 0, 2));
}

TEST(ReleaseOrder, OnlyOutputsCanBeReleased) {
  EXPECT_TRUE(CanRelease(Returning(3, {})));
  EXPECT_TRUE(CanRelease(Returning(3, {2, 0, 1})));
  EXPECT_TRUE(CanRelease(Returning(3, {1, 0})));
  EXPECT_FALSE(CanRelease(Returning(3, {2})));
  EXPECT_FALSE(CanRelease(Returning(3, {0, 0})));
  EXPECT_FALSE(CanRelease(Returning(1, {1, 0})));
}

}  // namespace
}  // namespace steelyard
