// SPDX-License-Identifier: Apache-2.0
#include "import/json.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <string>

#include "import/padded_text.h"

namespace steelyard {
namespace {

using testing::HasSubstr;

// Reads the field "x" of an object; returns what was wrong, "" if nothing was.
std::string ReadX(std::string_view x, const std::function<bool(JsonReader&, JsonValue)>& read) {
  const PaddedText text("{\"x\": " + std::string(x) + "}");
  const JsonText json_text(text);
  if (!json_text.ok()) return "no JSON";
  JsonReader json;
  const bool ok = json.Object(json_text.root(),
                              [&](std::string_view, JsonValue field) { return read(json, field); });
  EXPECT_EQ(ok, !json.failed());
  return ok ? "" : Describe(json.TakeError());
}

std::string TextOf(std::string_view x) {
  std::string out;
  const std::string wrong = ReadX(x, [&](JsonReader& json, JsonValue value) {
    std::string_view text;
    if (!json.Text(value, text)) return false;
    out = text;
    return true;
  });
  return wrong.empty() ? out : wrong;
}

TEST(JsonReader, ReadsStringsWithAndWithoutEscapes) {
  EXPECT_EQ(TextOf(R"("plain")"), "plain");
  EXPECT_EQ(TextOf(R"("")"), "");
  EXPECT_EQ(TextOf(R"("a\"b\\c\n\u00e9")"), "a\"b\\c\n\xc3\xa9");
  EXPECT_THAT(TextOf("17"), HasSubstr("x: expected a string, found \"17\""));
  EXPECT_THAT(TextOf("[]"), HasSubstr("found an array"));
  EXPECT_THAT(TextOf(R"("\ud800")"), HasSubstr("not valid text"));
}

TEST(JsonReader, ReadsKeysWithEscapes) {
  std::string key;
  const auto note = [&](JsonReader& json, JsonValue value) {
    return json.Object(value, [&](std::string_view k, JsonValue) {
      key = k;
      return true;
    });
  };
  EXPECT_EQ(ReadX(R"({"caf\u00e9 \"x\"": 1})", note), "");
  EXPECT_EQ(key, "caf\xc3\xa9 \"x\"");
}

TEST(JsonReader, ReadsNumbers) {
  std::int64_t number = 0;
  const auto read_int = [&](JsonReader& json, JsonValue v) { return json.Int(v, number); };
  EXPECT_EQ(ReadX("-9223372036854775808", read_int), "");
  EXPECT_EQ(number, INT64_MIN);
  for (const char* wrong : {"1.5", "9223372036854775808", "true", "null", "\"1\"", "{}", "01"}) {
    EXPECT_THAT(ReadX(wrong, read_int), HasSubstr("x: expected an integer")) << wrong;
  }
  double real = 0;
  const auto read_real = [&](JsonReader& json, JsonValue v) { return json.Real(v, real); };
  EXPECT_EQ(ReadX("1e-05", read_real), "");
  EXPECT_EQ(real, 1e-05);
  for (const char* infinite : {"Infinity", "\"Infinity\""}) {
    EXPECT_EQ(ReadX(infinite, read_real), "");
    EXPECT_EQ(real, HUGE_VAL);
  }
  EXPECT_EQ(ReadX("\"-Infinity\"", read_real), "");
  EXPECT_EQ(real, -HUGE_VAL);
  EXPECT_EQ(ReadX("NaN", read_real), "");
  EXPECT_TRUE(std::isnan(real));
  EXPECT_THAT(ReadX("\"1.5\"", read_real), HasSubstr("expected a number"));
}

TEST(JsonReader, ReadsTheAlternativeThatIsNotNull) {
  std::string key;
  const auto read = [&](JsonReader& json, JsonValue value) {
    return json.Variant(value, [&](std::string_view k, JsonValue) {
      key = k;
      return true;
    });
  };
  EXPECT_EQ(ReadX(R"({"as_int": null, "as_float": 1.5, "as_bool": true})", read), "");
  EXPECT_EQ(key, "as_float");
  EXPECT_THAT(ReadX(R"({"as_int": null})", read), HasSubstr("no alternative"));
  EXPECT_THAT(ReadX("{}", read), HasSubstr("no alternative"));
}

TEST(JsonReader, TellsThePathToWhatIsWrong) {
  const auto deep = [](JsonReader& json, JsonValue value) {
    return json.Array(value, [&](JsonValue element) {
      return json.Object(element, [&](std::string_view, JsonValue field) {
        std::int64_t number = 0;
        return json.Int(field, number);
      });
    });
  };
  EXPECT_THAT(ReadX(R"([{"a": 1}, {"a": 1, "b": "no"}])", deep),
              HasSubstr("x[1].b: expected an integer"));
}

TEST(JsonReader, NamesAPlaceOnce) {
  const auto named = [](JsonReader& json, JsonValue value) {
    if (json.Object(value, [&](std::string_view, JsonValue) { return json.Fail("it broke"); })) {
      return true;
    }
    return json.At("node 17");
  };
  EXPECT_EQ(ReadX(R"({"a": 1})", named), "node 17: a: it broke");
}

TEST(JsonReader, QuotesBriefly) {
  EXPECT_EQ(Quoted("a\nb"), "\"a b\"");
  EXPECT_EQ(Quoted(std::string(200, 'x')), "\"" + std::string(80, 'x') + "...\"");
  // Never a part of a character.
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "\xc3\xa9";
  EXPECT_EQ(Quoted("x" + accents).size(), 1 + 1 + 2 * 39 + 3 + 1u);
}

}  // namespace
}  // namespace steelyard
