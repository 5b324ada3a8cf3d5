// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/memory_format.h"

#include <gmock/gmock.h>

#include "../calls.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(MemoryFormat, FilesNameIt) {
  EXPECT_EQ(ResultOf("aten::empty_like(f32[8,2]{1,8}, memory_format='contiguous_format')"),
            "f32[8,2]");
  EXPECT_EQ(ResultOf("aten::empty_like(f32[8,2]{1,8}, memory_format='preserve_format')"),
            "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::empty_like(f32[2,3,4,5], memory_format='channels_last')"),
            "f32[2,3,4,5]{60,1,15,3}");
}

TEST(MemoryFormat, SchemasNumberIt) {
  EXPECT_EQ(ResultOf("aten::empty_like(f32[8,2]{1,8}, memory_format=0)"), "f32[8,2]");
  EXPECT_EQ(ResultOf("aten::empty_like(f32[8,2]{1,8}, memory_format=1)"), "f32[8,2]{1,8}");
  EXPECT_EQ(ResultOf("aten::empty_like(f32[2,3,4,5], memory_format=2)"), "f32[2,3,4,5]{60,1,15,3}");
  EXPECT_THAT(RefusalOf("aten::empty_like(f32[2], memory_format=9)"),
              HasSubstr("unknown memory format"));
}

TEST(MemoryFormat, ChannelsLastInThreeDimensions) {
  // Channels innermost: 1, then 3 for the last dimension, 3 * 6, 3 * 6 * 5, 3 * 6 * 5 * 4.
  EXPECT_EQ(ResultOf("aten::empty_like(f32[2,3,4,5,6], memory_format='channels_last_3d')"),
            "f32[2,3,4,5,6]{360,1,90,18,3}");
  EXPECT_THAT(RefusalOf("aten::empty_like(f32[2,3,4], memory_format=2)"),
              HasSubstr("4 or 5 dimensions"));
}

TEST(MemoryFormat, FilesNameOneForImagesAndOneForVolumes) {
  EXPECT_THAT(RefusalOf("aten::clone(f32[2,3,4,5,6], memory_format='channels_last')"),
              HasSubstr("channels_last is of 4 dimensions, not 5"));
  EXPECT_THAT(RefusalOf("aten::contiguous(f32[2,3,4,5], memory_format='channels_last_3d')"),
              HasSubstr("channels_last_3d is of 5 dimensions, not 4"));
  EXPECT_THAT(RefusalOf("aten::empty.memory_format([2,3], memory_format='channels_last')"),
              HasSubstr("channels_last is of 4 dimensions, not 2"));
}

}  // namespace
}  // namespace steelyard
