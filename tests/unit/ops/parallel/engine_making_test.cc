// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/engine_making.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../cuda/cuda_events.h"
#include "../steps.h"

namespace steelyard::ops {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kCacheEmptied = 0;

// What is allocated and freed while an engine is made of parameters of 15 and 21 elements.
std::vector<std::int64_t> MakingOf(const std::string& call, const std::string& dtype = "f32") {
  const Program kernels =
      KernelsOfProgram("parameter %v: " + dtype + "[5,3]\nparameter %w: " + dtype +
                           "[3,7]\ninput %x: f32[2]\n" + call + "\nreturn %x\n",
                       kH100);
  const Timeline timeline = RunEager(kernels, kH100);
  std::vector<std::int64_t> out;
  for (std::uint32_t i = 0; i < timeline.events.size(); ++i) {
    if (std::ranges::count(timeline.emptied, i) > 0) out.push_back(kCacheEmptied);
    out.push_back(timeline.events[i].bytes);
  }
  return out;
}

// The copy in one piece, the master, and its gradient, which goes.
TEST(EngineMaking, ParametersComeToLieInOnePiece) {
  EXPECT_THAT(MakingOf("steelyard::make_engine([%v, %w], [2], 2)"),
              ElementsAre(36 * 4, -15 * 4, -21 * 4, 18 * 4, 18 * 4, -18 * 4));
}

// 15 elements become two equal parts of 8; one parameter that is not padded stays where it is.
TEST(EngineMaking, WhatMakesPartsEqualIsPutBehind) {
  EXPECT_THAT(MakingOf("steelyard::make_engine([%v], [1], 2)"),
              ElementsAre(1 * 4, 16 * 4, -1 * 4, -15 * 4, 8 * 4, 8 * 4, -8 * 4));
  EXPECT_THAT(MakingOf("steelyard::make_engine([%v, %w], [2], 1)"),
              ElementsAre(36 * 4, -15 * 4, -21 * 4, 36 * 4, 36 * 4, -36 * 4));
  EXPECT_THAT(MakingOf("steelyard::make_engine([%x], [1], 1)"), ElementsAre(2 * 4, 2 * 4, -2 * 4));
}

// Of a part in half precision a copy is made, and of that the master.
TEST(EngineMaking, AMasterIsInFloat32) {
  EXPECT_THAT(MakingOf("steelyard::make_engine([%v, %w], [2], 2)", "bf16"),
              ElementsAre(36 * 2, -15 * 2, -21 * 2, 18 * 2, 18 * 4, -18 * 2, 18 * 4, -18 * 4));
}

// Parts of 8 and 11, of which the second is stepped: it goes by way of the host. Then the master,
// its gradient, the bucket, the sums; and each that is stepped is gathered once.
TEST(EngineMaking, EachParameterBecomesAPartAndGoes) {
  EXPECT_THAT(MakingOf("steelyard::make_partitioned_engine([%v, %w], [%w], [1], 2, 100, True)"),
              ElementsAre(8 * 4, -15 * 4, 11 * 4, -21 * 4, 1, -11 * 4, kCacheEmptied, 11 * 4,
                          11 * 4, 11 * 4, -11 * 4, 100 * 4, 11 * 4, 2 * 11 * 4, -2 * 11 * 4));
  EXPECT_THAT(MakingOf("steelyard::make_partitioned_engine([%v, %w], [%w], [1], 2, 100, False)"),
              ElementsAre(8 * 4, -15 * 4, 11 * 4, -21 * 4, 1, -11 * 4, kCacheEmptied, 11 * 4,
                          11 * 4, 11 * 4, -11 * 4, 11 * 4, 2 * 11 * 4, -2 * 11 * 4))
      << "without a bucket";
}

}  // namespace
}  // namespace steelyard::ops
