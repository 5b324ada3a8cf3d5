// SPDX-License-Identifier: Apache-2.0
#include "models/grouped_experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

DecoderConfig Grouped() {
  DecoderConfig config;
  config.hidden = 8;
  config.experts = {.count = 6, .chosen = 2, .hidden = 8, .inner = 5, .wide_weights = true};
  config.groups = {.count = 3, .chosen = 2, .scale = 2.5};
  config.shared_inner = 10;
  config.activation = {.config_key = "hidden_act", .name = "silu"};
  return config;
}

std::string BlockText(const DecoderConfig& config) {
  NetUnderTest t;
  const Layer root(t.net);
  const GroupedBlock block(root, config);
  const Tensor x = t.builder.Input("x", DType::kFloat32, {2, 3, 8});
  t.builder.Return(block(x));
  return t.Text();
}

TEST(GroupedExperts, GroupsAreChosenBeforeExperts) {
  const std::string text = BlockText(Grouped());
  EXPECT_THAT(text, HasSubstr("aten::view(%add, [-1, 3, 2])"));
  EXPECT_THAT(text, HasSubstr("aten::masked_fill.Scalar(%add"));
}

TEST(GroupedExperts, WeightsAreDividedByTheirSumWhereTheConfigSaysSo) {
  DecoderConfig config = Grouped();
  EXPECT_THAT(BlockText(config), HasSubstr("aten::div_.Tensor"));
  config.experts.normalised = false;
  EXPECT_THAT(BlockText(config), Not(HasSubstr("aten::div_.Tensor")));
}

}  // namespace
}  // namespace steelyard::models
