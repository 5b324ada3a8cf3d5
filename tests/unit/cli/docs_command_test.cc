// SPDX-License-Identifier: Apache-2.0
#include "cli/docs_command.h"

#include <gtest/gtest.h>

#include "captured.h"
#include "cli/docs_pages.h"

namespace steelyard::cli {
namespace {

TEST(DocsCommandTest, PrintsEachPage) {
  for (const DocsPage& page : DocsPages()) {
    const Captured run = RunCaptured({"docs", std::string(page.name)});
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.out, page.text());
  }
}

TEST(DocsCommandTest, KnowsNoOthers) {
  const Captured run = RunCaptured({"docs", "poems"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err, "steelyard: PAGE: there is no \"poems\". There are: cli, ops, diagnostics.\n");
}

}  // namespace
}  // namespace steelyard::cli
