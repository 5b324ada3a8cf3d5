// SPDX-License-Identifier: Apache-2.0

#include "import/json_fault.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace steelyard {
namespace {

std::string FaultIn(std::string_view text) { return JsonFault(text).value_or("none"); }

TEST(JsonFault, IsNoneInWhatPythonWrites) {
  for (const std::string_view text :
       {"{}", "[]", R"({"a": [1, -2.5e+3, {"b": null}], "c\"": "}{", "d": [true, false]})",
        R"({"a": NaN, "b": -Infinity, "c": [Infinity]})", " \n{\"a\": {}}\n"}) {
    EXPECT_EQ(FaultIn(text), "none") << text;
  }
}

TEST(JsonFault, IsACutWhereTheTextEnds) {
  for (const std::string_view text :
       {"{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\": 1,", "{\"a\": [1"}) {
    EXPECT_EQ(FaultIn(text), "the JSON is cut: it ends in line 1 with brackets open") << text;
  }
  EXPECT_EQ(FaultIn(R"({"a": tru)"), "the JSON is cut: it ends in line 1 with brackets open");
  EXPECT_EQ(FaultIn(" \n"), "it is empty");
  EXPECT_EQ(FaultIn("{\n\"a\": 1,\n"), "the JSON is cut: it ends in line 3 with brackets open");
}

TEST(JsonFault, IsWhereTheTextCanNoLongerBeJson) {
  const auto at = [](int line, int column) {
    return "the JSON is not valid at line " + std::to_string(line) + ", column " +
           std::to_string(column);
  };
  EXPECT_EQ(FaultIn(R"({"a": 1 "b": 2})"), at(1, 9));
  EXPECT_EQ(FaultIn("{\n  \"a\": 1,\n}"), at(3, 1));
  EXPECT_EQ(FaultIn(R"({"a": [1}})"), at(1, 9));
  EXPECT_EQ(FaultIn("{a: 1}"), at(1, 2));
  EXPECT_EQ(FaultIn(R"({"a": nul})"), at(1, 7));
  EXPECT_EQ(FaultIn("{} {}"), at(1, 4));
}

}  // namespace
}  // namespace steelyard
