// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "../temporary.h"
#include "captured.h"

namespace steelyard::cli {
namespace {

TEST(OutputTest, AFileHoldsTheTextAndNothingElse) {
  const std::string path = WriteTemporary("report", "something longer, before");
  ASSERT_TRUE(WriteFile(path, "report\n"));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "report\n");
}

TEST(OutputTest, APlaceThatDoesNotExistIsNamed) {
  const Status status = WriteFile("/no/such/folder/report.json", "report");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(
      Describe(status.error()),
      "/no/such/folder/report.json: cannot be written: No such file or directory. Name a file, "
      "in a folder that exists, which you may write.");
}

TEST(OutputTest, AFullDiskIsNoticed) {
  const Status status = WriteFile("/dev/full", "report");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("No space left"));
}

}  // namespace
}  // namespace steelyard::cli
