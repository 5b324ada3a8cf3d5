// SPDX-License-Identifier: Apache-2.0
#include "import/weights/cursor.h"

#include <gtest/gtest.h>

#include "../files.h"
#include "headers.h"

namespace steelyard::weights {
namespace {

TEST(Cursor, ReadsNumbersInEitherOrder) {
  const TemporaryFile content(".bin", U32(0x01020304) + U32(0x01020304));
  const Result<File> file = File::Open(content.path());
  ASSERT_TRUE(file);
  Cursor cursor(*file);
  std::uint64_t number = 0;
  ASSERT_TRUE(cursor.Number(4, &number));
  EXPECT_EQ(number, 0x01020304u);
  cursor.set_order(ByteOrder::kBig);
  ASSERT_TRUE(cursor.Number(4, &number));
  EXPECT_EQ(number, 0x04030201u);
  EXPECT_EQ(cursor.rest(), 0);
  EXPECT_FALSE(cursor.Number(1, &number));
}

TEST(Cursor, JumpsBeyondItsWindow) {
  const std::size_t far = 5 * Cursor::kMaxText;
  const TemporaryFile content(".bin", std::string(far, 'x') + "abc" + std::string(far, 'y') + "de");
  const Result<File> file = File::Open(content.path());
  ASSERT_TRUE(file);
  Cursor cursor(*file);
  std::string_view text;
  ASSERT_TRUE(cursor.Text(1, &text));
  ASSERT_TRUE(cursor.Skip(far - 1));
  ASSERT_TRUE(cursor.Text(3, &text));
  EXPECT_EQ(text, "abc");
  ASSERT_TRUE(cursor.Skip(far, 1));
  ASSERT_TRUE(cursor.Text(2, &text));
  EXPECT_EQ(text, "de");
}

TEST(Cursor, DoesNotLeaveTheFile) {
  const TemporaryFile content(".bin", "0123456789");
  const Result<File> file = File::Open(content.path());
  ASSERT_TRUE(file);
  Cursor cursor(*file);
  std::string_view text;
  EXPECT_FALSE(cursor.Skip(11));
  EXPECT_FALSE(cursor.Skip(UINT64_MAX));
  EXPECT_FALSE(cursor.Skip(UINT64_MAX / 2, 8));
  EXPECT_FALSE(cursor.Skip(6, 2));
  EXPECT_FALSE(cursor.Text(11, &text));
  EXPECT_EQ(cursor.position(), 0);
  EXPECT_TRUE(cursor.Skip(5, 2));
}

}  // namespace
}  // namespace steelyard::weights
