// SPDX-License-Identifier: Apache-2.0
#include "import/names.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(Names, AreUtf8) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("encoder.weight"));
  EXPECT_TRUE(IsUtf8("caf\xc3\xa9"));
  EXPECT_FALSE(IsUtf8("caf\xe9"));
  EXPECT_FALSE(IsUtf8("\xed\xa0\x80")) << "half of a pair of UTF-16";
}

TEST(Names, AreShownAsFarAsTheyAreLegible) {
  EXPECT_EQ(NoUtf8("caf\xe9", "m.onnx").message, "text that is not UTF-8: \"caf?\"");
}

TEST(Names, OfAProgramAreAllLookedAt) {
  Program program;
  program.strings.Intern("fine");
  EXPECT_TRUE(WithNamesInUtf8(program, "m.onnx"));
  program.strings.Intern("not\xff");
  const Result<Program> refused = WithNamesInUtf8(program, "m.onnx");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "m.onnx");
}

}  // namespace
}  // namespace steelyard
