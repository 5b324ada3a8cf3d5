// SPDX-License-Identifier: Apache-2.0

#include "steelyard/timeline.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace steelyard {
namespace {

TEST(Timeline, ResidentBytesSumOverCategories) {
  Timeline timeline;
  Of(timeline.resident, Category::kParameters) = 40;
  Of(timeline.resident, Category::kInputs) = 2;
  EXPECT_EQ(timeline.resident_bytes(), 40 + 2);
}

TEST(Timeline, CategoriesHaveDistinctNames) {
  std::set<std::string> names;
  for (std::size_t c = 0; c < kCategoryCount; ++c) names.emplace(NameOf(static_cast<Category>(c)));
  EXPECT_EQ(names.size(), kCategoryCount);
  EXPECT_TRUE(names.contains("optimizer_state"));
}

}  // namespace
}  // namespace steelyard
