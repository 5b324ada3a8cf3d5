// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/token_map.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace steelyard::pt2 {
namespace {

TEST(TokenMap, GivesEqualTokensOneEntry) {
  TokenMap<int> map(-1);
  EXPECT_EQ(map["a"], -1);
  map["a"] = 7;
  const std::string again = "a";
  EXPECT_EQ(map[again], 7);
  EXPECT_EQ(map["b"], -1);
  EXPECT_EQ(map[""], -1);
  EXPECT_EQ(map.size(), 3u);
}

TEST(TokenMap, KeepsEntriesWhileItGrows) {
  constexpr int kCount = 20'000;
  std::vector<std::string> tokens;
  for (int i = 0; i < kCount; ++i) tokens.push_back("token_" + std::to_string(i));
  TokenMap<int> map(-1);
  for (int i = 0; i < kCount; ++i) {
    const std::size_t index = map.IndexOf(tokens[static_cast<std::size_t>(i)]);
    EXPECT_EQ(index, static_cast<std::size_t>(i));
    map.at(index) = i;
  }
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(map[tokens[static_cast<std::size_t>(i)]], i);
}

}  // namespace
}  // namespace steelyard::pt2
