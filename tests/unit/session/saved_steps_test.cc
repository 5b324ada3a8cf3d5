// SPDX-License-Identifier: Apache-2.0
//
// What is written is tested beside PyTorch, in tests/engine.
#include "session/saved_steps.h"

#include <gtest/gtest.h>

#include "written_model.h"

namespace steelyard {
namespace {

TEST(SaveSteps, RefusesNumbersThatStandForAny) {
  Running running;
  running.weighing = Weigh({.path = WrittenModel(kLinear)}).value();
  running.weighing.kernels.has_stand_ins = true;
  const Status saved = SaveSteps(SyEngine{}, {}, running);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace steelyard
