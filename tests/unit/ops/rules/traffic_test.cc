// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/traffic.h"

#include <gtest/gtest.h>

#include "../events.h"

namespace steelyard {
namespace {

TEST(Traffic, BytesAreThoseOfTheElements) {
  Program program;
  const TensorView expanded(program,
                            program.AddTensor(kNoString, DType::kFloat32, Dims{2, 3}, Dims{0, 1}));
  EXPECT_EQ(traffic::Bytes(expanded), Count(2 * 3 * 4));
  const TensorView packed(program, program.AddTensor(kNoString, DType::kInt4, Dims{3}, Dims{1}));
  EXPECT_EQ(traffic::Bytes(packed), Count(2));
}

TEST(Traffic, ListsOfOperandsAreReadToo) {
  const Traffic cat = TrafficOf("aten::cat([f32[2,8], f32[3,8]], 0)");
  EXPECT_EQ(cat.read, Count(2 * 8 * 4 + 3 * 8 * 4));
  EXPECT_EQ(cat.written, Count(5 * 8 * 4));
}

TEST(Traffic, ViewsMoveNothing) {
  EXPECT_EQ(TrafficOf("aten::view(f32[2,6], [3,4])").read, Count(0));
  EXPECT_EQ(TrafficOf("aten::view(f32[2,6], [3,4])").written, Count(0));
}

TEST(Traffic, ACopyReadsWhatItWrites) {
  const Traffic copy = TrafficOf("aten::copy_(f32[3,4], f32[4])");
  EXPECT_EQ(copy.read, copy.written);
}

}  // namespace
}  // namespace steelyard
