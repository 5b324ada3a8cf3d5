// SPDX-License-Identifier: Apache-2.0

#include "pass/transformers_plans.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(TransformersPlans, EachClassHasOne) {
  EXPECT_TRUE(std::ranges::is_sorted(TransformersPlans(), {}, &TransformersPlan::class_name));
  for (const TransformersPlan& row : TransformersPlans()) {
    EXPECT_EQ(std::ranges::count(row.plan, ',') + 1, std::ranges::count(row.plan, '='))
        << row.class_name;
  }
  const auto llama =
      std::ranges::find(TransformersPlans(), "LlamaForCausalLM", &TransformersPlan::class_name);
  ASSERT_NE(llama, TransformersPlans().end());
  EXPECT_THAT(llama->plan, HasSubstr("model.embed_tokens=embedding_rowwise,"));
  EXPECT_THAT(llama->plan, HasSubstr("model.layers.*.self_attn.o_proj=rowwise"));
}

}  // namespace
}  // namespace steelyard
