// SPDX-License-Identifier: Apache-2.0
#include "models/decoder.h"

#include <gtest/gtest.h>

#include "net_under_test.h"
#include "setting_values.h"

namespace steelyard::models {
namespace {

constexpr DecoderDefaults kDefaults{
    .hidden = 64, .inner = 96, .layers = 4, .heads = 8, .vocabulary = 50, .positions = 32};

TEST(Decoder, WhatAConfigLeavesOutFollowsFromTheRest) {
  const Setting root{.kind = Setting::Kind::kObject};
  const DecoderConfig config = ReadDecoder(Settings(root), "X", kDefaults);
  EXPECT_EQ(config.heads.key, 8);
  EXPECT_EQ(config.heads.width, 64 / 8);
  EXPECT_EQ(config.rotated, 64 / 8);
}

TEST(Decoder, GroupsOfHeadsAreOfOneSize) {
  const Setting root{.kind = Setting::Kind::kObject,
                     .members = {{"num_key_value_heads", Number(3)}}};
  const Settings c(root);
  ReadDecoder(c, "X", kDefaults);
  EXPECT_EQ(c.status().error().where, "num_key_value_heads");
}

TEST(Decoder, LayersAreWindowedByNameOrByRule) {
  const auto named = [](const char* name) {
    return Setting{.kind = Setting::Kind::kText, .text = name};
  };
  const Setting types{.kind = Setting::Kind::kList,
                      .items = {named("full_attention"), named("sliding_attention")}};
  const Setting root{.kind = Setting::Kind::kObject, .members = {{"layer_types", types}}};
  DecoderConfig config;
  config.layers = 2;
  ReadLayerTypes(Settings(root), config, [](std::int64_t) { return true; });
  EXPECT_EQ(config.windowed, (std::vector<bool>{false, true}));
  const Setting none{.kind = Setting::Kind::kObject};
  DecoderConfig ruled;
  ruled.layers = 3;
  ReadLayerTypes(Settings(none), ruled, [](std::int64_t layer) { return layer != 1; });
  EXPECT_EQ(ruled.windowed, (std::vector<bool>{true, false, true}));
}

TEST(Decoder, EverySecondLayerHasExperts) {
  const Setting root{.kind = Setting::Kind::kObject,
                     .members = {{"decoder_sparse_step", Number(2)}}};
  DecoderConfig config;
  config.layers = 4;
  config.experts.count = 6;
  ReadDenseLayers(Settings(root), config);
  EXPECT_EQ(config.dense, (std::vector<bool>{true, false, true, false}));
}

}  // namespace
}  // namespace steelyard::models
