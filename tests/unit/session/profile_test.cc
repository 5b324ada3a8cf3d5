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
  const std::string trace =
      ChromeTrace(*profile, {.name = "run.json", .properties = {{"rank", "3"}}});
  EXPECT_THAT(trace, testing::HasSubstr("\"rank\": 3,"));
  EXPECT_THAT(trace, testing::HasSubstr("\"traceName\": \"run.json\""));
}

TEST(Profile, AFileIsWrittenWholeOrNotAtAll) {
  const Result<ProfiledRun> profile = ReadProfile(ProfiledLinear(), "test", {});
  ASSERT_TRUE(profile);
  const std::string path = TemporaryPath("run.json");
  ASSERT_TRUE(WriteChromeTrace(*profile, path, {.name = path, .properties = {}}));
  std::stringstream written;
  written << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(written.str(), ChromeTrace(*profile, {.name = path, .properties = {}}));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  const Status nowhere =
      WriteChromeTrace(*profile, path + "/inside.json", {.name = "", .properties = {}});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(Describe(nowhere.error()), testing::HasSubstr("run.json/inside.json"));
}

TEST(Profile, WhatIsNoRecordIsRefused) { EXPECT_FALSE(ReadProfile("not one", "run.record", {})); }

}  // namespace
}  // namespace steelyard
