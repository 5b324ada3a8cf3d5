// SPDX-License-Identifier: Apache-2.0
//
// The expected figures are those that PyTorch 2.15's events show.

#include "ops/onednn/attention_gradient.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../events.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::string Bytes(std::int64_t bytes) {
  return Line(bytes, "_scaled_dot_product_flash_attention_for_cpu_backward");
}

// What the products of one call take and give back.
std::vector<std::string> ProductsOf(std::string_view dtype, std::string_view query,
                                    std::string_view keys, std::string_view sums,
                                    std::string_view more) {
  const std::string q = fmt::format("{}[{}]", dtype, query), k = fmt::format("{}[{}]", dtype, keys);
  const std::vector<std::string> events = EventsOf(
      fmt::format("aten::_scaled_dot_product_flash_attention_for_cpu_backward({}, {}, {}, {}, {}, "
                  "f32[{}], 0.0, {})",
                  q, q, k, k, q, sums, more));
  // Of three results, two blocks of scores and sums the results stay.
  constexpr std::ptrdiff_t kBefore = 6, kAfter = 3;
  return {events.begin() + kBefore, events.end() - kAfter};
}

TEST(AttentionGradient, ProductsInBFloat16HaveScratch) {
  EXPECT_THAT(ProductsOf("bf16", "1,1,16,64", "1,1,16,64", "1,1,16", "False"),
              ElementsAre(Bytes(10368), Bytes(-10368), Bytes(4), Bytes(9216), Bytes(-9216),
                          Bytes(-4), Bytes(4), Bytes(10368), Bytes(-10368), Bytes(-4)));
}

TEST(AttentionGradient, AFactorOfOneTakesNothing) {
  EXPECT_THAT(ProductsOf("bf16", "1,1,16,64", "1,1,16,64", "1,1,16", "False, scale=1.0"),
              ElementsAre(Bytes(10368), Bytes(-10368), Bytes(9216), Bytes(-9216), Bytes(10368),
                          Bytes(-10368)));
}

TEST(AttentionGradient, SmallProductsAndOtherDTypesHaveNone) {
  EXPECT_THAT(ProductsOf("bf16", "1,1,16,8", "1,1,16,8", "1,1,16", "False"), ElementsAre());
}

// Blocks of keys that all queries of a block come before are left out; one that some come before is
// whole.
TEST(AttentionGradient, CausalQueriesTakeBlocksOfKeysUpToTheirs) {
  const auto all = ProductsOf("bf16", "1,1,1024,64", "1,1,1024,64", "1,1,1024", "False");
  const auto causal = ProductsOf("bf16", "1,1,1024,64", "1,1,1024,64", "1,1,1024", "True");
  EXPECT_EQ(all.size(), std::size_t{4 * 2 * 10});
  EXPECT_EQ(causal.size(), std::size_t{(1 + 1 + 2 + 2) * 10});
  EXPECT_THAT(causal, Contains(Bytes(132096)).Times(6));
}

TEST(AttentionGradient, OfVeryManyBlocksThoseOfOneHeadAreTold) {
  const auto told = ProductsOf("bf16", "1024,1,16,64", "1024,1,16,64", "1024,1,16", "False");
  EXPECT_EQ(told.size(), 10U);
}

}  // namespace
}  // namespace steelyard
