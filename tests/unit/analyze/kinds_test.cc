// SPDX-License-Identifier: Apache-2.0

#include "analyze/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/peak.h"
#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"
#include "runtime/eager.h"

namespace steelyard {
namespace {

TEST(Kinds, ShareOutAllWorkAndWhatTheStepHolds) {
  const Result<Program> program = ParseText(
      "input %x: f32[4,8]\nparameter %w: f32[8,16]\n%y = aten::mm(%x, %w)\n%z = aten::relu(%y)\n"
      "return %z\n",
      "");
  ASSERT_TRUE(program) << Describe(program.error());
  const Program kernels = Dispatcher(*program, Target{}).Run().value();
  const Timeline timeline = RunEager(kernels, Target{});
  const WorkReport work = CountWork(*program, kernels, *FindConvention("all"), Target{}).value();
  const PeakReport peak = FindPeak(timeline);
  const std::vector<KindReport> kinds = CountKinds(kernels, work, timeline, peak.live);
  NodeWork sum;
  std::int64_t held = 0;
  for (const KindReport& kind : kinds) {
    sum += kind.work;
    held += kind.held;
  }
  NodeWork all;
  for (const NodeWork& phase : work.by_phase) all += phase;
  EXPECT_EQ(sum, all);
  EXPECT_EQ(held, peak.peak - peak.resident);
  ASSERT_EQ(kinds[0].family, Family::kContraction);
  EXPECT_EQ(kinds[0].kernels, 1);
  EXPECT_EQ(kinds[0].work.macs, 4 * 8 * 16);
  EXPECT_EQ(kinds[0].held, 4 * 16 * 4);
}

}  // namespace
}  // namespace steelyard
