// SPDX-License-Identifier: Apache-2.0
//
// One broken program for each rule: a sound one with one thing changed.
#include "ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

constexpr std::string_view kSound = R"(
symbol n: 1..8 = 2
module a
module a.b
frame 1: aten::linear
parameter %w: f32[8,8]
parameter %v: f32[8,8] tied to %w
input %x: f32[n,2*n]
%y: f32[n,8] = aten::linear(%x, [%w, [None]]) in a.b frame 1
%z: f32[n,8] = cond(%y, @1, True)
return %z

graph @1(%p: f32[2]) {
  %q: f32[2] = aten::relu(%p)
  return %q
}
)";

struct Case {
  std::string_view rule;
  std::function<void(Program&)> change;
  std::string_view message;
};

Node& FirstNode(Program& p) { return p.main().nodes[0]; }
// The tensors of kSound in the order of their definitions.
constexpr ValueId kW = 0;
constexpr ValueId kX = 2;
constexpr ValueId kY = 3;

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"packings_are_possible", [](Program& p) { p.parameters[0].packing = 0; }, "no such packing"},
      {"packings_are_possible", [](Program& p) { p.packings.push_back({.bytes = -1}); },
       "negative"},
      {"packings_are_possible",
       [](Program& p) { p.packings = {{.bytes = INT64_MAX}, {.bytes = 1}}; }, "do not fit"},
      {"strings_in_range", [](Program& p) { p.facts.push_back({.name = 9999}); }, "a fact"},
      {"weights_do_not_run", [](Program& p) { p.has_graph = false; }, "weights only"},
      {"has_roots", [](Program& p) { p.modules[0].parent = 1; }, "module 0"},
      {"lists_are_trees", [](Program& p) { FirstNode(p).arguments.count = 1000; }, "outside"},
      {"lists_are_trees",
       [](Program& p) {
         const Argument::Run run = FirstNode(p).arguments;
         p.arguments[run.begin + 1].list = run;  // a list that holds itself
       },
       "before its elements"},
      {"lists_are_trees",
       [](Program& p) {
         const Argument part = Argument::OfFloat(1.0);
         FirstNode(p).arguments = p.AddArguments(
             std::array{Argument::OfComplex(p.AddArguments(std::array{part, part, part}))});
       },
       "two parts"},
      {"strings_in_range", [](Program& p) { p.values[kX].name = 9999; }, "value's name"},
      {"values_in_range", [](Program& p) { p.mutated.push_back(9999); }, "mutated"},
      {"values_in_range", [](Program& p) { p.outputs[0] = 9999; }, "no value 9999"},
      {"node_ids_in_range", [](Program& p) { FirstNode(p).module = 9; }, "module"},
      {"node_ids_in_range", [](Program& p) { FirstNode(p).source = 0; }, "source"},
      {"graphs_are_nested",
       [](Program& p) {
         p.graphs[1].nodes[0].arguments = p.AddArguments(std::array{Argument::OfGraph(1)});
       },
       "within itself"},
      {"graphs_are_nested",
       [](Program& p) {
         p.main().nodes[1].arguments = p.AddArguments(std::array{Argument::OfGraph(7)});
       },
       "no graph @7"},
      {"modules_in_order", [](Program& p) { p.modules[1].parent = 2; }, "parent"},
      {"modules_in_order", [](Program& p) { p.modules[2].path = p.modules[1].path; }, "two"},
      {"frames_in_order", [](Program& p) { p.frames[1].parent = 1; }, "parent"},
      {"symbols_are_distinct", [](Program& p) { p.symbols.push_back(p.symbols[0]); }, "two"},
      {"symbols_are_distinct", [](Program& p) { p.symbols[0].max = 0; }, "range"},
      {"expressions_in_order", [](Program& p) { p.expressions.MakeSymbol(5); }, "symbol"},
      {"expressions_in_order",
       [](Program& p) { p.expressions.Make(ExprOp::kAdd, Dim::Expression(99), Dim(1)); },
       "operand"},
      {"sizes_are_possible", [](Program& p) { p.dims.span(p.values[kW].dims, 1)[0] = -3; },
       "%w: a size or stride is -3"},
      {"sizes_are_possible", [](Program& p) { p.values[kY].dims = 8000; }, "%y: the sizes"},
      {"sizes_are_possible",
       [](Program& p) { p.dims.span(p.values[kY].dims, 1)[0] = Dim::Expression(99).raw(); },
       "%y: no such expression"},
      {"numbers_are_possible",
       [](Program& p) { p.arguments[p.main().nodes[1].arguments.begin + 2].dim = Dim(2); },
       "neither 0 nor 1"},
      {"only_tensors_have_layouts", [](Program& p) { p.values[kX].kind = ValueKind::kInt; },
       "%x has sizes"},
      {"storages_in_range", [](Program& p) { p.values[kX].storage = 999; }, "%x"},
      {"defined_once", [](Program& p) { p.outputs[1] = kY; }, "%y is defined twice"},
      {"defined_before_use", [](Program& p) { std::swap(p.main().nodes[0], p.main().nodes[1]); },
       "%y is not defined before"},
      {"defined_before_use", [](Program& p) { p.graphs[1].outputs = {Argument::OfValue(kY)}; },
       "in this graph"},
      {"named_tensors_have_roles", [](Program& p) { p.values[kW].role = Role::kGradient; },
       "gradient"},
      {"tied_tensors_share", [](Program& p) { p.parameters[1].tied_to = 1; }, "first"},
      {"tied_tensors_share", [](Program& p) { p.values[1].storage = 2; }, "storage"},
      {"releases_are_outputs", [](Program& p) { p.released = {1}; }, "is not what is returned"},
      {"inputs_are_taken", [](Program& p) { p.inputs.push_back(kY); }, "%y is no input"},
  };
  return cases;
}

TEST(Verify, SoundProgramPasses) {
  const Result<Program> program = ParseText(kSound, "");
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_TRUE(Verify(*program));
  EXPECT_TRUE(Verify(Program()));
}

TEST(Verify, EveryRuleFindsItsFault) {
  for (const Case& c : Cases()) {
    Program program = *ParseText(kSound, "");
    c.change(program);
    const Status status = Verify(program);
    ASSERT_FALSE(status) << c.rule << " " << c.message;
    EXPECT_EQ(status.error().code, ErrorCode::kInternal);
    EXPECT_THAT(status.error().message, ::testing::HasSubstr("[rule " + std::string(c.rule) + "]"));
    EXPECT_THAT(status.error().message, ::testing::HasSubstr(std::string(c.message)));
  }
}

TEST(Verify, EveryRuleHasACase) {
  std::set<std::string_view> tested;
  for (const Case& c : Cases()) tested.insert(c.rule);
  for (const VerifyRule& rule : VerifyRules()) EXPECT_TRUE(tested.contains(rule.name)) << rule.name;
}

TEST(Verify, AnErrorNamesTheNode) {
  Program program = *ParseText(kSound, "");
  std::swap(program.main().nodes[0], program.main().nodes[1]);
  EXPECT_EQ(Verify(program).error().where, "node 0 (cond)");
}

}  // namespace
}  // namespace steelyard
