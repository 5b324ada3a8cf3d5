// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steelyard::cli {
namespace {

constexpr CommandInfo kCommand{.name = "weigh",
                               .summary = "weighs",
                               .example = "steelyard weigh bert.pt2",
                               .audience = Audience::kUsers,
                               .make = nullptr};

// A command line with a flag of each kind.
struct Fields {
  std::string model;
  std::vector<std::string> inputs;
  std::optional<std::int64_t> batch;
  int depth = 2;
  bool strict = false;
  std::string count = "torch";

  std::vector<Flag> Flags() {
    return {{.name = "MODEL", .help = "", .field = &model, .need = Need::kRequired},
            {.name = "--input", .arg = "NAME=2x128", .help = "", .field = &inputs},
            {.name = "--batch", .short_name = "-b", .arg = "N", .help = "", .field = &batch},
            {.name = "--depth", .arg = "N", .help = "", .field = &depth},
            {.name = "--strict", .help = "", .field = &strict},
            {.name = "--count",
             .arg = "NAME",
             .help = "",
             .field = &count,
             .choices = {"torch", "raf"}}};
  }
  Result<Asked> Read(const std::vector<std::string>& words) {
    return ReadArguments(kCommand, Flags(), words);
  }
  std::string Refusal(const std::vector<std::string>& words) {
    const Result<Asked> asked = Read(words);
    if (asked) return "not refused";
    EXPECT_EQ(asked.error().code, ErrorCode::kUsage);
    return Describe(asked.error());
  }
};

TEST(ArgumentsTest, FlagsAndTheModelInAnyOrder) {
  Fields fields;
  EXPECT_EQ(fields.Read({"--input", "a=1x2", "m.pt2", "--strict", "--input=b=3", "-b", "4",
                         "--count", "raf"}),
            Asked::kRun);
  EXPECT_EQ(fields.model, "m.pt2");
  EXPECT_EQ(fields.inputs, (std::vector<std::string>{"a=1x2", "b=3"}));
  EXPECT_EQ(fields.batch, 4);
  EXPECT_TRUE(fields.strict);
  EXPECT_EQ(fields.count, "raf");
  EXPECT_EQ(fields.depth, 2) << "what is not given stays";
}

TEST(ArgumentsTest, AfterTwoDashesAllIsAName) {
  Fields fields;
  EXPECT_EQ(fields.Read({"--", "--strict"}), Asked::kRun);
  EXPECT_EQ(fields.model, "--strict");
  EXPECT_FALSE(fields.strict);
}

TEST(ArgumentsTest, HelpNeedsNothingElse) {
  Fields fields;
  EXPECT_EQ(fields.Read({"--help"}), Asked::kHelp);
  EXPECT_EQ(fields.Read({"-h"}), Asked::kHelp);
}

TEST(ArgumentsTest, WhatIsMissingIsNamed) {
  Fields fields;
  EXPECT_EQ(fields.Refusal({}), "MODEL is missing. Example: steelyard weigh bert.pt2.");
  EXPECT_EQ(fields.Refusal({"m", "--batch"}), "--batch needs a value. See steelyard weigh --help.");
}

TEST(ArgumentsTest, UnknownOptionsAreNamedWithWhatMayBeMeant) {
  Fields fields;
  EXPECT_EQ(fields.Refusal({"m", "--dept", "3"}),
            "steelyard weigh has no option --dept. Did you mean --depth?");
  EXPECT_EQ(fields.Refusal({"--train", "adamw", "m"}),
            "steelyard weigh has no option --train. See steelyard weigh --help.");
  EXPECT_EQ(fields.Refusal({"m", "n"}), "\"n\" is one word too many. See steelyard weigh --help.");
}

TEST(ArgumentsTest, ValuesAreCheckedByTheirRows) {
  Fields fields;
  EXPECT_EQ(fields.Refusal({"m", "--count", "xla"}),
            "--count: there is no \"xla\". There are: torch, raf.");
  EXPECT_EQ(fields.Refusal({"m", "--depth", "two"}),
            "--depth: \"two\" is not a whole number. Write it as --depth 16.");
}

TEST(ArgumentsTest, OneValueIsGivenOnce) {
  Fields fields;
  EXPECT_EQ(fields.Refusal({"m", "--count", "raf", "--count", "torch"}),
            "--count: it is given twice: raf and torch. Leave one of them out.");
  EXPECT_EQ(fields.Refusal({"m", "-b", "2", "--batch=2"}),
            "--batch: it is given twice: 2 and 2. Leave one of them out.");
  EXPECT_EQ(fields.Read({"m", "--strict", "--strict"}), Asked::kRun) << "a switch is on or off";
}

TEST(ArgumentsTest, TellsWhichFlagsTheWordsHold) {
  Fields fields;
  std::vector<std::string_view> given;
  const std::vector<std::string> words = {"m", "--depth", "2", "--strict", "-b", "4"};
  ASSERT_TRUE(ReadArguments(kCommand, fields.Flags(), words, &given));
  EXPECT_EQ(given, (std::vector<std::string_view>{"MODEL", "--batch", "--depth", "--strict"}))
      << "also where the word is the default";
}

}  // namespace
}  // namespace steelyard::cli
