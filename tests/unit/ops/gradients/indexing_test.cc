// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/indexing.h"

#include <gmock/gmock.h>

#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IndexingGradients, WhatWasNotSelectedIsZero) {
  EXPECT_THAT(BackwardOf("aten::index_select(%p, 0, %i)"), ElementsAre("new_zeros", "index_add_"));
  EXPECT_THAT(SavedIn("aten::index_select(%p, 0, %i)"), ElementsAre("i by IndexSelectBackward0"));
}

}  // namespace
}  // namespace steelyard
