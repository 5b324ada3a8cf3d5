// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

TEST(TerminalTest, WidthIsTheTerminals) {
  EXPECT_EQ(TerminalLook({}, 140).width, 140);
  EXPECT_EQ(TerminalLook({}, 0).width, 80);
  EXPECT_EQ(TerminalLook({.columns = "100"}, 140).width, 100) << "COLUMNS is the user's wish";
  EXPECT_EQ(TerminalLook({.columns = "wide"}, 140).width, 140);
}

TEST(TerminalTest, ColourUnlessItIsForbidden) {
  EXPECT_TRUE(TerminalLook({.term = "xterm"}, 80).colour);
  EXPECT_TRUE(TerminalLook({.no_color = ""}, 80).colour) << "an empty NO_COLOR does not count";
  EXPECT_FALSE(TerminalLook({.no_color = "1"}, 80).colour);
  EXPECT_FALSE(TerminalLook({.term = "dumb"}, 80).colour);
}

TEST(TerminalTest, BlockCharactersUnlessTheLocaleHasNone) {
  EXPECT_TRUE(TerminalLook({}, 80).unicode);
  EXPECT_TRUE(TerminalLook({.locale = "en_US.UTF-8"}, 80).unicode);
  EXPECT_TRUE(TerminalLook({.locale = "C.utf8"}, 80).unicode);
  EXPECT_FALSE(TerminalLook({.locale = "C"}, 80).unicode);
  EXPECT_FALSE(TerminalLook({.locale = "de_DE.ISO-8859-1"}, 80).unicode);
}

}  // namespace
}  // namespace steelyard::cli
