// SPDX-License-Identifier: Apache-2.0
#include "session/findings.h"

#include <gtest/gtest.h>

#include "written_model.h"

namespace steelyard {
namespace {

TEST(Findings, SayWhatTheStepDoes) {
  const Weighing weighing =
      Weigh({.path = WrittenModel(kLinear), .train = {.optimizer = "adamw", .loss = "sum"}})
          .value();
  const present::Findings findings = FindingsOf(weighing);
  EXPECT_EQ(findings.optimizer, "AdamW");
  EXPECT_EQ(findings.step, "forward, loss, backward, AdamW, zero_grad");
}

TEST(Findings, OfAForwardPassHaveNoStep) {
  const Weighing weighing = Weigh({.path = WrittenModel(kLinear)}).value();
  EXPECT_FALSE(FindingsOf(weighing).trains());
}

}  // namespace
}  // namespace steelyard
