// SPDX-License-Identifier: Apache-2.0
#include "models/disentangled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of the layer behind the first.
std::string DisentangledText(NetUnderTest& t, const DistanceConfig& distances) {
  const std::int64_t hidden = 12;
  const DisentangledAttention attention(
      Layer(t.net), "Self", 1, {.hidden = hidden, .heads = 3, .width = 4, .distances = distances});
  const auto input = [&](std::string_view name, DType dtype, const Shape& sizes) {
    return t.builder.Input(name, dtype, sizes);
  };
  const Tensor x = input("x", DType::kFloat32, {2, 3, hidden});
  const Tensor mask = input("mask", DType::kFloat32, {2, 1, 3, 3});
  const Tensor steps = input("steps", DType::kInt64, {1, 3, 3});
  const Tensor table = input("table", DType::kFloat32, {2 * distances.span, hidden});
  t.builder.Return(attention(x, mask, steps, table));
  return t.Text();
}

TEST(Disentangled, ScoresMayHaveNoDistances) {
  NetUnderTest t;
  const std::string text = DisentangledText(t, {});
  EXPECT_THAT(text, Not(HasSubstr("aten::gather")));
  EXPECT_THAT(text, HasSubstr("self.lifted_tensor_1)")) << "one in the layer before";
}

TEST(Disentangled, EachWayLooksItsScoresUp) {
  NetUnderTest t;
  const std::string text = DisentangledText(
      t, {.relative = true, .buckets = 4, .span = 4, .to_positions = true, .from_positions = true});
  EXPECT_THAT(text, HasSubstr("self.pos_key_proj.weight"));
  EXPECT_THAT(text, HasSubstr("self.pos_query_proj.weight"));
  EXPECT_THAT(text, HasSubstr("aten::add_.Tensor"));
  EXPECT_THAT(text, HasSubstr("aten::clamp(%add, 0, 7)")) << "2 * span - 1";
  // Two of the buckets, three in the layer before.
  EXPECT_THAT(text, HasSubstr("self.lifted_tensor_5)"));
}

TEST(Disentangled, ProjectionsMayBeThoseOfTokens) {
  NetUnderTest t;
  const DistanceConfig shared{.relative = true, .span = 4, .from_positions = true, .shared = true};
  const std::string text = DisentangledText(t, shared);
  EXPECT_THAT(text, Not(HasSubstr("pos_query_proj")));
  EXPECT_THAT(text, HasSubstr("aten::gather"));
}

}  // namespace
}  // namespace steelyard::models
