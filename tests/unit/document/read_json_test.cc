// SPDX-License-Identifier: Apache-2.0
#include "document/read_json.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "steelyard/error.h"

namespace steelyard::report {
namespace {

Data Read(std::string_view text) { return ReadJson(text).value(); }

std::string Refusal(std::string_view text) {
  const Result<Data> data = ReadJson(text);
  return data ? "not refused" : Describe(data.error());
}

TEST(ReadJsonTest, ValuesOfEveryKind) {
  const Data data =
      Read(R"({"a": -3, "b": 0.5, "c": "x", "d": true, "e": {"f": [1, "y", [2.5]]}})");
  const DataView root = data.root();
  EXPECT_EQ(root.Find("a")->AsInt(), -3);
  EXPECT_EQ(root.Find("b")->AsDouble(), 0.5);
  EXPECT_EQ(root.Find("c")->AsText(), "x");
  EXPECT_TRUE(root.Find("d")->AsBool());
  auto element = root.Find("e.f")->begin();
  EXPECT_EQ((*element).AsInt(), 1);
  ++element;
  EXPECT_EQ((*element).AsText(), "y");
  ++element;
  EXPECT_EQ((*(*element).begin()).AsDouble(), 2.5);
}

TEST(ReadJsonTest, LargeNumbersKeepEveryDigit) {
  EXPECT_EQ(Read(R"({"n": 9007199254740993})").root().Find("n")->AsInt(), 9007199254740993);
}

TEST(ReadJsonTest, WhatIsNotKnownIsLeftOut) {
  const Data data = Read(R"({"a": null, "b": 1})");
  EXPECT_FALSE(data.root().Find("a").has_value());
  EXPECT_EQ(data.root().Find("b")->AsInt(), 1);
}

TEST(ReadJsonTest, WhatIsNoReportIsRefused) {
  EXPECT_TRUE(Refusal("{").starts_with("it is no JSON: ")) << Refusal("{");
  EXPECT_TRUE(Refusal("").starts_with("it is no JSON: "));
  EXPECT_EQ(Refusal("[1]"), "the JSON is not an object, as reports are");
  EXPECT_EQ(Refusal(R"({"a": [null]})"), "field a[0]: it is a value that no report has");
  EXPECT_EQ(Refusal(R"({"a": {"b": [0, {"c": 18446744073709551615}]}})"),
            "field a.b[1].c: it is a value that no report has");
}

TEST(ReadJsonTest, DeepNestingIsRefused) {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_TRUE(Refusal(deep).starts_with("it is no JSON: "));
}

}  // namespace
}  // namespace steelyard::report
