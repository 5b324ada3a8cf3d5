// SPDX-License-Identifier: Apache-2.0

#include "step_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Adagrad, ConstructorMakesTheState) {
  EXPECT_EQ(StateBytes("steelyard::adagrad([%p], True)"), kCounter + kMatrix);
  EXPECT_EQ(StepEvents("steelyard::adagrad([%p], True)"),
            StepEvents("steelyard::adagrad([%p], False)"));
}

TEST(Adagrad, RootDiesAfterTheNext) {
  EXPECT_THAT(LargeEvents("steelyard::adagrad([%p, %q], False)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));
}

TEST(Adagrad, ListsNeedANumeratorToo) {
  EXPECT_THAT(LargeEvents("steelyard::adagrad([%p, %q], False, foreach=True)"),
              ElementsAre(kMatrix, kMatrix, kMatrix, kMatrix,  // roots, numerators
                          -kMatrix, -kMatrix, -kMatrix, -kMatrix));
}

TEST(Adagrad, FusedNeedsOnlyTheCounters) {
  EXPECT_THAT(LargeEvents("steelyard::adagrad([%p, %q], False, fused=True)"), IsEmpty());
}

TEST(RmsProp, StateGrowsWithItsOptions) {
  EXPECT_EQ(StateBytes("steelyard::rmsprop([%p], False)"), kCounter + kMatrix);
  EXPECT_EQ(StateBytes("steelyard::rmsprop([%p], False, momentum=0.9, centered=True)"),
            kCounter + 3 * kMatrix);
}

TEST(RmsProp, RootDiesWhenTheNextIsThere) {
  EXPECT_THAT(LargeEvents("steelyard::rmsprop([%p, %q], False)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));
}

}  // namespace
}  // namespace steelyard
