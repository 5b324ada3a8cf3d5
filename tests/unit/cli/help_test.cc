// SPDX-License-Identifier: Apache-2.0
//
// The texts themselves are golden files; here is what must hold for any command.
#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

TEST(HelpTest, EveryFlagOfEveryCommandIsExplained) {
  for (const CommandInfo& info : Commands()) {
    const auto command = info.make();
    const std::vector<Flag> flags = command->Flags();
    const std::string help = HelpOf(info, flags);
    for (const Flag& flag : flags) {
      EXPECT_FALSE(flag.help.empty()) << flag.name;
      EXPECT_THAT(help, HasSubstr(FlagText(flag)));
    }
    EXPECT_THAT(help, HasSubstr(std::string(info.example)));
  }
}

TEST(HelpTest, LinesFitATerminal) {
  constexpr std::size_t kColumns = 80;
  for (const CommandInfo& info : Commands()) {
    const auto command = info.make();
    std::istringstream help(HelpOf(info, command->Flags()));
    for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), kColumns) << line;
  }
}

TEST(HelpTest, TheOverviewShowsWhatUsersNeed) {
  const std::string overview = Overview();
  for (const CommandInfo& info : Commands()) {
    const std::string entry = "\n  " + std::string(info.name) + " ";
    EXPECT_EQ(overview.find(entry) != std::string::npos, info.audience == Audience::kUsers);
  }
}

TEST(HelpTest, AFlagTellsItsChoicesAndItsDefault) {
  std::string count = "torch";
  Flag flag{.name = "--count", .arg = "NAME", .help = "how", .field = &count};
  EXPECT_EQ(FlagText(flag), "--count NAME");
  EXPECT_EQ(FlagHelp(flag), "how (default: torch)");
  flag.choices = {"torch", "raf"};
  EXPECT_EQ(FlagHelp(flag), "how: torch, raf (default: torch)");
  flag.choices = {"torch"};
  EXPECT_EQ(FlagHelp(flag), "how (so far only torch)");
}

TEST(HelpTest, FlagsStandUnderHeadings) {
  bool on = false;
  std::vector<Flag> flags = {{.name = "MODEL", .help = "a file", .field = &on},
                             {.name = "--batch", .help = "a size", .field = &on},
                             {.name = "--seq", .help = "another", .field = &on},
                             {.name = "--top", .help = "rows", .field = &on}};
  PutUnder("Sizes", 1, &flags);
  PutUnder("The report", 3, &flags);
  const std::string help = HelpOf(*FindCommand("ops"), flags);
  EXPECT_THAT(help, HasSubstr("a file\n\nSizes:\n  --batch"));
  EXPECT_THAT(help, HasSubstr("another\n\nThe report:\n  --top"));
}

TEST(HelpTest, UsageShowsWhatMayBeLeftOut) {
  std::string word;
  const CommandInfo* ops = FindCommand("ops");
  ASSERT_NE(ops, nullptr);
  Flag flag{.name = "PATTERN", .help = "", .field = &word};
  EXPECT_EQ(UsageOf(*ops, {&flag, 1}), "steelyard ops [PATTERN]");
  flag.need = Need::kRequired;
  EXPECT_EQ(UsageOf(*ops, {&flag, 1}), "steelyard ops PATTERN");
}

}  // namespace
}  // namespace steelyard::cli
