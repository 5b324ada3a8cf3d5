// SPDX-License-Identifier: Apache-2.0

#include "step_events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kAdamWStep = "Optimizer.step#AdamW.step";

TEST(AdamW, FirstStepMakesACounterAndTwoMoments) {
  const std::vector<std::string> steady = StepEvents("steelyard::adamw([%p], False)");
  const std::vector<std::string> first = StepEvents("steelyard::adamw([%p], True)");
  ASSERT_EQ(first.size(), steady.size() + 3);
  EXPECT_EQ(first[0], Line(kCounter, "aten::empty"));
  EXPECT_EQ(first[1], Line(kMatrix, "aten::empty_strided"));
  EXPECT_EQ(first[2], Line(kMatrix, "aten::empty_strided"));
  EXPECT_EQ(StateBytes("steelyard::adamw([%p], False)"), kCounter + 2 * kMatrix);
}

TEST(AdamW, RootAndQuotientAreTemporaries) {
  const std::vector<std::string> events = StepEvents("steelyard::adamw([%p], False)");
  EXPECT_THAT(events, Contains(Line(kMatrix, "aten::sqrt")));
  EXPECT_THAT(events, Contains(Line(kMatrix, "aten::div")));
  EXPECT_EQ(events.back(), Line(-kMatrix, kAdamWStep));
}

// The number of `counter += 1` is boxed and freed by Python, its cast by the operator.
TEST(AdamW, NumbersAreBoxedInTheStep) {
  const std::vector<std::string> events = StepEvents("steelyard::adamw([%p], False)");
  ASSERT_GE(events.size(), 4u);
  EXPECT_THAT(std::vector(events.begin(), events.begin() + 4),
              ElementsAre(Line(8, kAdamWStep), Line(4, "aten::empty_strided"),
                          Line(-4, "aten::add_"), Line(-8, kAdamWStep)));
}

TEST(Adam, DenominatorLivesUntilTheNextIsThere) {
  EXPECT_THAT(LargeEvents("steelyard::adam([%p, %q], False)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix,            // root, quotient
                          kMatrix, kMatrix, -kMatrix, -kMatrix,  // and the denominator before
                          -kMatrix));
}

TEST(Adam, DecayIsAddedToTheGradientAndAdamWsIsNot) {
  EXPECT_THAT(StepEvents("steelyard::adam([%p], False, weight_decay=0.1)"),
              Contains(Line(kMatrix, "aten::add")));
  EXPECT_THAT(StepEvents("steelyard::adamw([%p], False, weight_decay=0.1)"),
              Each(::testing::Ne(Line(kMatrix, "aten::add"))));
}

TEST(Adam, AmsgradKeepsAThirdMoment) {
  EXPECT_EQ(StateBytes("steelyard::adam([%p], False, amsgrad=True)"), kCounter + 3 * kMatrix);
}

TEST(Adam, ListsOfRootsLiveTogether) {
  EXPECT_THAT(LargeEvents("steelyard::adam([%p, %q], False, foreach=True)"),
              ElementsAre(kMatrix, kMatrix, -kMatrix, -kMatrix));
}

TEST(Adam, FusedNeedsOnlyTheCounters) {
  EXPECT_THAT(LargeEvents("steelyard::adam([%p, %q], False, fused=True)"), IsEmpty());
}

TEST(NAdam, KeepsTheProductOfMomenta) {
  EXPECT_EQ(StateBytes("steelyard::nadam([%p], False)"), 2 * kCounter + 2 * kMatrix);
}

// Corrected mean and update; from the sixth step on also a root, its reciprocal, a product.
TEST(RAdam, RectifiedStepsNeedMore) {
  EXPECT_THAT(LargeEvents("steelyard::radam([%p], True)"),
              ElementsAre(kMatrix, kMatrix, kMatrix, kMatrix, -kMatrix, -kMatrix));
  std::int64_t now = 0, peak = 0;
  for (const std::int64_t bytes : LargeEvents("steelyard::radam([%p], False)")) {
    now += bytes;
    peak = std::max(peak, now);
  }
  EXPECT_EQ(peak, 5 * kMatrix);
}

}  // namespace
}  // namespace steelyard
