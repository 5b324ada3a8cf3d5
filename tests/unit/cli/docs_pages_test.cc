// SPDX-License-Identifier: Apache-2.0
#include "cli/docs_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/help.h"
#include "steelyard/op.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

std::string PageNamed(std::string_view name) {
  for (const DocsPage& page : DocsPages()) {
    if (page.name == name) return page.text();
  }
  return {};
}

TEST(DocsPagesTest, EveryOperatorIsOnItsPage) {
  const std::string page = PageNamed("ops");
  for (const KnownOp& op : KnownOps()) {
    EXPECT_THAT(page, HasSubstr("| `" + std::string(op.name) + "`"));
  }
}

TEST(DocsPagesTest, EveryFlagIsOnItsPage) {
  const std::string page = PageNamed("cli");
  const CommandInfo* weigh = FindCommand("weigh");
  const auto command = weigh->make();
  for (const Flag& flag : command->Flags()) EXPECT_THAT(page, HasSubstr(FlagText(flag)));
}

TEST(DocsPagesTest, EveryExitStatusIsExplained) {
  const std::string page = PageNamed("diagnostics");
  for (const char* status : {"| 0 |", "| 1 |", "| 2 |", "| 70 |"}) {
    EXPECT_THAT(page, HasSubstr(status));
  }
}

}  // namespace
}  // namespace steelyard::cli
