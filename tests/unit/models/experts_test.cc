// SPDX-License-Identifier: Apache-2.0
#include "models/experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;

constexpr ExpertPlan kExpertPlan{.count = 6, .chosen = 2, .hidden = 8, .inner = 5};

std::string BlockText(DType dtype) {
  NetUnderTest t({.dtype = dtype});
  const Layer root(t.net);
  const TopKRouter router(root, "gate", "Router", kExpertPlan);
  const Experts experts(root, "experts", "Experts", kExpertPlan);
  const Tensor rows = t.builder.Input("x", dtype, {2 * 3, 8});
  t.builder.Return(experts(rows, router(rows)));
  return t.Text();
}

TEST(Experts, ProductsAreGroupedWhereTheDTypeHasThem) {
  EXPECT_THAT(BlockText(DType::kBFloat16), HasSubstr("aten::_grouped_mm"));
  EXPECT_THAT(BlockText(DType::kFloat32), HasSubstr("transformers::grouped_mm_fallback"));
}

TEST(Experts, ATokenIsSumOfItsExperts) {
  // 2 * 3 tokens of 2 experts each.
  EXPECT_THAT(BlockText(DType::kFloat32), HasSubstr("aten::view(%index_2, [6, 2, 8])"));
}

TEST(Experts, EvenChoicesAreOfAllRouters) {
  NetUnderTest t;
  const Tensor logits = t.builder.Input("x", DType::kFloat32, {6, 6});
  t.builder.Return(LoadBalancingLoss(t.net, {logits, logits}, kExpertPlan));
  EXPECT_THAT(t.Text(), HasSubstr("aten::histc(%to_1, 6, 0, 6)"));
}

}  // namespace
}  // namespace steelyard::models
