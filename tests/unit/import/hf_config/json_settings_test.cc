// SPDX-License-Identifier: Apache-2.0
#include "import/hf_config/json_settings.h"

#include <gtest/gtest.h>

#include "../../temporary.h"

namespace steelyard {
namespace {

using models::Setting;

TEST(JsonSettings, EveryKindOfValue) {
  const std::string path = WriteTemporary(
      "config.json",
      R"({"a": 1, "b": 0.5, "c": true, "d": "x", "e": null, "f": [1, 2], "g": {"h": 3}})");
  const Setting root = ReadSettings(path).value();
  const models::Settings c(root);
  EXPECT_EQ(c.Count("a"), 1);
  EXPECT_EQ(c.Real("b"), 0.5);
  EXPECT_TRUE(c.Flag("c"));
  EXPECT_EQ(c.Text("d"), "x");
  EXPECT_FALSE(c.Has("e"));
  EXPECT_EQ(c.Counts("f").size(), 2u);
  EXPECT_EQ(c.Within("g").Count("h"), 3);
  EXPECT_TRUE(c.status());
}

TEST(JsonSettings, NumbersThatJsonDoesNotHaveAreNull) {
  const Setting root =
      ReadSettings(WriteTemporary("special.json",
                                  R"({"a": [0.5, Infinity, -Infinity], "b": NaN, "c": "-\"NaN"})"))
          .value();
  const models::Settings c(root);
  ASSERT_EQ(root.members.at(0).second.items.size(), 3u);
  EXPECT_EQ(root.members.at(0).second.items[2].kind, Setting::Kind::kNull);
  EXPECT_TRUE(c.Stands("b"));
  EXPECT_FALSE(c.Has("b"));
  EXPECT_EQ(c.Text("c"), "-\"NaN");
}

// As Python's json.loads does.
TEST(JsonSettings, OfAKeyThatIsThereTwiceTheLastCounts) {
  const Setting root =
      SettingsIn(R"({"a": 1, "b": 2, "a": {"c": 3, "c": 4}})", "config.json").value();
  ASSERT_EQ(root.members.size(), 2u);
  EXPECT_EQ(root.members[0].first, "a");
  const models::Settings c(root);
  EXPECT_EQ(c.Members("a"), 1);
  EXPECT_EQ(c.Within("a").Count("c"), 4);
  EXPECT_EQ(c.Count("b"), 2);
}

TEST(JsonSettings, OtherJsonIsRefused) {
  EXPECT_EQ(ReadSettings(WriteTemporary("a.json", "[1]")).error().message,
            "the JSON is not an object");
  EXPECT_EQ(ReadSettings(WriteTemporary("a.json", "{\"a\": ")).error().message,
            "the JSON is cut: it ends in line 1 with brackets open");
  const std::string deep = "{\"a\":" + std::string(100'000, '[');
  EXPECT_FALSE(ReadSettings(WriteTemporary("a.json", deep)));
  EXPECT_EQ(ReadSettings(WriteTemporary("a.json", std::string((1 << 20) + 1, ' '))).error().message,
            "the file is larger than a config is");
}

}  // namespace
}  // namespace steelyard
