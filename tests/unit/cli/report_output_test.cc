// SPDX-License-Identifier: Apache-2.0
#include "cli/report_output.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "steelyard/error.h"
#include "steelyard/units.h"

namespace steelyard::cli {
namespace {

using Given = std::vector<std::pair<std::string_view, std::string_view>>;

// What the flags make of it.
ReportOutput* With(ReportOutput* output, const Given& given) {
  std::vector<Flag> flags;
  output->AddFlags(&flags);
  for (const auto& [name, value] : given) {
    for (const Flag& flag : flags) {
      if (flag.name != name) continue;
      EXPECT_TRUE(SetField(flag, value)) << name;
    }
  }
  return output;
}

std::string FormatOf(const Given& given) {
  ReportOutput output({"text", "json", "csv"}, {"modules", "operators"});
  const Result<std::string> format = With(&output, given)->Format();
  return format ? *format : Describe(format.error());
}

TEST(ReportOutputTest, TheFormatIsTheFirstUnlessSaid) {
  EXPECT_EQ(FormatOf({}), "text");
  EXPECT_EQ(FormatOf({{"--format", "json"}}), "json");
}

TEST(ReportOutputTest, ANameSaysTheFormat) {
  EXPECT_EQ(FormatOf({{"--output", "a.csv"}}), "csv");
  EXPECT_EQ(FormatOf({{"--output", "a.csv"}, {"--format", "json"}}), "json");
  EXPECT_EQ(FormatOf({{"--output", "a.trace.json"}}),
            "a.trace.json: its name does not say in which format the report shall be. Say it with "
            "--format, or end it in one of .txt, .json, .csv.")
      << "a format that this command does not have";
}

TEST(ReportOutputTest, ATableIsCsv) {
  EXPECT_EQ(FormatOf({{"--table", "operators"}}), "csv");
  EXPECT_EQ(FormatOf({{"--table", "operators"}, {"--format", "text"}}),
            "--table: the format text has no tables. csv holds one; json gets it as well.");
}

TEST(ReportOutputTest, TheLookFollowsTheFlags) {
  ReportOutput output({"text"}, {"modules", "operators"});
  EXPECT_EQ(output.table(), "modules");
  With(&output, {{"--units", "decimal"}, {"--table", "operators"}, {"--output", "x.txt"}});
  EXPECT_EQ(output.Look().units, UnitStyle::kDecimal);
  EXPECT_EQ(output.Look().table, "operators");
  EXPECT_EQ(output.Look().width, 0) << "a file has no width";
}

}  // namespace
}  // namespace steelyard::cli
