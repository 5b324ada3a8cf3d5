// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMatrix = 4 * 8 * 4;  // bytes
constexpr std::string_view kStep = "Optimizer.step#AdamW.step";

std::vector<std::string> StepEvents(std::string_view call) {
  const std::string text = StepOf("aten::exp(%p)", std::string(call) + " phase optimizer\n");
  const Program kernels = KernelsOfProgram(text);
  const Timeline timeline = RunEager(kernels, Target{});
  std::vector<std::string> out;
  for (const Event& event : timeline.events) {
    if (event.node >= kernels.main().nodes.size()) continue;
    if (kernels.main().nodes[event.node].phase != Phase::kOptimizer) continue;
    out.push_back(Line(event.bytes, timeline.labels.view(event.label)));
  }
  EXPECT_FALSE(out.empty());
  if (!out.empty()) out.pop_back();  // the loss, which the loop lets go last
  return out;
}

TEST(Sgd, AllocatesNothing) {
  EXPECT_THAT(StepEvents("steelyard::sgd([%p, %q], False)"), IsEmpty());
}

TEST(AdamW, FirstStepMakesACounterAndTwoMoments) {
  const std::vector<std::string> steady = StepEvents("steelyard::adamw([%p], False)");
  const std::vector<std::string> first = StepEvents("steelyard::adamw([%p], True)");
  ASSERT_EQ(first.size(), steady.size() + 3);
  EXPECT_EQ(first[0], Line(4, "aten::empty"));
  EXPECT_EQ(first[1].substr(0, first[1].find(" ")), "+" + std::to_string(kMatrix));
  EXPECT_EQ(first[2].substr(0, first[2].find(" ")), "+" + std::to_string(kMatrix));
}

TEST(AdamW, RootAndQuotientAreTemporaries) {
  const std::vector<std::string> events = StepEvents("steelyard::adamw([%p], False)");
  EXPECT_THAT(events, Contains(Line(kMatrix, "aten::sqrt")));
  EXPECT_THAT(events, Contains(Line(kMatrix, "aten::div")));
  EXPECT_EQ(events.back(), Line(-kMatrix, kStep));
}

}  // namespace
}  // namespace steelyard
