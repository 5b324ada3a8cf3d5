// SPDX-License-Identifier: Apache-2.0
#include "import/memory_map.h"

#include <gtest/gtest.h>

#include <utility>

#include "files.h"

namespace steelyard {
namespace {

TEST(MemoryMap, HasTheBytesOfTheFile) {
  const TemporaryFile file(".bin", "some bytes");
  Result<MemoryMap> map = MemoryMap::Open(file.path());
  ASSERT_TRUE(map);
  const MemoryMap moved = *std::move(map);
  EXPECT_EQ(moved.bytes(), "some bytes");
}

TEST(MemoryMap, RefusesWhatIsNotThere) {
  const TemporaryFile file(".bin");
  const Result<MemoryMap> map = MemoryMap::Open(file.path());
  ASSERT_FALSE(map);
  EXPECT_TRUE(map.error().message.starts_with("it cannot be mapped"));
}

}  // namespace
}  // namespace steelyard
