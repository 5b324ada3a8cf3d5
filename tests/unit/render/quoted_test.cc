// SPDX-License-Identifier: Apache-2.0
#include "render/quoted.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace steelyard::render {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "before ";
  AppendQuoted(text, &out);
  return out.substr(std::string_view("before ").size());
}

TEST(QuotedTest, PlainTextStandsBetweenQuotes) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("aten::add 4×128"), "\"aten::add 4×128\"");
}

TEST(QuotedTest, WhatJsonGivesAMeaningIsEscaped) {
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted("\n\t\r"), R"("\n\t\r")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1b\x7f", 3)), R"("\u0000\u001b\u007f")");
}

TEST(QuotedTest, WhatIsNoUtf8BecomesAReplacement) { EXPECT_EQ(Quoted("\xff"), "\"\ufffd\""); }

}  // namespace
}  // namespace steelyard::render
