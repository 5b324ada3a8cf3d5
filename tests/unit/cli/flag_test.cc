// SPDX-License-Identifier: Apache-2.0
#include "cli/flag.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steelyard::cli {
namespace {

std::string Refusal(const Flag& flag, std::string_view value) {
  const Status status = SetField(flag, value);
  return status ? "not refused" : Describe(status.error());
}

TEST(FlagTest, NumbersAreWholeAndNotNegative) {
  int depth = 7;
  const Flag flag{.name = "--depth", .arg = "N", .help = "", .field = &depth};
  ASSERT_TRUE(SetField(flag, "0"));
  EXPECT_EQ(depth, 0);
  EXPECT_EQ(Refusal(flag, "2.5"),
            "--depth: \"2.5\" is not a whole number. Write it as --depth 16.");
  EXPECT_EQ(Refusal(flag, ""), "--depth: \"\" is not a whole number. Write it as --depth 16.");
  EXPECT_EQ(Refusal(flag, "-1"), "--depth: -1 is less than 0. It is a whole number from 0 on.");
  EXPECT_EQ(Refusal(flag, "99999999999999999999"),
            "--depth: 99999999999999999999 is too large a number");
  EXPECT_EQ(Refusal(flag, "-99999999999999999999"),
            "--depth: \"-99999999999999999999\" is not a whole number. Write it as --depth 16.");
}

TEST(FlagTest, AnOptionalNumberIsThereOnceSet) {
  std::optional<std::int64_t> batch;
  const Flag flag{.name = "--batch", .arg = "N", .help = "", .field = &batch};
  EXPECT_EQ(DefaultText(flag), "");
  ASSERT_TRUE(SetField(flag, "5000000000"));
  EXPECT_EQ(batch, 5'000'000'000);
}

TEST(FlagTest, SomeNumbersNeedNotBeWhole) {
  std::optional<double> norm;
  const Flag flag{.name = "--clip-norm", .arg = "X", .help = "", .field = &norm};
  EXPECT_EQ(DefaultText(flag), "");
  ASSERT_TRUE(SetField(flag, "0.5"));
  EXPECT_EQ(norm, 0.5);
  EXPECT_EQ(Refusal(flag, "nan"),
            "--clip-norm: \"nan\" is not a number from 0 on. Write it as --clip-norm 0.5.");
}

TEST(FlagTest, WordsMayBeLimitedToChoices) {
  std::string device = "cpu";
  const Flag flag{
      .name = "--device", .arg = "NAME", .help = "", .field = &device, .choices = {"cpu"}};
  EXPECT_EQ(DefaultText(flag), "cpu");
  EXPECT_EQ(Refusal(flag, "h100"), "--device: there is no \"h100\". So far there is only: cpu.");
  EXPECT_EQ(device, "cpu");
}

TEST(FlagTest, ListsGrow) {
  std::vector<std::string> inputs;
  const Flag flag{.name = "--input", .arg = "NAME=2x128", .help = "", .field = &inputs};
  ASSERT_TRUE(SetField(flag, "a=1"));
  ASSERT_TRUE(SetField(flag, "b=2"));
  EXPECT_EQ(inputs.size(), 2U);
}

TEST(FlagTest, SomeListsMayBeGivenAtOnce) {
  std::vector<std::string> devices;
  const Flag flag{
      .name = "--devices", .arg = "all", .help = "", .field = &devices, .takes_list = true};
  ASSERT_TRUE(SetField(flag, "h100,l4"));
  ASSERT_TRUE(SetField(flag, "a100-80gb"));
  EXPECT_EQ(devices, (std::vector<std::string>{"h100", "l4", "a100-80gb"}));
  EXPECT_EQ(Refusal(flag, "h100,"),
            "--devices: \"h100,\" names nothing beside a comma. Write it as --devices A,B.");
}

TEST(FlagTest, WholeNumbersMayHaveLimits) {
  std::optional<std::int64_t> chunks;
  const Flag flag{.name = "--chunks", .help = "", .field = &chunks, .least = 1, .most = 8};
  ASSERT_TRUE(SetField(flag, "8"));
  EXPECT_EQ(Refusal(flag, "0"), "--chunks: 0 is less than 1. It is a whole number from 1 to 8.");
  EXPECT_EQ(Refusal(flag, "9"), "--chunks: 9 is more than 8. It is a whole number from 1 to 8.");
}

TEST(FlagTest, ANameWithoutDashesIsToldByItsPlace) {
  bool on = false;
  std::string model;
  EXPECT_TRUE((Flag{.name = "MODEL", .help = "", .field = &model}.is_positional()));
  EXPECT_FALSE((Flag{.name = "--strict", .help = "", .field = &on}.is_positional()));
  EXPECT_TRUE((Flag{.name = "--strict", .help = "", .field = &on}.is_switch()));
}

TEST(FlagTest, NumbersThatNoDoubleHoldsAreNeitherLargeNorSmall) {
  std::optional<double> norm;
  const Flag flag{.name = "--clip-norm", .arg = "X", .help = "", .field = &norm};
  EXPECT_EQ(Refusal(flag, "1e400"), "--clip-norm: 1e400 is too large or small a number");
  EXPECT_EQ(Refusal(flag, "1e-400"), "--clip-norm: 1e-400 is too large or small a number");
}

TEST(FlagTest, AMisspelledChoiceGetsAGuess) {
  std::string format;
  const Flag flag{
      .name = "--format", .arg = "NAME", .help = "", .field = &format, .choices = {"text", "json"}};
  EXPECT_EQ(Refusal(flag, "jsom!"), "--format: there is no \"jsom!\". There are: text, json.");
  EXPECT_EQ(Refusal(flag, "jsonn"), "--format: there is no \"jsonn\". Did you mean json?");
}

TEST(FlagTest, AWordHasLetters) {
  std::string at;
  EXPECT_EQ(Refusal({.name = "--at", .arg = "OP", .help = "", .field = &at}, ""),
            "--at: its value is empty");
  std::vector<std::string> freeze;
  EXPECT_EQ(Refusal({.name = "--freeze", .arg = "PATTERN", .help = "", .field = &freeze}, ""),
            "--freeze: its value is empty");
}

}  // namespace
}  // namespace steelyard::cli
