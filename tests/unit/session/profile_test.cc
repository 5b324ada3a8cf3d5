// SPDX-License-Identifier: Apache-2.0
#include "session/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../record_writer.h"
#include "../temporary.h"

namespace steelyard {
namespace {

std::string ProfiledLinear() {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_CALL, 1, "aten::linear(f32[2,3], f32[4,3], f32[4])", 1);
  record.Entry(SY_CALL, 2, "aten::addmm(f32[4], f32[2,3], f32[3,4]{1,3})", 1);
  record.Add(SY_OP_ENTER, 0, 1).Add(SY_OP_ENTER, 0, 2).Add(SY_OP_LEAVE).Add(SY_OP_LEAVE);
  return record.Bytes();
}

TEST(Profile, WorkIsThatOfTheRows) {
  const Result<ProfiledRun> profile = ReadProfile(ProfiledLinear(), "test", {.flops = true});
  ASSERT_TRUE(profile) << Describe(profile.error());
  const std::vector<KeyAverage> rows = Averages(*profile, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].flops, 0);
  EXPECT_EQ(rows[1].flops, 2 * 2 * 3 * 4);
}

TEST(Profile, NoWorkIsCountedUnlessItIsAsked) {
  const Result<ProfiledRun> profile = ReadProfile(ProfiledLinear(), "test", {});
  ASSERT_TRUE(profile);
  EXPECT_TRUE(profile->own_flops.empty());
  EXPECT_EQ(Averages(*profile, {})[1].flops, 0);
}

TEST(Profile, TheTraceHasItsNameAndProperties) {
  const Result<ProfiledRun> profile = ReadProfile(ProfiledLinear(), "test", {});
  ASSERT_TRUE(profile);
  const std::string trace = TraceOf(*profile, {.name = "run.json", .properties = {{"rank", "3"}}});
  EXPECT_THAT(trace, testing::HasSubstr("\"rank\": 3,"));
  EXPECT_THAT(trace, testing::HasSubstr("\"traceName\": \"run.json\""));
}

TEST(Profile, AFileIsWrittenWholeOrNotAtAll) {
  const Result<ProfiledRun> profile = ReadProfile(ProfiledLinear(), "test", {});
  ASSERT_TRUE(profile);
  const std::string path = TemporaryPath("run.json");
  ASSERT_TRUE(WriteTrace(*profile, path, {.name = path, .properties = {}}));
  std::stringstream written;
  written << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(written.str(), TraceOf(*profile, {.name = path, .properties = {}}));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  const Status nowhere =
      WriteTrace(*profile, path + "/inside.json", {.name = "", .properties = {}});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(Describe(nowhere.error()), testing::HasSubstr("run.json/inside.json"));
}

TEST(Profile, MemoryHasThreeForms) {
  RecordWriter record(SY_PROFILE);
  record.At(5).Add(SY_ALLOCATE, 0, 500, 16).At(900).Add(SY_FREE, 0, 500);
  for (const auto& [form, begins] : {std::pair{MemoryForm::kSizes, "[["},
                                     {MemoryForm::kChanges, "[["},
                                     {MemoryForm::kPage, "<!doctype html>"}}) {
    const Result<std::string> text = MemoryOverTime(record.Bytes(), "test", form);
    ASSERT_TRUE(text) << Describe(text.error());
    EXPECT_TRUE(text->starts_with(begins)) << *text;
  }
}

TEST(Profile, StacksAreLines) {
  RecordWriter record(SY_PROFILE);
  record.Entry(SY_NAME, 1, "a.py(1): f").Entry(SY_CALL, 5, "aten::mm");
  record.Add(SY_RANGE_ENTER, 1, 0, 0, 0, SY_FUNCTION_RANGE);
  record.At(10).Add(SY_OP_ENTER, 0, 5).At(17).Add(SY_OP_LEAVE);
  const Result<ProfiledRun> profile = ReadProfile(record.Bytes(), "test", {});
  ASSERT_TRUE(profile);
  EXPECT_EQ(StackLines(*profile, StackTime::kProcessor), "a.py(1):_f;aten::mm 7\n");
  EXPECT_EQ(StackLines(*profile, StackTime::kDevice), "");
}

TEST(Profile, WhatIsNoRecordIsRefused) { EXPECT_FALSE(ReadProfile("not one", "run.record", {})); }

}  // namespace
}  // namespace steelyard
