// SPDX-License-Identifier: Apache-2.0
#include "record/recording.h"

#include <gtest/gtest.h>

#include <string>

#include "../record_writer.h"

namespace steelyard {
namespace {

std::string Small(RecordWriter writer = RecordWriter()) {
  return writer.Module(0, SY_NO_ID, "", "Model")
      .Module(1, 0, "head", "Linear")
      .Parameter(0, 1, 6, "head.weight", 77)
      .Entry(SY_NAME, 5, "MmBackward0")
      .Entry(SY_CALL, 9, "aten::mm(f32[2,3], f32[3,4])", 1)
      .Entry(SY_OPTIMIZER, 0, "AdamW")
      .Entry(SY_REMARK, 0, "a remark")
      .On(1)
      .Add(SY_MODULE_ENTER)
      .On(2)
      .Add(SY_FREE)
      .Bytes();
}

TEST(Recording, IdsStandForWhatTheEntriesSay) {
  const Result<Recording> recording = ReadRecording(Small(), "small");
  ASSERT_TRUE(recording) << Describe(recording.error());
  EXPECT_EQ(recording->torch, "2.15.0");
  ASSERT_EQ(recording->modules.size(), 2u);
  EXPECT_EQ(recording->modules[1].path, "head");
  EXPECT_EQ(recording->modules[1].class_name, "Linear");
  EXPECT_EQ(recording->modules[1].parent, 0u);
  EXPECT_EQ(recording->tensors.at(0).name, "head.weight");
  EXPECT_EQ(recording->tensors[0].bytes, 6 * 4);
  EXPECT_EQ(recording->names.at(5), "MmBackward0");
  EXPECT_TRUE(recording->calls.at(9).complete);
  EXPECT_EQ(recording->optimizers.at(0), "AdamW");
  EXPECT_EQ(recording->remarks.at(0), "a remark");
  EXPECT_EQ(recording->threads.size(), 2u);
  EXPECT_DOUBLE_EQ(recording->Seconds(1000), 1e-3);
}

TEST(Recording, AFileThatIsNoRecordIsRefused) {
  const Result<Recording> recording = ReadRecording("text", "notes.txt");
  ASSERT_FALSE(recording);
  EXPECT_NE(Describe(recording.error()).find("notes.txt"), std::string::npos);
}

TEST(Recording, AnotherVersionIsRefused) {
  std::string bytes = Small();
  bytes[8] = 9;
  EXPECT_FALSE(ReadRecording(bytes, "small"));
}

TEST(Recording, OfTheFirstVersionItIsReadAsBefore) {
  std::string bytes = Small(RecordWriter().Whole());
  bytes[8] = 1;
  const Result<Recording> recording = ReadRecording(bytes, "small");
  ASSERT_TRUE(recording) << Describe(recording.error());
  EXPECT_EQ(recording->modules.size(), 2u);
  EXPECT_FALSE(recording->has_inputs);
}

TEST(Recording, InputsAreNumbersInBrackets) {
  const std::string text =
      "[2, 3]\t[3, 1]\tfloat\t\n[]\t[]\tScalar\t7\n[1], [2]\t[\"]\tx\t\nhalf a line";
  const Result<Recording> recording =
      ReadRecording(RecordWriter(SY_PROFILE).Entry(SY_INPUT_LIST, 4, text).Bytes(), "small");
  ASSERT_TRUE(recording) << Describe(recording.error());
  EXPECT_TRUE(recording->has_inputs);
  const std::vector<RecordedInput>& inputs = recording->inputs.at(4);
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].sizes, "[2, 3]");
  EXPECT_EQ(inputs[0].type, "float");
  EXPECT_EQ(inputs[1].value, "7");
  // What somebody has changed.
  EXPECT_EQ(inputs[2].sizes, "[]");
  EXPECT_EQ(inputs[2].strides, "[]");
}

TEST(Recording, AnIdIsNoLargerThanTheRecordHasRoomFor) {
  const std::string bytes = RecordWriter().Module(1u << 21u, SY_NO_ID, "far", "Far").Bytes();
  const Result<Recording> recording = ReadRecording(bytes, "flipped");
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->modules.empty());
}

TEST(Recording, ModulesAreNestedAsDeepAsAProgramsAre) {
  RecordWriter writer;
  constexpr std::uint32_t kCount = 600;
  for (std::uint32_t i = 0; i < kCount; ++i) writer.Module(i, i == 0 ? SY_NO_ID : i - 1, "m", "M");
  const Result<Recording> recording = ReadRecording(std::move(writer).Bytes(), "deep");
  ASSERT_TRUE(recording);
  ASSERT_EQ(recording->modules.size(), kCount);
  EXPECT_EQ(recording->modules[500].parent, 499u);
  EXPECT_EQ(recording->modules[512].parent, SY_NO_ID);
}

TEST(Recording, WhatIsLeftOutIsToldOf) {
  const std::string bytes = Small();
  const std::string_view page = std::string_view(bytes).substr(0, SY_RECORD_PAGE);
  const Result<Recording> empty = ReadRecording(page, "cut");
  ASSERT_TRUE(empty);
  ASSERT_FALSE(empty->remarks.empty());
  EXPECT_NE(empty->remarks.back().find("no events"), std::string::npos);
  const Result<Recording> cut =
      ReadRecording(std::string_view(bytes).substr(0, SY_RECORD_PAGE + 100), "cut");
  ASSERT_TRUE(cut);
  ASSERT_FALSE(cut->remarks.empty());
  EXPECT_NE(cut->remarks.front().find("are left out"), std::string::npos);
  EXPECT_EQ(ReadRecording(bytes, "small")->remarks.size(), 1u);  // the program's own
}

// Wherever it was cut off, and whatever stands in it.
TEST(Recording, WhatLastsIsThereWhenTheBeginningHasGivenWay) {
  RecordWriter record;
  record.On(1).At(5).Mark(64, 8, Category::kParameters, 0).LetGo(7, 100);
  record.On(1).At(200).Add(SY_STEP).On(2).At(90).Add(SY_FREE).At(210).Add(SY_FREE);
  const Result<Recording> recording = ReadRecording(record.Bytes(), "a ring");
  ASSERT_TRUE(recording) << Describe(recording.error());
  EXPECT_EQ(recording->dropped, 7);
  EXPECT_EQ(recording->first_tick, 100u);
  ASSERT_EQ(recording->threads.size(), 2u);
  ASSERT_EQ(recording->threads[0].events.size(), 2u);
  EXPECT_EQ(recording->threads[0].events[0].kind, SY_MARK);
  // What another thread did before has nothing beside it.
  ASSERT_EQ(recording->threads[1].events.size(), 1u);
  EXPECT_EQ(recording->threads[1].events[0].time, 210u);
  ASSERT_EQ(recording->remarks.size(), 1u);
  EXPECT_NE(recording->remarks[0].find("7 events gave way"), std::string::npos);
}

TEST(Recording, TheLastFactCounts) {
  RecordWriter record;
  record.Entry(SY_FACT, 0, "ranks", 2).Entry(SY_FACT, 0, "ranks", 4).Add(SY_STEP);
  const Result<Recording> recording = ReadRecording(record.Bytes(), "facts");
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->facts.at("ranks"), 4);
}

TEST(Recording, WhatIsBrokenIsLeftOut) {
  const std::string bytes = Small();
  for (std::size_t size = SY_RECORD_PAGE; size < bytes.size(); size += 4001) {
    EXPECT_TRUE(ReadRecording(std::string_view(bytes).substr(0, size), "cut"));
  }
  std::string changed = bytes;
  for (std::size_t at = SY_RECORD_PAGE; at < SY_RECORD_PAGE + 512; at += 3) changed[at] = '\xff';
  EXPECT_TRUE(ReadRecording(changed, "changed"));
}

}  // namespace
}  // namespace steelyard
