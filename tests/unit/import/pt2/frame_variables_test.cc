// SPDX-License-Identifier: Apache-2.0

#include "import/pt2/frame_variables.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exports.h"
#include "frames.h"
#include "ir/text_printer.h"
#include "ir/text_reader.h"

namespace steelyard::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
  HoldVariables(*program, lines, {of_nodes}, facts);
  return BodyOf(*program);
}

constexpr std::string_view kChain =
    "input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::relu(%a)\n%c = aten::relu(%b)\n"
    "%d = aten::relu(%c)\nreturn %d\n";

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

constexpr std::string_view kFork =
    "input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::tanh(%x)\n"
    "%c = aten::add.Tensor(%a, %b)\n%d = aten::relu(%c)\nreturn %d\n";

// A frame of Python lets its arguments go first, then its other variables, each in the place that
// it was given at first.
TEST(FrameVariables, ArgumentsGoFirstAndNamesKeepTheirPlaces) {
  const std::string outer = Frame(9, "y = self.norm(x)");
  EXPECT_THAT(Held(kFork, {outer + Frame(1, "v = f(g)"), outer + Frame(2, "x = f(x)"),
                           outer + Frame(3, "y = f(v, x)"), outer + Frame(4, "return f(y)")}),
              HasSubstr("steelyard::leave([%b, %a])"));
  EXPECT_THAT(Held(kFork, {outer + Frame(1, "v = f(g)"), outer + Frame(2, "x = f(g)"),
                           outer + Frame(3, "y = f(v, x)"), outer + Frame(4, "return f(y)")}),
              HasSubstr("steelyard::leave([%a, %b])"));
}

TEST(FrameVariables, ANameMayHaveATuple) {
  const std::string outer = Frame(1, "both = self.rotary(x)");
  const auto held = [&](std::string_view returned) {
    const std::string line = outer + Frame(9, returned);
    return Held(kFork, {line, line, Frame(2, "y = f(both)"), Frame(3, "return f(y)")});
  };
  EXPECT_THAT(held("return f(x), g(x)"),
              HasSubstr("%d = aten::relu(%c)\nsteelyard::leave([%a, %b])"));
  EXPECT_THAT(held("return f(x, g(x))"), HasSubstr("%d = aten::relu(%c)\nsteelyard::leave([%b])"));
}

// A block gives its output, which it computes last, and a bias; the next one gives the bias back.
TEST(FrameVariables, AModuleReturnsFirstWhatItComputesLast) {
  const std::string first = Frame(1, "h, bias = self.first(x)");
  const std::string held = Held(
      "input %x: f32[8]\n%a = aten::relu(%x)\n%b = aten::tanh(%x)\n"
      "%c = aten::add.Tensor(%a, %b)\n%d = aten::relu(%c)\n%e = aten::relu(%d)\nreturn %e\n",
      {first + Frame(9, "b = f(x)"), first + Frame(10, "return f(x), b"),
       Frame(2, "h, bias = self.second(h, bias)") + Frame(9, "return f(x, b)"),
       Frame(3, "h = f(h)"), Frame(4, "return f(h)")});
  EXPECT_THAT(held, HasSubstr("%e = aten::relu(%d)\nsteelyard::leave([%a])"));
}

TEST(FrameVariables, LabelsThatAreShiftedLiveAsLongAsTheLossRuns) {
  const auto held = [](std::string_view code) {
    return Held(
        "input %x: i64[8]\n%a = aten::pad(%x, [0, 1])\n%b = aten::slice.Tensor(%a, 0, 1)\n"
        "%c = aten::clone(%b)\n%d = aten::sum(%c)\nreturn %d\n",
        std::vector<std::string>(4, Frame(1, code)));
  };
  EXPECT_THAT(held("loss = self.loss_function("),
              HasSubstr("%d = aten::sum(%c)\nsteelyard::leave([%a])"));
  EXPECT_THAT(held("loss = self.other("), Not(HasSubstr("leave")));
}

// Of attention that computes them, through the modules that return them.
TEST(FrameVariables, WeightsOfAttentionAreReturnedThoughNobodyWantsThem) {
  const std::string layer = Frame(5, "h = self.layer(x)"),
                    attention = Frame(1, "h, _ = self.attn(x)");
  const std::string inside = layer + attention + Frame(9, "out, weights = attention_interface(");
  const std::string held = Held(
      "input %x: f32[8,8]\n%a = aten::relu(%x)\n%b = aten::matmul(%a, %x)\n"
      "%c = aten::relu(%b)\n%d = aten::relu(%c)\nreturn %d\n",
      {inside, inside, layer + Frame(2, "return f(h)"), Frame(6, "return f(h)")});
  EXPECT_THAT(held, HasSubstr("%c = aten::relu(%b)\nsteelyard::leave([%a])\n%d"));
}

// A graph that a node runs, such as that of a function without gradients, has functions of its own.
TEST(FrameVariables, FunctionsOfGraphsHoldWhatTheirVariablesHold) {
  Result<Program> program = ParseText(
      "input %y: f32[8]\n"
      "graph @body(%x: f32[8]) {\n  %a: f32[8] = aten::relu(%x)\n  %b: f32[8] = aten::relu(%a)\n"
      "  %c: f32[8] = aten::relu(%b)\n  return %b, %c\n}\n"
      "%d: f32[8], %e: f32[8] = higher_order::wrap_with_set_grad_enabled(False, @body, %y)\n"
      "%f: f32[8] = aten::add.Tensor(%d, %e)\n%g: f32[8] = aten::relu(%f)\nreturn %g\n",
      "net.txt");
  ASSERT_TRUE(program) << Describe(program.error());
  const std::string outer = Frame(1, "both = self.rotary(x)");
  const std::vector<std::string> body{outer + Frame(9, "a = f(x)"), outer + Frame(10, "b = f(a)"),
                                      outer + Frame(11, "return b, f(b)")};
  const std::string sum = Frame(2, "f = g(both)"), last = Frame(3, "return f(f)");
  FrameLines lines;
  TracesOfGraphs traces(2);
  for (const std::string& trace : body) traces[1].push_back(lines.Read(trace));
  traces[0] = {kNoId, lines.Read(sum), lines.Read(last)};
  HoldVariables(*program, lines, traces);
  const std::string text = Print(*program);
  EXPECT_THAT(text, HasSubstr("= aten::relu(%b)\n  steelyard::leave([%a])"));
  EXPECT_THAT(text, HasSubstr("= aten::relu(%f)\nsteelyard::leave([%d, %e])"));
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
  FrameLines lines;
  HoldVariables(*program, lines, {traces});
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
