// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/buckets.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <vector>

#include "steelyard/units.h"

namespace steelyard::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr BucketMember Single(std::int64_t bytes) { return {DType::kFloat32, bytes}; }
constexpr BucketMember Half(std::int64_t bytes) { return {DType::kFloat16, bytes}; }

// torch.distributed._compute_bucket_assignment_by_size of 16 MiB each, limits 1 and 25 MiB: 16, 32,
// 32 MiB (facts.md of CUDA, section 8).
TEST(AssignBuckets, TheMemberThatReachesTheLimitIsTheLast) {
  constexpr std::array kLimits{1 * kMiB, 25 * kMiB};
  const std::vector<BucketMember> members(5, Single(16 * kMiB));
  EXPECT_THAT(AssignBuckets(members, kLimits),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3, 4)));
}

TEST(AssignBuckets, EachDTypeHasItsOwn) {
  constexpr std::array<std::int64_t, 1> kLimits{100};
  const std::vector<BucketMember> members{Single(60), Half(60), Single(60), Half(30)};
  EXPECT_THAT(AssignBuckets(members, kLimits), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(AssignBuckets, NothingNeedsNone) {
  constexpr std::array<std::int64_t, 1> kLimits{100};
  EXPECT_THAT(AssignBuckets({}, kLimits), IsEmpty());
}

}  // namespace
}  // namespace steelyard::ops
