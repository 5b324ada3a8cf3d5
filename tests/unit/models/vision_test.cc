// SPDX-License-Identifier: Apache-2.0
#include "models/vision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "net_under_test.h"
#include "setting_values.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Setting Pair(std::int64_t first, std::int64_t second) {
  return {.kind = Setting::Kind::kList, .items = {Number(first), Number(second)}};
}

TEST(Vision, SizesAreOneNumberOrTwo) {
  const Setting root = Object({{"image_size", Number(30)}, {"patch_size", Pair(8, 5)}});
  const Settings config(root);
  const Patches patches = PatchesOf(config, {});
  EXPECT_EQ(patches.grid().height, 30 / 8);
  EXPECT_EQ(patches.grid().width, 30 / 5);
  EXPECT_EQ(patches.channels, 3);
  EXPECT_TRUE(config.status());
}

TEST(Vision, APatchFitsIntoTheImage) {
  const Setting root = Object({{"image_size", Number(7)}, {"patch_size", Number(8)}});
  const Settings config(root);
  PatchesOf(config, {});
  EXPECT_THAT(Describe(config.status().error()), HasSubstr("patch_size: larger than the image"));
}

TEST(Vision, ThreeNumbersAreNoSize) {
  Setting three = Pair(7, 8);
  three.items.push_back(Number(9));
  const Setting root = Object({{"image_size", three}});
  const Settings config(root);
  ExtentOf(config, "image_size", 224);
  EXPECT_THAT(Describe(config.status().error()), HasSubstr("neither a number nor two"));
}

TEST(Vision, KeysMayComeFirst) {
  NetUnderTest t;
  const VisionAttention attention(
      Layer(t.net),
      {.name = "a", .class_name = "A", .hidden = 8, .heads = 2, .width = 4, .keys_first = true});
  const Tensor x = t.builder.Input("x", DType::kFloat32, {2, 3, 8});
  t.builder.Return(attention(x, {}, 2, 3));
  const Program program = std::move(t.builder).Build().value();
  EXPECT_EQ(program.text(program.parameters[0].name), "a.k_proj.weight");
  EXPECT_EQ(program.text(program.parameters[4].name), "a.q_proj.weight");
}

TEST(Vision, PathsAreDroppedInTraining) {
  for (const bool training : {false, true}) {
    NetUnderTest t({.training = training});
    const DropPath drop(Layer(t.net), "D", 0.25);
    const Tensor x = t.builder.Input("x", DType::kFloat32, {2, 3});
    t.builder.Return(t.builder.Call("aten::relu", drop(x, 2)));
    const auto kept = HasSubstr("aten::add.Tensor(%rand, 0.75)");
    if (training) {
      EXPECT_THAT(t.Text(), kept);
    } else {
      EXPECT_THAT(t.Text(), Not(kept));
    }
  }
}

TEST(Vision, DropRatesRiseEvenly) {
  EXPECT_DOUBLE_EQ(DropPathOf(0.3, 0, 4), 0.0);
  EXPECT_DOUBLE_EQ(DropPathOf(0.3, 1, 4), 0.3 / 3);
  EXPECT_DOUBLE_EQ(DropPathOf(0.3, 3, 4), 0.3);
  EXPECT_DOUBLE_EQ(DropPathOf(0.3, 0, 1), 0.0);
}

}  // namespace
}  // namespace steelyard::models
