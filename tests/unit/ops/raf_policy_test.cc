// SPDX-License-Identifier: Apache-2.0

#include "ops/raf_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace steelyard {
namespace {

const OpDef& Row(OpName name) { return *FindOp(name); }

TEST(RafRules, AreOfOperatorsThatThereAre) {
  for (const RafRule& rule : RafRules()) {
    const auto named = [&](const OpDef* def) { return def->label() == rule.op; };
    EXPECT_TRUE(std::ranges::any_of(AllOps(), named)) << rule.op;
  }
}

TEST(FindRafRule, OfAllOverloads) {
  EXPECT_EQ(FindRafRule(Row("raf::matmul_nt"))->hint, RafHint::kLow);
  EXPECT_EQ(FindRafRule(Row("raf::add.out")), FindRafRule(Row("raf::add")));
  EXPECT_EQ(FindRafRule(Row("aten::erfc")), nullptr);
}

TEST(FindRafRule, ViewsFollowTheirBase) {
  EXPECT_EQ(FindRafRule(Row("raf::reshape"))->hint, RafHint::kFollow);
  EXPECT_EQ(FindRafRule(Row("aten::view"))->hint, RafHint::kFollow);
}

TEST(CastBefore, IsOfTheSameLibrary) {
  EXPECT_EQ(CastBefore(&Row("raf::exp")), "raf::cast");
  EXPECT_EQ(CastBefore(&Row("aten::exp")), "aten::_to_copy");
  EXPECT_EQ(CastBefore(nullptr), "aten::_to_copy");
}

}  // namespace
}  // namespace steelyard
