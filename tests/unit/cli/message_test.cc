// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <gtest/gtest.h>

#include <array>

namespace steelyard::cli {
namespace {

TEST(MessageTest, OneLineWithPlaceMessageAndHint) {
  EXPECT_EQ(ErrorLine(InvalidInput("the file is empty", "bert.pt2", "Is it complete?")),
            "steelyard: bert.pt2: the file is empty. Is it complete?\n");
}

TEST(MessageTest, WhateverNamesHold) {
  EXPECT_EQ(ErrorLine(InvalidInput("no\nsuch\x1b[2J\tname\x7f")), "steelyard: no such [2J name \n");
  EXPECT_EQ(ErrorLine(InvalidInput("a\xc2\x9b"
                                   "b é")),
            "steelyard: a  b é\n");
}

TEST(MessageTest, OfAHintWithAPictureTheFirstLine) {
  EXPECT_EQ(ErrorLine(InvalidInput("expected ')'", "m.syt:1:7", "Close it.\n  f(\n    ^")),
            "steelyard: m.syt:1:7: expected ')'. Close it.\n");
}

TEST(MessageTest, HoweverLongTheyAre) {
  constexpr std::size_t kLong = 1'000'000;
  constexpr std::size_t kScreen = 4096;
  EXPECT_LT(ErrorLine(InvalidInput(std::string(kLong, 'x'))).size(), kScreen);
}

TEST(MessageTest, ExitStatuses) {
  EXPECT_EQ(ExitStatusOf(ErrorCode::kInvalidInput), 1);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kUnsupported), 1);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kNotFound), 1);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kUsage), 2);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kInternal), 70);
}

}  // namespace
}  // namespace steelyard::cli
