// SPDX-License-Identifier: Apache-2.0

#include "import/pt2/frame_walk.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "frames.h"
#include "ir/text_reader.h"

namespace steelyard::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Program Parsed(std::string_view text) {
  Result<Program> program = ParseText(text, "net.txt");
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? *std::move(program) : Program();
}

// Lines speak of the texts that they were read from.
class Traces {
 public:
  std::uint32_t Add(std::string trace) {
    return lines_.Read(texts_.emplace_back(std::move(trace)));
  }
  const FrameLines& lines() const { return lines_; }

 private:
  std::deque<std::string> texts_;
  FrameLines lines_;
};

ValueId MadeBy(const Program& program, std::size_t node) {
  return program.results(program.main().nodes[node])[0];
}

TEST(FrameWalk, AFunctionThatReturnsLetsGoOfItsNames) {
  const Program program = Parsed(
      "input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::neg(%a)\n%c = aten::exp(%b)\n"
      "%d = aten::relu(%c)\nreturn %d\n");
  Traces traces;
  FrameWalk walk(program, program.main(), traces.lines());
  const std::string caller = Frame(9, "y = helper(x)");
  walk.Visit(0, traces.Add(caller + Frame(1, "h = relu(x)", "helper")));
  walk.Visit(1, traces.Add(caller + Frame(2, "g = neg(h)", "helper")));
  walk.Visit(2, traces.Add(caller + Frame(3, "return exp(g)", "helper")));
  EXPECT_THAT(walk.departures(), IsEmpty());
  walk.Visit(3, traces.Add(Frame(10, "return relu(y)")));
  walk.End();
  ASSERT_THAT(walk.departures(), SizeIs(1));
  EXPECT_EQ(walk.departures()[0].node, 2u);
  EXPECT_THAT(walk.departures()[0].values, ElementsAre(MadeBy(program, 0)));  // "g" goes by itself
}

// "h" is the operand, whatever the tracer took it for.
TEST(FrameWalk, ACastThatDidNothingIsTakenForItsOperand) {
  const Program program = Parsed(
      "input %x: f32[8]\n%a = aten::relu(%x)\n%c = aten::to.dtype(%a, f32)\n"
      "%s = aten::neg(%c)\n%d = aten::exp(%c)\nreturn %d, %s\n");
  Traces traces;
  FrameWalk walk(program, program.main(), traces.lines());
  walk.Visit(0, traces.Add(Frame(1, "h = relu(x)")));
  walk.Visit(1, traces.Add(Frame(2, "s = neg(h.to(float))")));
  walk.Visit(2, traces.Add(Frame(2, "s = neg(h.to(float))")));
  walk.Visit(3, traces.Add(Frame(3, "return exp(h), s")));
  walk.End();
  ASSERT_THAT(walk.mistaken(), SizeIs(1));
  EXPECT_EQ(walk.mistaken()[0].node, 2u);
  EXPECT_EQ(walk.mistaken()[0].result, MadeBy(program, 1));
  EXPECT_EQ(walk.mistaken()[0].operand, MadeBy(program, 0));
}

TEST(FrameWalk, FindsTensorsByTheNamesOfTheFile) {
  const Program program = Parsed("input %x: f32[8]\n%a = aten::relu(%x)\nreturn %a\n");
  const ValuesByName by_name(program);
  EXPECT_EQ(by_name.Find("a"), MadeBy(program, 0));
  EXPECT_EQ(by_name.Find("b"), kNoId);
}

TEST(FrameWalk, TheCallAroundTwoIsTheInnermostThatHasBoth) {
  Program program = Parsed("input %x: f32[8]\nreturn %x\n");
  program.calls = {{}, {.parent = 0}, {.parent = 1}, {.parent = 1}, {.parent = 0}};
  EXPECT_EQ(CallAround(program, 2, 3), 1u);
  EXPECT_EQ(CallAround(program, 2, 4), 0u);
  EXPECT_EQ(CallAround(program, 2, 2), 2u);
  EXPECT_EQ(CallAround(program, 2, kNoId), kNoId);
}

}  // namespace
}  // namespace steelyard::pt2
