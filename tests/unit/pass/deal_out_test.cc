// SPDX-License-Identifier: Apache-2.0

#include "pass/deal_out.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Groups = std::vector<std::vector<std::int64_t>>;

// Places and ranks of the one group that `of` is.
std::vector<std::pair<std::size_t, std::size_t>> Pairs(const std::vector<Dealt>& of) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (const Dealt& one : of) out.emplace_back(one.place, one.rank);
  return out;
}

TEST(DealOut, TheLargestComesFirstAndGoesToWhoHasLeast) {
  // 9 to the first, 7 to the second, which has less and takes the 5; then 9 is less than 12.
  EXPECT_THAT(Pairs(DealOut(Groups{{5, 9, 7, 2}}, 2)[0]),
              ElementsAre(Pair(1, 0), Pair(2, 1), Pair(0, 1), Pair(3, 0)));
}

TEST(DealOut, OfEqualOnesTheFirstComesFirst) {
  EXPECT_THAT(Pairs(DealOut(Groups{{4, 4, 4}}, 3)[0]),
              ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
}

TEST(DealOut, GroupsAreBalancedTogether) {
  const std::vector<std::vector<Dealt>> dealt = DealOut(Groups{{6}, {1, 1}}, 2);
  EXPECT_THAT(Pairs(dealt[0]), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(Pairs(dealt[1]), ElementsAre(Pair(0, 1), Pair(1, 1)));
}

TEST(DealOut, NothingIsDealtOfNothing) {
  EXPECT_THAT(DealOut(Groups{}, 2), IsEmpty());
  EXPECT_THAT(DealOut(Groups{{}}, 2)[0], IsEmpty());
}

}  // namespace
}  // namespace steelyard
