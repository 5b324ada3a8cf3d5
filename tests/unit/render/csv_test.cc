// SPDX-License-Identifier: Apache-2.0
#include "render/csv.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::Document;

std::string Csv(const Document& document, std::string_view table = "modules") {
  std::string out;
  WriteCsv(document, {.table = std::string(table)}, &out);
  return out;
}

// One cell as it is written.
std::string Cell(std::string_view text) {
  Document document;
  document.data.OpenArray("modules");
  document.data.OpenObject();
  document.data.SetText("path", text);
  document.data.Close();
  document.data.Close();
  const std::string csv = Csv(document);
  constexpr std::string_view kHeader = "path\n";
  EXPECT_TRUE(csv.starts_with(kHeader) && csv.ends_with('\n')) << csv;
  return csv.substr(kHeader.size(), csv.size() - kHeader.size() - 1);
}

TEST(CsvTest, EachElementIsALineAndItsKeysNameTheColumns) {
  Document document;
  document.data.OpenArray("operators");
  for (const std::int64_t macs : {128, 0}) {
    document.data.OpenObject();
    document.data.SetText("op", "aten::mm");
    document.data.SetInt("macs", macs, Unit::kMacs);
    document.data.SetDouble("intensity", 0.5, Unit::kNone);
    document.data.SetBool("modelled", true);
    document.data.Close();
  }
  document.data.Close();
  EXPECT_EQ(Csv(document, "operators"),
            "op,macs,intensity,modelled\naten::mm,128,0.5,true\naten::mm,0,0.5,true\n");
  EXPECT_EQ(Csv(document, "modules"), "") << "there is no such table";
}

TEST(CsvTest, AKeyThatAnotherRowLacksLeavesItsCellEmpty) {
  Document document;
  document.data.OpenArray("modules");
  for (const std::string_view key : {"a", "b"}) {
    document.data.OpenObject();
    document.data.SetText(key, key);
    document.data.SetInt("n", 1, Unit::kNone);
    document.data.Close();
  }
  document.data.Close();
  EXPECT_EQ(Csv(document), "a,n,b\na,1,\n,1,b\n");
}

TEST(CsvTest, WhatIsInAnObjectHasAColumnOfItsOwn) {
  Document document;
  document.data.OpenArray("modules");
  for (const std::int64_t bytes : {64, 0}) {
    document.data.OpenObject();
    document.data.OpenObject("seconds");
    document.data.SetDouble("forward", 0.5, Unit::kSeconds);
    if (bytes > 0) document.data.SetDouble("backward", 0.25, Unit::kSeconds);
    document.data.Close();
    document.data.SetInt("bytes", bytes, Unit::kBytes);
    document.data.Close();
  }
  document.data.Close();
  EXPECT_EQ(Csv(document), "seconds.forward,seconds.backward,bytes\n0.5,0.25,64\n0.5,,0\n");
}

TEST(CsvTest, AListInACellIsJoined) {
  Document document;
  document.data.OpenArray("modules");
  document.data.OpenObject();
  document.data.OpenArray("dtypes");
  document.data.AddText("float32");
  document.data.AddText("bfloat16");
  document.data.Close();
  document.data.Close();
  document.data.Close();
  EXPECT_EQ(Csv(document), "dtypes\nfloat32 bfloat16\n");
}

TEST(CsvTest, ATableWithoutRowsIsNothing) {
  Document document;
  document.data.OpenArray("modules");
  document.data.Close();
  EXPECT_EQ(Csv(document), "");
}

TEST(CsvTest, NamesOfAFileStayInTheirCells) {
  EXPECT_EQ(Cell("a,b"), "\"a,b\"");
  EXPECT_EQ(Cell("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(Cell(" a"), "\" a\"");
  EXPECT_EQ(Cell("a\nb"), "a b") << "a row is a line";
  EXPECT_EQ(Cell("\x1b[31m"), "\ufffd[31m");
}

}  // namespace
}  // namespace steelyard::render
