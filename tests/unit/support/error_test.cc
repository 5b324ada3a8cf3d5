// SPDX-License-Identifier: Apache-2.0
#include "steelyard/error.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace steelyard {
namespace {

TEST(ErrorTest, DescribesPlaceMessageAndHintInOneLine) {
  const Error error = InvalidInput("matmul inner dims differ: 768 vs 1024",
                                   "bert.pt2: node \"linear_3\"", "Is the weight transposed?");
  EXPECT_EQ(Describe(error),
            "bert.pt2: node \"linear_3\": matmul inner dims differ: 768 vs 1024. "
            "Is the weight transposed?");
}

TEST(ErrorTest, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(Describe(NotFound("no such file")), "no such file");
  EXPECT_EQ(Describe(NotFound("no such file", "a.pt2")), "a.pt2: no such file");
  EXPECT_EQ(Describe(NotFound("no such file", {}, "Is it mounted?")),
            "no such file. Is it mounted?");
  EXPECT_EQ(Describe(NotFound("", {}, "Try again.")), "Try again.");
}

TEST(ErrorTest, AddsNoFullStopAfterPunctuation) {
  EXPECT_EQ(Describe(UsageError("which one?", {}, "Give --from.")), "which one? Give --from.");
}

TEST(ErrorTest, EachMakerHasItsCode) {
  EXPECT_EQ(InvalidInput("").code, ErrorCode::kInvalidInput);
  EXPECT_EQ(Unsupported("").code, ErrorCode::kUnsupported);
  EXPECT_EQ(NotFound("").code, ErrorCode::kNotFound);
  EXPECT_EQ(UsageError("").code, ErrorCode::kUsage);
  EXPECT_EQ(InternalError("").code, ErrorCode::kInternal);
}

TEST(ErrorTest, WithinPutsTheOuterPlaceFirst) {
  EXPECT_EQ(Within("a.pt2", InvalidInput("bad", "node 3")).where, "a.pt2: node 3");
  EXPECT_EQ(Within("a.pt2", InvalidInput("bad")).where, "a.pt2");
  EXPECT_EQ(Within("", InvalidInput("bad", "node 3")).where, "node 3");
}

Status Check(bool good) {
  if (!good) return Unexpected(InvalidInput("not good"));
  return {};
}

Result<std::unique_ptr<int>> Make(int value) {
  if (value < 0) return Unexpected(InvalidInput("negative", std::to_string(value)));
  return std::make_unique<int>(value);
}

// Goes through both macros; the second assigns to a variable that exists already.
Result<int> Sum(int a, int b) {
  SY_RETURN_IF_ERROR(Check(a != 13));
  SY_ASSIGN_OR_RETURN(const auto first, Make(a));
  std::unique_ptr<int> second;
  SY_ASSIGN_OR_RETURN(second, Make(b));
  return *first + *second;
}

TEST(ErrorTest, MacrosPassValuesOn) { EXPECT_EQ(Sum(2, 3).value(), 2 + 3); }

TEST(ErrorTest, MacrosPassErrorsOn) {
  EXPECT_EQ(Sum(13, 0).error(), InvalidInput("not good"));
  EXPECT_EQ(Sum(-1, 0).error(), InvalidInput("negative", "-1"));
  EXPECT_EQ(Sum(1, -2).error(), InvalidInput("negative", "-2"));
}

}  // namespace
}  // namespace steelyard
