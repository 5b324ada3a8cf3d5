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

TEST(IndexingGradients, ValuesThatWerePutAreTakenBack) {
  // The tensor's gradient is a copy with zeros put in, the values' is indexed.
  EXPECT_THAT(BackwardOf("aten::index_put(%p, [%i], %q)"),
              ElementsAre("zeros", "clone", "index_put_", "index.Tensor"));
  EXPECT_THAT(BackwardOf("aten::index_put(%x, [%i], %q, True)"), ElementsAre("index.Tensor"));
  EXPECT_THAT(SavedIn("aten::index_put(%p, [%i], %q)"), ElementsAre("i by IndexPutBackward0"));
}

TEST(IndexingGradients, WhatWasTakenIsPutBack) {
  EXPECT_THAT(BackwardOf("aten::take(%p, %i)"), ElementsAre("zeros_like", "put_"));
  EXPECT_THAT(SavedIn("aten::take(%p, %i)"),
              ElementsAre("i by TakeBackward0", "p by TakeBackward0"));
}

TEST(IndexingGradients, SlicesThatWereReducedShareTheGradient) {
  // Counts of what is equal to the largest, in the tensor and in what was reduced into it.
  EXPECT_THAT(BackwardOf("aten::index_reduce(%p, 0, %i, %q, 'amax')"),
              ElementsAre("index_select", "eq.Tensor", "_to_copy", "eq.Tensor", "_to_copy",
                          "index_add", "div.Tensor", "mul.Tensor", "index_select", "mul.Tensor"));
  EXPECT_THAT(SavedIn("aten::index_reduce(%p, 0, %i, %x, 'amax')"),
              ElementsAre("i by IndexReduceBackward0", "p by IndexReduceBackward0",
                          "x by IndexReduceBackward0", "y by IndexReduceBackward0"));
}

TEST(IndexingGradients, RowsThatWereAddedAreSelected) {
  EXPECT_THAT(BackwardOf("aten::index_add(%x, 0, %i, %p)"), ElementsAre("index_select", "expand"));
  EXPECT_THAT(SavedIn("aten::index_add(%x, 0, %i, %p)"),
              ElementsAre("i by IndexAddBackward0", "p by IndexAddBackward0"));
  EXPECT_THAT(SavedIn("aten::index_add(%p, 0, %i, %x)"), IsEmpty());
}

}  // namespace
}  // namespace steelyard
