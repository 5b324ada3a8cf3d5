// SPDX-License-Identifier: Apache-2.0
//
// One tick is a microsecond, and each event comes one after the last.
#include "record/folded_stacks.h"

#include <gtest/gtest.h>

#include "../record_writer.h"

namespace steelyard {
namespace {

TEST(FoldStacks, WhatIsAlikeIsSummedAndTheOutermostComesFirst) {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_NAME, 1, "train.py(3): step").Entry(SY_CALL, 5, "aten::mm");
  record.Entry(SY_CALL, 6, "aten::linear").Add(SY_OP_ENTER, 0, 5).Add(SY_OP_LEAVE);  // in none
  record.Add(SY_RANGE_ENTER, 1, 0, 0, 0, SY_FUNCTION_RANGE);
  for (const std::uint64_t begin : {10u, 100u}) {
    record.At(begin).Add(SY_OP_ENTER, 0, 6).Add(SY_OP_ENTER, 0, 5).At(begin + 21);
    record.Add(SY_OP_LEAVE).At(begin + 30).Add(SY_OP_LEAVE);
  }
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  ASSERT_TRUE(recording);
  const std::vector<FoldedStack> folded = FoldStacks(FindSpans(std::move(*recording)));
  ASSERT_EQ(folded.size(), 2u);
  EXPECT_EQ(folded[0].frames, "train.py(3):_step;aten::linear");
  EXPECT_EQ(folded[0].microseconds, 2 * (30 - 20));
  EXPECT_EQ(folded[1].frames, "train.py(3):_step;aten::mm");
  EXPECT_EQ(folded[1].microseconds, 2 * 20);
}

TEST(FoldStacks, TimeOfADeviceIsOfWhatAskedForIt) {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_NAME, 1, "train.py(3): step").Entry(SY_CALL, 5, "aten::mm");
  record.Add(SY_RANGE_ENTER, 1, 0, 0, 0, SY_FUNCTION_RANGE);
  record.At(10).Add(SY_OP_ENTER, 0, 5).At(20).Add(SY_OP_LEAVE).Kernel(9, 15, 100, 133);
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  ASSERT_TRUE(recording);
  const std::vector<FoldedStack> folded =
      FoldStacks(FindSpans(std::move(*recording)), StackTime::kDevice);
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(folded[0].frames, "train.py(3):_step;aten::mm");
  EXPECT_EQ(folded[0].microseconds, 33);
}

}  // namespace
}  // namespace steelyard
