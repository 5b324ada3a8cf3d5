// SPDX-License-Identifier: Apache-2.0
#include "models/settings.h"

#include <gtest/gtest.h>

namespace steelyard::models {
namespace {

Setting Number(std::int64_t n) { return {.kind = Setting::Kind::kInteger, .integer = n}; }
Setting Text(std::string text) { return {.kind = Setting::Kind::kText, .text = std::move(text)}; }
Setting Object(std::vector<std::pair<std::string, Setting>> members) {
  return {.kind = Setting::Kind::kObject, .members = std::move(members)};
}

TEST(Settings, ReadsWhatIsThere) {
  const Setting root = Object({{"layers", Number(12)},
                               {"act", Text("silu")},
                               {"none", {}},
                               {"rope", Object({{"theta", Number(5)}})}});
  const Settings c(root);
  EXPECT_EQ(c.Count("layers"), 12);
  EXPECT_EQ(c.Real("layers"), 12.0);
  EXPECT_EQ(c.Text("act"), "silu");
  EXPECT_EQ(c.Count("none", 7), 7) << "null is as good as missing";
  EXPECT_EQ(c.Within("rope").Count("theta"), 5);
  EXPECT_EQ(c.Within("other").Flag("x", true), true);
  EXPECT_FALSE(c.Has("none"));
  EXPECT_TRUE(c.status());
}

TEST(Settings, TheFirstThatIsWrongIsSaid) {
  const Setting root = Object({{"rope", Object({{"theta", Text("big")}})}, {"layers", Number(-1)}});
  const Settings c(root);
  EXPECT_EQ(c.Within("rope").Count("theta", 3), 3);
  c.Count("layers");
  EXPECT_EQ(Describe(c.status().error()), "rope.theta: not a number from 0 to 2147483648");
}

TEST(Settings, WhatHasNoDefaultMustBeThere) {
  const Setting root = Object({});
  const Settings c(root);
  c.Text("model_type");
  EXPECT_EQ(c.status().error().message, "the config does not say it");
  EXPECT_EQ(c.status().error().where, "model_type");
}

TEST(Settings, ListsAreOfOneType) {
  const Setting root =
      Object({{"sizes", {.kind = Setting::Kind::kList, .items = {Number(1), Number(2)}}},
              {"names", {.kind = Setting::Kind::kList, .items = {Text("a"), Number(2)}}}});
  const Settings c(root);
  EXPECT_EQ(c.Counts("sizes"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_TRUE(c.Counts("others").empty());
  EXPECT_TRUE(c.status());
  c.Texts("names");
  EXPECT_EQ(c.status().error().message, "not a list of texts");
}

TEST(Settings, NullStandsThereWithoutAValue) {
  const Setting root = Object({{"window", {}}, {"names", Object({{"0", Text("a")}})}});
  const Settings c(root);
  EXPECT_TRUE(c.Stands("window"));
  EXPECT_FALSE(c.Has("window"));
  EXPECT_FALSE(c.Stands("other"));
  EXPECT_EQ(c.CountOrNone("window", 8), std::nullopt);
  EXPECT_EQ(c.CountOrNone("other", 8), 8);
  EXPECT_EQ(c.Members("names"), 1);
}

}  // namespace
}  // namespace steelyard::models
