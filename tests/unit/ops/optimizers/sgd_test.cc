// SPDX-License-Identifier: Apache-2.0

#include "step_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Sgd, AllocatesNothing) {
  EXPECT_THAT(StepEvents("steelyard::sgd([%p, %q], False)"), IsEmpty());
}

TEST(Sgd, DecayedGradientDiesBeforeTheNextOne) {
  EXPECT_THAT(LargeEvents("steelyard::sgd([%p, %q], False, weight_decay=0.1)"),
              ElementsAre(kMatrix, -kMatrix, kMatrix, -kMatrix));
}

TEST(Sgd, NegativesDieAfterTheNextOne) {
  EXPECT_THAT(LargeEvents("steelyard::sgd([%p, %q], False, maximize=True)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));
}

TEST(Sgd, MomentumIsStateThatTheFirstStepMakes) {
  EXPECT_THAT(LargeEvents("steelyard::sgd([%p], True, momentum=0.9)"), ElementsAre(kMatrix));
  EXPECT_THAT(LargeEvents("steelyard::sgd([%p], False, momentum=0.9)"), IsEmpty());
  EXPECT_EQ(StateBytes("steelyard::sgd([%p], False, momentum=0.9)"), kMatrix);
}

TEST(Sgd, ListsOfDecayedGradientsDieTogether) {
  EXPECT_THAT(LargeEvents("steelyard::sgd([%p, %q], False, weight_decay=0.1, foreach=True)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));
}

TEST(Sgd, FusedNeedsNothingBesidesItsState) {
  EXPECT_THAT(StepEvents("steelyard::sgd([%p, %q], False, weight_decay=0.1, fused=True)"),
              IsEmpty());
}

TEST(Sgd, ContradictionsAreRefused) {
  EXPECT_THAT(StepRefusal("steelyard::sgd([%p], False, nesterov=True)"), HasSubstr("momentum"));
  EXPECT_THAT(StepRefusal("steelyard::sgd([%p], False, foreach=True, fused=True)"),
              HasSubstr("either foreach or fused"));
}

}  // namespace
}  // namespace steelyard
