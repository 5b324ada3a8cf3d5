// SPDX-License-Identifier: Apache-2.0
#include "support/hash.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace steelyard {
namespace {

TEST(HashTest, TextHashDependsOnEveryByteAndTheLength) {
  std::set<std::uint64_t> seen;
  int texts = 0;
  for (std::size_t length = 0; length <= 40; ++length) {
    const std::string zeros(length, '\0');
    seen.insert(HashText(zeros));
    ++texts;
    for (std::size_t at = 0; at < length; ++at) {
      std::string text = zeros;
      text[at] = 1;
      seen.insert(HashText(text));
      ++texts;
    }
  }
  EXPECT_EQ(static_cast<int>(seen.size()), texts);
}

TEST(HashTest, TextHashIgnoresWhereTheTextStands) {
  const std::string_view text = "xbert.encoder.layer.0.attentionbert.encoder.layer.0.attention";
  constexpr std::size_t kLength = std::string_view("bert.encoder.layer.0.attention").size();
  EXPECT_EQ(HashText(text.substr(1, kLength)), HashText(text.substr(1 + kLength, kLength)));
}

TEST(HashTest, TextHashSpreadsNumberedNames) {
  // The upper 32 bits choose slots in tables: 2^12 names over 2^12 slots should hit about
  // (1 - 1/e) of them, 2589; a hash that clusters hits far fewer.
  std::set<std::uint64_t> slots;
  for (int i = 0; i < 4096; ++i) {
    slots.insert(HashText("layer." + std::to_string(i)) >> 32U & 4095U);
  }
  EXPECT_GT(slots.size(), 2450U);
}

}  // namespace
}  // namespace steelyard
