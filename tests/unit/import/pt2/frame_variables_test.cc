// SPDX-License-Identifier: Apache-2.0

#include "import/pt2/frame_variables.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exports.h"
#include "ir/text_reader.h"

namespace steelyard::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Frame(int line, std::string_view code, std::string_view function = "forward") {
  return "File \"net.py\", line " + std::to_string(line) + ", in " + std::string(function) +
         "\n    " + std::string(code) + "\n  ";
}

// What a program becomes whose nodes have these traces; an empty one is none. The first call is the
// model's, the others are those of its modules in the list "layers".
std::string Held(std::string_view text, const std::vector<std::string>& traces,
                 const std::vector<CallId>& calls = {}, const ModuleFacts* facts = nullptr) {
  Result<Program> program = ParseText(text, "net.txt");
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return "";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    program->main().nodes[i].call = calls[i];
    while (calls[i] != kNoId && program->calls.size() <= calls[i]) {
      const bool is_root = program->calls.empty();
      Module module{.parent = 0};
      module.path = program->strings.Intern("layers." + std::to_string(program->calls.size()));
      const auto id = static_cast<ModuleId>(is_root ? 0 : program->modules.size());
      if (!is_root) program->modules.push_back(module);
      program->calls.push_back({.module = id, .parent = is_root ? kNoId : CallId{0}});
    }
  }
  FrameLines lines;
  std::vector<std::uint32_t> of_nodes;
  of_nodes.reserve(traces.size());
  for (const std::string& trace : traces) {
    of_nodes.push_back(trace.empty() ? kNoId : lines.Read(trace));
  }
  HoldVariables(*program, lines, of_nodes, facts);
  return BodyOf(*program);
}

constexpr std::string_view kChain =
    "input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::relu(%a)\n%c = aten::relu(%b)\n"
    "%d = aten::relu(%c)\nreturn %d\n";

TEST(FrameVariables, AStatementNamesWhatItAssigns) {
  EXPECT_THAT(AssignedNames("hidden = self.dense(hidden)"), ElementsAre("hidden"));
  EXPECT_THAT(AssignedNames("a, *b = self.attention("), ElementsAre("a", "b"));
  EXPECT_THAT(AssignedNames("x: torch.Tensor = f()"), ElementsAre("x"));
  EXPECT_THAT(AssignedNames("x += y"), ElementsAre("x"));
  EXPECT_THAT(AssignedNames("x ="), ElementsAre("x"));
}

TEST(FrameVariables, OtherLinesNameNothing) {
  for (const char* code : {"", "return x", "self.x = y", "x[0] = y", "x == y", "mask=mask,", "f(x)",
                           "for a, b in c:", "1x = 2", "x", "a,", "if x == 1:", "x:", "x: int"}) {
    EXPECT_THAT(AssignedNames(code), IsEmpty()) << code;
  }
}

TEST(FrameVariables, TracesMayBeAnything) {
  FrameLines lines;
  const std::string whole = Frame(3, "x = f(y)") + Frame(4, "return y");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::string_view part = std::string_view(whole).substr(0, i);
    for (const FrameLines::Line& line : lines.of(lines.Read(part))) AssignedNames(line.code);
  }
  EXPECT_EQ(lines.of(lines.Read(whole)).size(), 2U);
}

TEST(FrameVariables, ANameHoldsUntilItIsGivenAnew) {
  const std::string held = Held(kChain, {Frame(1, "h = f(x)"), Frame(2, "g = f(h)"),
                                         Frame(3, "h = f(g)"), Frame(4, "return f(h)")});
  EXPECT_THAT(held, HasSubstr("%c = aten::relu(%b)\nsteelyard::leave([%a])\n"));
  EXPECT_THAT(held, HasSubstr("%d = aten::relu(%c)\nsteelyard::leave([%b])\n"));
}

TEST(FrameVariables, WhatHasNoNameGoesAsItIsUsed) {
  EXPECT_THAT(Held(kChain, {Frame(1, "y = f(f(x))"), Frame(1, "y = f(f(x))"), Frame(2, "f(y)"),
                            Frame(3, "return f(z)")}),
              Not(HasSubstr("[%a]")));
  EXPECT_THAT(Held(kChain, {"", "", "", ""}), Not(HasSubstr("leave")));
}

TEST(FrameVariables, AFunctionsNamesGoWhenItReturns) {
  const std::string outer = Frame(1, "y = self.inner(x)");
  const std::string held =
      Held(kChain, {outer + Frame(10, "h = f(x)"), outer + Frame(11, "h2 = f(h)"),
                    outer + Frame(12, "return f(h2)"), Frame(2, "return f(y)")});
  EXPECT_THAT(held, HasSubstr("= aten::relu(%b)\nsteelyard::leave([%a])\n%d"));
}

// Each call of a module in a loop is a run of its `forward`, though its lines are the same.
TEST(FrameVariables, CallsOfModulesTellRunsApart) {
  const std::string one = Frame(1, "x = layer(x)") + Frame(10, "h = f(x)");
  const std::string two = Frame(1, "x = layer(x)") + Frame(11, "return f(h)");
  const std::string held = Held(kChain, {one, two, one, two}, {1, 1, 2, 2});
  EXPECT_THAT(held, Not(HasSubstr("[%a]")));
  EXPECT_THAT(held, HasSubstr("%d = aten::relu(%c)\nsteelyard::leave([%b])\n"));  // the first x
}

// The second layer's call begins where the first layer's result has been given the name.
TEST(FrameVariables, EachTurnOfALoopGivesItsNamesAnew) {
  const auto held = [](std::string_view code) {
    const std::string loop = Frame(2, code);
    const std::string first = loop + Frame(10, "h = f(x)"), last = loop + Frame(11, "return f(h)");
    return Held(kChain, {Frame(1, "x = f(x)"), first, last, first}, {0, 1, 1, 2});
  };
  const std::string_view given = "%c = aten::relu(%b)\nsteelyard::leave([%a])\n";
  EXPECT_THAT(held("x = layer(x)"), HasSubstr(given));
  EXPECT_THAT(held("x = self.layers[0](x) + self.layers[1](x)"), Not(HasSubstr(given)));
}

TEST(FrameVariables, ResultsOfAStatementHaveItsNamesInTheirOrder) {
  const std::string both = Frame(1, "a, b = f(x), g(x)");
  EXPECT_THAT(Held("input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::tanh(%x)\n"
                   "%c = aten::add.Tensor(%a, %b)\n%d = aten::relu(%c)\nreturn %d\n",
                   {both, both, Frame(2, "b = a + b"), Frame(3, "return f(b)")}),
              HasSubstr("%d = aten::relu(%c)\nsteelyard::leave([%a])\n"));
}

// The tracer takes x.float() for x from then on, where x is of float32: here the function that
// casts gives a loss back, and what is returned besides is what was cast.
TEST(FrameVariables, ACastThatDidNothingIsNotWhatIsMeantOutside) {
  const std::string loss = Frame(2, "loss = self.loss(x)");
  const std::string held = Held(
      "input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::to.dtype(%a, f32)\n"
      "%c = aten::sum(%b)\n%d = aten::relu(%b)\nreturn %c, %b\n",
      {Frame(1, "x = f(x)"), loss, loss, Frame(3, "y = f(x)")});
  EXPECT_THAT(held, HasSubstr("%d = aten::relu(%a)"));
  EXPECT_THAT(held, HasSubstr("return %c, %a"));
  EXPECT_THAT(held, HasSubstr("aten::sum(%b)"));
}

TEST(FrameVariables, ACastThatIsReturnedIsMeant) {
  const std::string outer = Frame(1, "y = self.norm(x)");
  EXPECT_THAT(Held("input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::to.dtype(%a, f32)\n"
                   "%c = aten::relu(%b)\nreturn %c\n",
                   {outer + Frame(9, "h = f(x)"), outer + Frame(10, "return h.to(dtype)"),
                    Frame(2, "return f(y)")}),
              HasSubstr("= aten::relu(%b)"));
}

// As of "aten::item", whose number a file may say that nobody has.
TEST(FrameVariables, AResultMayBeNone) {
  Result<Program> program = ParseText(kChain, "net.txt");
  ASSERT_TRUE(program);
  program->main().outputs.clear();
  program->outputs[program->main().nodes.back().outputs.begin] = kNoId;
  const std::vector<std::uint32_t> traces(4, kNoId);
  HoldVariables(*program, FrameLines(), traces);
  EXPECT_EQ(program->main().nodes.size(), 4U);
}

// --- Where the module is at hand
// ------------------------------------------------------------------

std::string Told(std::string_view text, const ModuleFacts& module) {
  return Held(text, {"", "", "", ""}, {}, &module);
}

TEST(FrameVariables, WhatIsToldCounts) {
  const std::string held = Told(kChain, {.let_go = {{{.node = 2, .values = {"a", "x", "none"}}}}});
  EXPECT_THAT(held, HasSubstr("%c = aten::relu(%b)\nsteelyard::leave([%a, %x])\n%d"));
}

// Whether it is used later or not, and before what goes there with the functions around it.
TEST(FrameVariables, ACheckpointHasWhatItIsGivenToItsEnd) {
  const std::string held = Told(kChain, {.let_go = {{{.node = 2, .values = {"a"}}}},
                                         .given = {{.node = 2, .values = {"c", "b"}}}});
  EXPECT_THAT(held, HasSubstr("%c = aten::relu(%b)\nsteelyard::leave([%c, %b])\n"
                              "steelyard::leave([%a])\n%d"));
}

TEST(FrameVariables, ValuesBeginToRequireGradients) {
  const std::string held = Told(kChain, {.let_go = {std::vector<ModuleFacts::LetGo>()},
                                         .requires_gradient = {{.before = 1, .value = "x"},
                                                               {.before = 2, .value = "b"},
                                                               {.before = 9, .value = "d"},
                                                               {.before = 9, .value = "none"}}});
  EXPECT_THAT(held, HasSubstr("%a = aten::relu(%x)\nsteelyard::require_gradient(%x)\n%b"));
  EXPECT_THAT(held, HasSubstr("%b = aten::relu(%a)\nsteelyard::require_gradient(%b)\n%c"));
  EXPECT_THAT(held, HasSubstr("%d = aten::relu(%c)\nsteelyard::require_gradient(%d)\nreturn"));
}

TEST(FrameVariables, ACastThatDidNothingGoesWithItsOperand) {
  constexpr std::string_view kCast =
      "input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::to.dtype(%a, f32, False, copy=";
  constexpr std::string_view kRest = ")\n%c = aten::relu(%b)\n%d = aten::relu(%c)\nreturn %d\n";
  const auto held = [&](std::string_view copy) {
    return Told(std::string(kCast).append(copy).append(kRest),
                {.let_go = {{{.node = 3, .values = {"b"}}}}});
  };
  EXPECT_THAT(held("False"), HasSubstr("steelyard::leave([%a])"));
  EXPECT_THAT(held("True"), HasSubstr("steelyard::leave([%b])"));
}

}  // namespace
}  // namespace steelyard::pt2
