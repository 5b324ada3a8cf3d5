// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/redistribute.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "../steps.h"

namespace steelyard::ops {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A tensor of process `rank` that comes and goes as its own, on so many processes.
std::string Taking(std::string_view tensor, std::string_view ranks_and_rank,
                   std::string_view placements) {
  return "steelyard::to_distributed(" + std::string(tensor) + ", " + std::string(ranks_and_rank) +
         ", " + std::string(placements) + ", False, False)";
}

TEST(Placement, NamesAreThoseOfPyTorch) {
  for (const std::string_view name : {"R", "P", "S(0)", "S(12)", "S(-1)"}) {
    const std::optional<Placement> placement = PlacementNamed(name);
    ASSERT_TRUE(placement) << name;
    EXPECT_EQ(ShortName(*placement), name);
  }
  for (const std::string_view name : {"", "S", "S(", "S()", "S(1", "S(1x)", "S1", "r", "RR"}) {
    EXPECT_FALSE(PlacementNamed(name)) << name;
  }
}

// As torch.chunk makes them: of two elements each, while there are any.
TEST(Redistribute, TheLastProcessesHaveSmallerPartsOrNone) {
  const auto part = [](std::string_view ranks_and_rank) {
    return ResultOf(Taking("f32[5,3]", ranks_and_rank, "'R', 'S(0)', 'S(0)'"));
  };
  EXPECT_EQ(part("3, 0"), "f32[2,3]");
  EXPECT_EQ(part("3, 2"), "f32[1,3]");
  EXPECT_EQ(part("4, 3"), "f32[0,3]");
}

TEST(Redistribute, ShorterPartsArePaddedUntilAllAreThere) {
  const auto nodes = [](std::string_view part, std::string_view rank) {
    return NodesOf("steelyard::column_linear(f32[2,8], f32[" + std::string(part) +
                   ",8], None, 2, " + std::string(rank) + ", 'R', 'R', 9)");
  };
  EXPECT_THAT(nodes("5", "0"), Not(Contains("fill_.Scalar")));
  EXPECT_THAT(nodes("4", "1"), Contains("fill_.Scalar"));
  EXPECT_EQ(ResultOf("steelyard::column_linear(f32[2,8], f32[4,8], None, 2, 1, 'R', 'R', 9)"),
            "f32[2,9]");
}

TEST(Redistribute, GradientsTakeTheWayBack) {
  const auto backward = [](std::string_view placements) {
    return BackwardOf(Taking("%p", "2, 0", placements));
  };
  EXPECT_THAT(backward("'S(0)', 'R', 'P'"), Contains("reduce_scatter_parts"));
  EXPECT_THAT(backward("'R', 'S(0)', 'S(0)'"), Contains("all_gather_parts"));
  EXPECT_THAT(backward("'R', 'R', 'P'"), Contains("all_reduce"));
  EXPECT_THAT(backward("'P', 'R', 'R'"), Not(Contains("all_reduce"))) << "each keeps the whole";
}

TEST(Redistribute, OtherWaysAreRefused) {
  EXPECT_THAT(RefusalOf(Taking("f32[4,6]", "2, 0", "'S(0)', 'S(1)', 'S(1)'")),
              HasSubstr("from S(0) to S(1) is not modelled"));
  EXPECT_THAT(RefusalOf(Taking("f32[4,6]", "2, 0", "'R', 'P', 'P'")),
              HasSubstr("from R to P is not modelled"));
  EXPECT_THAT(RefusalOf(Taking("f32[5,6]", "2, 0", "'P', 'S(0)', 'S(0)'")),
              HasSubstr("5 elements of a dimension that 2 processes share are padded"));
  EXPECT_THAT(RefusalOf(Taking("f32[5,6]", "2, 0", "'R', 'S(2)', 'S(2)'")),
              HasSubstr("a tensor of 2 dimensions has no dimension 2"));
}

}  // namespace
}  // namespace steelyard::ops
