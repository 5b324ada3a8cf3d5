// SPDX-License-Identifier: Apache-2.0
#include "render/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::Document;

std::string Json(const Document& document) {
  std::string out;
  WriteJson(document, {}, &out);
  return out;
}

// What a text becomes between its quotes.
std::string Escaped(std::string_view text) {
  Document document;
  document.data.SetText("t", text);
  const std::string json = Json(document);
  constexpr std::string_view kBefore = R"({"t": ")";
  constexpr std::string_view kAfter = "\"}\n";
  return json.substr(kBefore.size(), json.size() - kBefore.size() - kAfter.size());
}

std::string Number(double value) {
  Document document;
  document.data.SetDouble("n", value, Unit::kNone);
  const std::string json = Json(document);
  constexpr std::string_view kBefore = R"({"n": )";
  constexpr std::string_view kAfter = "}\n";
  return json.substr(kBefore.size(), json.size() - kBefore.size() - kAfter.size());
}

TEST(JsonTest, PutsContainersOfScalarsOnOneLine) {
  Document document;
  document.data.SetText("schema", "steelyard.report/1");
  document.data.OpenObject("flops");
  document.data.SetInt("forward", 1, Unit::kFlops);
  document.data.SetInt("backward", 2, Unit::kFlops);
  document.data.Close();
  document.data.OpenArray("events");
  for (const int bytes : {512, -512}) {
    document.data.OpenArray();
    document.data.AddText("aten::add");
    document.data.AddInt(bytes, Unit::kBytes);
    document.data.Close();
  }
  document.data.Close();
  EXPECT_EQ(Json(document), R"({
  "schema": "steelyard.report/1",
  "flops": {"forward": 1, "backward": 2},
  "events": [
    ["aten::add", 512],
    ["aten::add", -512]
  ]
}
)");
}

TEST(JsonTest, WritesEmptyContainers) {
  Document document;
  EXPECT_EQ(Json(document), "{}\n");
  document.data.OpenArray("modules");
  document.data.Close();
  EXPECT_EQ(Json(document), "{\n  \"modules\": []\n}\n");
}

TEST(JsonTest, IntegersHaveEveryDigit) {
  Document document;
  document.data.OpenArray("limits");
  document.data.AddInt(std::numeric_limits<std::int64_t>::min(), Unit::kNone);
  document.data.AddInt(std::numeric_limits<std::int64_t>::max(), Unit::kNone);
  document.data.Close();
  EXPECT_NE(Json(document).find("[-9223372036854775808, 9223372036854775807]"), std::string::npos);
}

TEST(JsonTest, DoublesReadBackAsTheyWere) {
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.125, -2.5e-7}) {
    EXPECT_EQ(std::strtod(Number(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(Number(0.1), "0.1");
}

TEST(JsonTest, WholeDoublesStayDoubles) {
  EXPECT_EQ(Number(1.0), "1.0");
  EXPECT_EQ(Number(-0.0), "-0.0");
}

TEST(JsonTest, WhatIsNotFiniteIsNull) {
  EXPECT_EQ(Number(std::nan("")), "null");
  EXPECT_EQ(Number(-INFINITY), "null");
}

TEST(JsonTest, EscapesWhatJsonReserves) {
  EXPECT_EQ(Escaped("a\"b\\c"), "a\\\"b\\\\c");
  EXPECT_EQ(Escaped("\n\r\t"), "\\n\\r\\t");
  EXPECT_EQ(Escaped(std::string_view("\0\x1b\x7f", 3)), "\\u0000\\u001b\\u007f");
  EXPECT_EQ(Escaped("4×128 模"), "4×128 模");
}

TEST(JsonTest, RepairsWhatIsNoUtf8) {
  EXPECT_EQ(Escaped("a\xff"
                    "b"),
            "a\uFFFDb");
  EXPECT_EQ(Escaped("\xe2\x96"), "\uFFFD");
  EXPECT_EQ(Escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate: no byte belongs
}

TEST(JsonTest, EscapesKeysToo) {
  Document document;
  document.data.SetBool("a\"b", true);
  EXPECT_EQ(Json(document), "{\"a\\\"b\": true}\n");
}

TEST(JsonTest, RepeatedTextsAreWrittenEachTime) {
  Document document;
  document.data.OpenArray("t");
  for (int i = 0; i < 3; ++i) document.data.AddText("x\n");
  document.data.AddText("");
  document.data.Close();
  EXPECT_EQ(Json(document), "{\n  \"t\": [\"x\\n\", \"x\\n\", \"x\\n\", \"\"]\n}\n");
}

}  // namespace
}  // namespace steelyard::render
