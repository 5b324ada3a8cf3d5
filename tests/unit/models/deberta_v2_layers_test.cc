// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/deberta_v2.h"
#include "net_under_test.h"
#include "setting_values.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;

TEST(DebertaLayers, TheTableHasARowForEachBucketOrDistance) {
  const Setting root{.kind = Setting::Kind::kObject,
                     .members = {{"position_buckets", Number(-1)},
                                 {"max_relative_positions", Number(-1)},
                                 {"max_position_embeddings", Number(40)}}};
  EXPECT_EQ(ReadDeberta(Settings(root)).distances.span, 40);
  const Setting few{.kind = Setting::Kind::kObject, .members = {{"position_buckets", Number(6)}}};
  EXPECT_EQ(ReadDeberta(Settings(few)).distances.span, 6);
}

TEST(DebertaLayers, KindsOfAttentionAreATextOrAList) {
  const Setting text{.kind = Setting::Kind::kObject,
                     .members = {{"pos_att_type", Text("p2c|c2p")}}};
  EXPECT_EQ(ReadDeberta(Settings(text)).distances.scale_factor(), 1 + 2);
  const Setting kinds{.kind = Setting::Kind::kList, .items = {Text("c2p")}};
  const Setting list{.kind = Setting::Kind::kObject, .members = {{"pos_att_type", kinds}}};
  EXPECT_TRUE(ReadDeberta(Settings(list)).distances.to_positions);
  EXPECT_FALSE(ReadDeberta(Settings(list)).distances.from_positions);
}

TEST(DebertaLayers, AConvolutionKeepsTheLength) {
  const Setting root{.kind = Setting::Kind::kObject, .members = {{"conv_kernel_size", Number(4)}}};
  NetUnderTest t;
  const Settings config(root);
  Net net{.b = t.builder, .config = config, .options = t.options};
  const DebertaConfig c = ReadDeberta(config);
  const DebertaConvolution conv(Layer(net), c);
  EXPECT_EQ(config.status().error().where, "conv_kernel_size");
}

TEST(DebertaLayers, WhatIsHiddenIsZeroBehindTheConvolution) {
  const Setting root{.kind = Setting::Kind::kObject,
                     .members = {{"conv_kernel_size", Number(3)}, {"hidden_size", Number(24)}}};
  NetUnderTest t;
  const Settings config(root);
  Net net{.b = t.builder, .config = config, .options = t.options, .batch = Dim(2), .seq = Dim(3)};
  const DebertaConfig c = ReadDeberta(config);
  const DebertaConvolution conv(Layer(net), c);
  const Tensor x = t.builder.Input("x", DType::kFloat32, {2, 3, 24});
  const Tensor mask = t.builder.Input("mask", DType::kFloat32, {2, 3});
  t.builder.Return(conv(x, x, mask));
  const std::string text = t.Text();
  EXPECT_THAT(text, HasSubstr("aten::masked_fill_.Scalar(%contiguous_1, %expand, 0)"));
  EXPECT_THAT(text, HasSubstr("%mul = aten::mul.Tensor(%layer_norm, %unsqueeze_1)"));
}

}  // namespace
}  // namespace steelyard::models
