// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "calls.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(Split, LeavesAShorterLastPart) {
  EXPECT_EQ(ResultOf("aten::split.Tensor(f32[7,2], 3)", 0), "f32[3,2]");
  EXPECT_EQ(ResultOf("aten::split.Tensor(f32[7,2], 3)", 2), "f32[1,2]");
  EXPECT_EQ(ResultOf("aten::split.Tensor(f32[7,2], 3)", 3), "None");
  EXPECT_THAT(RefusalOf("aten::split.Tensor(f32[7,2], 0)"), HasSubstr("parts of size 0"));
}

TEST(Split, MayGiveMorePartsThanATensorHasDimensions) {
  std::string parts = "1";
  for (int i = 1; i < 100; ++i) parts += ",1";
  EXPECT_EQ(ResultOf("aten::split_with_sizes(f32[100,2], [" + parts + "])", 99), "f32[1,2]");
}

TEST(Split, LargerPartsComeFirst) {
  EXPECT_EQ(ResultOf("aten::tensor_split.sections(f32[7,2], 3)", 0), "f32[3,2]");
  EXPECT_EQ(ResultOf("aten::tensor_split.sections(f32[7,2], 3)", 2), "f32[2,2]");
  EXPECT_EQ(ResultOf("aten::tensor_split.indices(f32[7,2], [1,4])", 2), "f32[3,2]");
}

TEST(Split, NamedSplitsCutOneDimension) {
  EXPECT_EQ(ResultOf("aten::hsplit.int(f32[6], 3)"), "f32[2]");
  EXPECT_THAT(RefusalOf("aten::vsplit.int(f32[6], 3)"), HasSubstr("too few dimensions"));
}

TEST(Split, ChunksOfNothingAreEmpty) {
  EXPECT_EQ(ResultOf("aten::chunk(f32[0,2], 3)", 2), "f32[0,2]");
  EXPECT_EQ(ResultOf("aten::unsafe_chunk(f32[0,2], 3)", 3), "None");
  EXPECT_EQ(ResultOf("aten::chunk(f32[7,2], 3)", 2), "f32[1,2]");
  EXPECT_THAT(RefusalOf("aten::unsafe_chunk(f32[7,2], 0)"), HasSubstr("0 chunks"));
}

}  // namespace
}  // namespace steelyard
