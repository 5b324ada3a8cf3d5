// SPDX-License-Identifier: Apache-2.0
#include "execute/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(LoadEngine, SaysHowToBuildOneThatIsMissing) {
  const auto engine = LoadEngine("/nowhere/libsteelyard_engine.so");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine.error().where, "/nowhere/libsteelyard_engine.so");
  EXPECT_THAT(engine.error().hint, HasSubstr("cmake --preset engine"));
}

TEST(LoadEngine, RefusesWhatIsNoLibrary) {
  const auto engine = LoadEngine(WriteTemporary("libsteelyard_engine.so", "no library"));
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("the engine cannot be loaded"));
}

TEST(LoadEngine, RefusesAnotherAbi) {
  const auto engine = LoadEngine(OTHER_ENGINE);
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("the engine speaks ABI"));
  EXPECT_THAT(engine.error().hint, HasSubstr("cmake --preset engine"));
}

}  // namespace
}  // namespace steelyard
