// SPDX-License-Identifier: Apache-2.0
#include "present/tensors.h"

#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

// Of the timeline of the model.
enum : std::uint32_t { kA, kScratch, kB, kY };

TEST(TensorsTest, AResultHasTheNameOfTheGraph) {
  const WeighedModel model;
  const BlockWords a = Describe(model.findings(), model.timeline.blocks[kA]);
  EXPECT_EQ(a.tensor, "a");
  EXPECT_EQ(a.layout, "float32 2×8");
  EXPECT_EQ(a.holder, "until aten::linear");
  EXPECT_EQ(a.made.module, "encoder.layer.0");
}

TEST(TensorsTest, ScratchBelongsToACall) {
  const WeighedModel model;
  const BlockWords scratch = Describe(model.findings(), model.timeline.blocks[kScratch]);
  EXPECT_EQ(scratch.tensor, "scratch of a");
  EXPECT_EQ(scratch.layout, "");
}

TEST(TensorsTest, WhatAKernelMakesInsideACompositeIsNamedByBoth) {
  WeighedModel model;
  Block& a = model.timeline.blocks[kA];
  model.kernels.values[a.value].name = kNoString;
  EXPECT_EQ(Describe(model.findings(), a).tensor, "mm in a");
}

TEST(TensorsTest, OutputsAreHeldByTheCaller) {
  const WeighedModel model;
  EXPECT_EQ(Describe(model.findings(), model.timeline.blocks[kY]).holder, "held by the caller");
}

TEST(TensorsTest, WhatIsNeverFreedLastsUntilTheEnd) {
  WeighedModel model;
  model.timeline.blocks[kB].freed = Block::kNever;
  EXPECT_EQ(Describe(model.findings(), model.timeline.blocks[kB]).holder, "until the end");
}

TEST(TensorsTest, AMarkOfADroppedReferenceBelongsToTheKernelBeforeIt) {
  const WeighedModel model;
  constexpr std::uint32_t kDropOfB = 6;
  const EventPlace place = PlaceOf(model.findings(), kDropOfB);
  EXPECT_EQ(place.kernel, "aten::mm");
  EXPECT_EQ(place.op, "aten::linear");
  EXPECT_EQ(place.module, "head");
}

}  // namespace
}  // namespace steelyard::present
