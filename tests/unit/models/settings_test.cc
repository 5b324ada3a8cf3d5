// SPDX-License-Identifier: Apache-2.0
#include "models/settings.h"

#include <gtest/gtest.h>

#include "setting_values.h"

namespace steelyard::models {
namespace {

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
  EXPECT_EQ(Describe(c.status().error()),
            "rope.theta: it is \"big\", not a number from 0 to 2147483648");
}

std::string RefusalOfSize(Setting value) {
  const Setting root = Object({{"size", std::move(value)}});
  const Settings c(root);
  EXPECT_EQ(c.Size("size", 7), 7);
  return c.status().error().message;
}

TEST(Settings, SizesMayDivide) {
  EXPECT_EQ(RefusalOfSize(Number(0)), "it is 0, not a number from 1 to 2147483648");
  EXPECT_EQ(RefusalOfSize({}), "it is null, not a number from 1 to 2147483648");
  EXPECT_EQ(RefusalOfSize(Text(std::string(41, 'x'))),
            "it is a long text, not a number from 1 to 2147483648");
  const Setting root = Object({{"size", Number(1)}, {"layers", Number(0)}});
  const Settings c(root);
  EXPECT_EQ(c.Size("size", 7), 1);
  EXPECT_EQ(c.Size("other", 7), 7);
  EXPECT_EQ(c.Layers("layers", 7), 0);
  EXPECT_TRUE(c.status());
}

TEST(Settings, LayersAreNotEndless) {
  const Setting root = Object({{"layers", Number(4097)}});
  const Settings c(root);
  EXPECT_EQ(c.Layers("layers", 2), 2);
  EXPECT_EQ(Describe(c.status().error()), "layers: it is 4097, not a number from 0 to 4096");
}

TEST(Settings, SharesAreAtMostOne) {
  const Setting root = Object({{"p", {.kind = Setting::Kind::kReal, .real = 1.5}},
                               {"q", {.kind = Setting::Kind::kReal, .real = 0.5}}});
  const Settings c(root);
  EXPECT_EQ(c.Share("q", 0.1), 0.5);
  EXPECT_TRUE(c.status());
  EXPECT_EQ(c.Share("p", 0.1), 0.1);
  EXPECT_EQ(Describe(c.status().error()), "p: it is 1.5, not a number from 0 to 1");
}

TEST(Settings, PartsDivideTheirWhole) {
  const Setting root = Object({});
  const Settings c(root);
  EXPECT_EQ(c.Quotient("hidden", 12, "heads", 4), 3);
  EXPECT_TRUE(c.status());
  c.Within("text").Quotient("hidden", 770, "heads", 12);
  EXPECT_EQ(Describe(c.status().error()),
            "text.heads: 12 does not divide text.hidden, which is 770");
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
