// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "steelyard/weigh.h"

namespace steelyard {
namespace {

TEST(ChoicesTest, TheDefaultComesFirst) {
  EXPECT_EQ(ReportFormats().front().name, "text");
  EXPECT_EQ(CountingConventions().front().name, WeighOptions().count);
}

TEST(ChoicesTest, TheNameOfAFileSaysItsFormat) {
  EXPECT_EQ(FormatOfFile("report.csv"), "csv");
  EXPECT_EQ(FormatOfFile("report"), "");
}

TEST(ChoicesTest, AFormatHoldsNoTableOneOrMany) {
  EXPECT_EQ(TablesHeldBy("text"), TablesHeld::kNone);
  EXPECT_EQ(TablesHeldBy("csv"), TablesHeld::kOne);
  EXPECT_EQ(TablesHeldBy("json"), TablesHeld::kMany);
}

TEST(ChoicesTest, EachSaysWhatItIs) {
  for (const Choice& format : ReportFormats()) {
    EXPECT_FALSE(format.summary.empty());
    EXPECT_TRUE(format.extension.starts_with('.'));
  }
  for (const Choice& table : ReportTables()) EXPECT_FALSE(table.summary.empty());
  EXPECT_EQ(ReportTables().front().name, ReportOptions().table);
  for (const Choice& convention : CountingConventions()) EXPECT_FALSE(convention.summary.empty());
}

}  // namespace
}  // namespace steelyard
