// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "../record_writer.h"
#include "analyze/peak.h"
#include "present/watch.h"
#include "record/replay.h"

namespace steelyard::present {
namespace {

// A step of a model with one layer: its parameters, their gradients and a temporary.
Watched OneStep() {
  RecordWriter record;
  record.Module(0, SY_NO_ID, "", "Model").Module(1, 0, "head", "Linear");
  record.Parameter(0, 1, 6, "head.weight", 77);
  record.Mark(900, 24, Category::kParameters, 0);
  record.At(10).Add(SY_MODULE_ENTER, 0, 1).Add(SY_MODULE_ENTER, 1, 1);
  record.Add(SY_ALLOCATE, 0, 100, 40);
  record.At(20).Add(SY_MODULE_LEAVE, 1, 2).At(25).Add(SY_MODULE_LEAVE, 0, 2);
  record.At(30).Add(SY_NODE_ENTER, 0, 1, 2, 1).Add(SY_ALLOCATE, 0, 200, 24).Add(SY_NODE_LEAVE);
  record.Add(SY_ACCUMULATE_ENTER, 0, 77).Add(SY_ACCUMULATE_LEAVE, 0, 200, 24);
  record.Add(SY_FREE, 0, 100).At(50).Add(SY_STEP);
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  return Replay(std::move(*recording), [](const RecordedCall&) { return CallIs::kWorking; });
}

TEST(WatchData, EveryByteOfThePeakIsOfOneModule) {
  const Watched watched = OneStep();
  const PeakReport peak = FindPeak(watched.timeline);
  const WatchTree tree = TreeOf({watched, peak, {}});
  std::int64_t sum = 0;
  for (const WatchRow& row : tree.own) sum += row.peak_bytes();
  EXPECT_EQ(sum, peak.peak);
  EXPECT_EQ(peak.peak, 24 + 40 + 24);
  EXPECT_EQ(Of(tree.own[1].at_peak, Category::kGradients), 24);
  EXPECT_EQ(Of(tree.own[1].at_peak, Category::kActivations), 40);
  EXPECT_EQ(tree.all[0].peak_bytes(), peak.peak);
  EXPECT_EQ(tree.all[0].parameters, 6);
}

TEST(WatchData, ThingsAreCalledByTheirNames) {
  const Watched watched = OneStep();
  EXPECT_EQ(WatchedName(watched), "Model");
  EXPECT_EQ(ModuleName(watched, 0), "Model");
  EXPECT_EQ(ModuleName(watched, 1), "head");
  EXPECT_EQ(ModuleName(watched, 2), "(outside)");
  EXPECT_EQ(BlockName(watched, 0), "head.weight");
  EXPECT_EQ(BlockName(watched, 1), "head");
  EXPECT_EQ(BlockName(watched, 2), "gradient of head.weight");
}

TEST(WatchData, TheDataHoldTheTree) {
  const Watched watched = OneStep();
  const PeakReport peak = FindPeak(watched.timeline);
  report::Data data;
  AddWatchData({watched, peak, {}}, &data);
  EXPECT_EQ(data.root().Find("memory.peak")->AsInt(), 24 + 40 + 24);
  EXPECT_EQ(data.root().Find("memory.at_peak.parameters")->AsInt(), 24);
  EXPECT_EQ(data.root().Find("parameters.count")->AsInt(), 6);
  int modules = 0;
  const report::DataView list = *data.root().Find("modules");
  for ([[maybe_unused]] const report::DataView module : list) ++modules;
  EXPECT_EQ(modules, 3);  // with what is outside
}

}  // namespace
}  // namespace steelyard::present
