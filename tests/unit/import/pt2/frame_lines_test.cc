// SPDX-License-Identifier: Apache-2.0

#include "import/pt2/frame_lines.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <string_view>

namespace steelyard::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string LineOfNet(int line, std::string_view code) {
  return "File \"net.py\", line " + std::to_string(line) + ", in forward\n    " +
         std::string(code) + "\n  ";
}

TEST(FrameLines, AStatementNamesWhatItAssigns) {
  EXPECT_THAT(AssignedNames("hidden = self.dense(hidden)"), ElementsAre("hidden"));
  EXPECT_THAT(AssignedNames("a, *b = self.attention("), ElementsAre("a", "b"));
  EXPECT_THAT(AssignedNames("x: torch.Tensor = f()"), ElementsAre("x"));
  EXPECT_THAT(AssignedNames("x += y"), ElementsAre("x"));
  EXPECT_THAT(AssignedNames("x ="), ElementsAre("x"));
}

TEST(FrameLines, OtherLinesNameNothing) {
  for (const char* code : {"", "return x", "self.x = y", "x[0] = y", "x == y", "mask=mask,", "f(x)",
                           "for a, b in c:", "1x = 2", "x", "a,", "if x == 1:", "x:", "x: int"}) {
    EXPECT_THAT(AssignedNames(code), IsEmpty()) << code;
  }
}

TEST(FrameLines, TracesMayBeAnything) {
  FrameLines lines;
  const std::string whole = LineOfNet(3, "x = f(y)") + LineOfNet(4, "return y");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::string_view part = std::string_view(whole).substr(0, i);
    for (const FrameLines::Line& line : lines.of(lines.Read(part))) AssignedNames(line.code);
  }
  EXPECT_EQ(lines.of(lines.Read(whole)).size(), 2U);
}

TEST(FrameLines, ALineOfADictionaryIsHeldUnderItsKey) {
  EXPECT_THAT(AssignedNames("\"full\": mask(x),"), ElementsAre("\"full\""));
  EXPECT_THAT(AssignedNames("\"a text\""), IsEmpty());
}

TEST(FrameLines, TracesHaveInCommonTheLinesThatAllAreAt) {
  const std::string outer = LineOfNet(1, "y = f(x)");
  const std::string first = outer + LineOfNet(2, "a = x"), second = outer + LineOfNet(3, "b = x");
  FrameLines lines;
  const std::array traces{lines.Read(first), lines.Read(second)};
  ASSERT_EQ(lines.of(lines.Common(traces)).size(), 1U);
  EXPECT_EQ(lines.of(lines.Common(traces))[0].code, "y = f(x)");
  EXPECT_THAT(lines.of(lines.Common({})), IsEmpty());
}

TEST(FrameLines, AStatementReadsNamesOfItsRightSide) {
  for (const char* code : {"x = f(x)", "x += y", "x = y.f(x.size(0))", "x = x[1:]"}) {
    EXPECT_TRUE(ReadsName(code, "x")) << code;
  }
  for (const char* code : {"x = f(y)", "x = y.x(z)", "x = f(x=y)", "x = xx + _x", "x"}) {
    EXPECT_FALSE(ReadsName(code, "x")) << code;
  }
}

TEST(FrameLines, SeveralThingsHaveCommasBetweenThem) {
  EXPECT_TRUE(ReturnsSeveral("return a, f(b)"));
  EXPECT_FALSE(ReturnsSeveral("return f(a, b)"));
  EXPECT_FALSE(ReturnsSeveral("x = a, b"));
  EXPECT_TRUE(ComputesSeveral("a, b = f(x), g(x)"));
  EXPECT_FALSE(ComputesSeveral("a, b = f(x, y)"));
  EXPECT_FALSE(ComputesSeveral("a, b"));
}

}  // namespace
}  // namespace steelyard::pt2
