// SPDX-License-Identifier: Apache-2.0
#include "ir/text_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace steelyard {
namespace {

using ::testing::ElementsAre;

std::string ProgramMistake(std::string_view text) {
  const Result<Program> program = ParseText(text, "f");
  return program ? "none" : program.error().where + ": " + program.error().message;
}

TEST(ParseText, AlmostEverythingMayBeLeftOut) {
  const Result<Program> p = ParseText("input %x: f32[n,8]\n%y = aten::relu(%x)\nreturn %y", "");
  ASSERT_TRUE(p) << Describe(p.error());
  ASSERT_EQ(p->inputs.size(), 1u);
  const Value& x = p->values[p->inputs[0]];
  EXPECT_EQ(x.role, Role::kInput);
  EXPECT_EQ(p->text(p->symbols[0].name), "n");  // declared by its use
  ASSERT_EQ(p->main().nodes.size(), 1u);
  const Value& y = p->values[p->results(p->main().nodes[0])[0]];
  EXPECT_FALSE(y.has_layout);
  EXPECT_EQ(y.role, Role::kOutput);
  ASSERT_TRUE(ParseText("", ""));
}

TEST(ParseText, ParametersTrainUnlessFrozenOrOfIntegers) {
  const Result<Program> p = ParseText(R"(
parameter %w: f32[8] "encoder.w"
parameter %q: i8[8]
parameter %f: f32[8] frozen
parameter %v: f32[8] tied to %w
parameter %w "again" tied to %w
buffer %b: f32[8] non_persistent
)",
                                      "");
  ASSERT_TRUE(p) << Describe(p.error());
  ASSERT_EQ(p->parameters.size(), 5u);
  const auto value = [&](std::size_t i) -> const Value& {
    return p->values[p->parameters[i].value];
  };
  EXPECT_EQ(p->text(p->parameters[0].name), "encoder.w");
  EXPECT_EQ(p->text(p->parameters[1].name), "q");
  EXPECT_TRUE(value(0).requires_grad);
  EXPECT_FALSE(value(1).requires_grad);
  EXPECT_FALSE(value(2).requires_grad);
  EXPECT_EQ(p->parameters[3].tied_to, 0u);
  EXPECT_EQ(value(3).storage, value(0).storage);
  EXPECT_EQ(p->parameters[4].value, p->parameters[0].value);
  EXPECT_FALSE(p->buffers[0].persistent);
  // One each for w, q, f and b.
  EXPECT_EQ(p->storage_count, 4u);
}

TEST(ParseText, GraphsAreNumberedByTheirDefinitions) {
  const Result<Program> p = ParseText(R"(
input %c: bool[]
%y: f32[2] = cond(%c, @no, @yes, [])
return %y

graph @yes(%x: f32[2]) {
  return %x
}
graph @no() {
  %x: f32[2] = aten::zeros([2])
  return %x
}
)",
                                      "");
  ASSERT_TRUE(p) << Describe(p.error());
  ASSERT_EQ(p->graphs.size(), 3u);
  const auto args = p->args(p->main().nodes[0]);
  EXPECT_EQ(args[1].graph, 2u);
  EXPECT_EQ(args[2].graph, 1u);
  EXPECT_EQ(p->graphs[1].inputs.size(), 1u);
  EXPECT_EQ(p->graphs[2].nodes.size(), 1u);
}

TEST(ParseText, OrderOfInputsCanBeGiven) {
  const Result<Program> p =
      ParseText("parameter %w: f32[2]\ninput %x: f32[2]\ntakes %x, %w\nmutates %x\n", "");
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_THAT(p->main().inputs, ElementsAre(p->inputs[0], p->parameters[0].value));
  EXPECT_THAT(p->mutated, ElementsAre(p->inputs[0]));
}

TEST(ParseText, OnlyReturnedResultsAreOutputs) {
  const Result<Program> p = ParseText(R"(input %x: f32[2]
%a: f32[2] = aten::relu(%x)
%b: f32[2] activation = aten::relu(%a)
return %b, %x
)",
                                      "");
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_EQ(p->values[0].role, Role::kInput);
  EXPECT_EQ(p->values[1].role, Role::kActivation);
  EXPECT_EQ(p->values[2].role, Role::kActivation);  // as it says
}

TEST(ParseText, MistakesAreNamedAtTheirPlace) {
  EXPECT_EQ(ProgramMistake("input %x\n"),
            "f:1:9: expected ':' and a type, found the end of the line");
  EXPECT_EQ(ProgramMistake("%y = aten::relu(%x)\n"), "f:1:17: %x is not defined before this line");
  EXPECT_EQ(ProgramMistake("input %x: f32[2]\ninput %x: f32[2]\n"), "f:2:7: %x is defined twice");
  EXPECT_EQ(ProgramMistake("input %x: f32[2] input\nfoo(%x\n"),
            "f:3:1: expected ',' or ')' after an argument, found the end of the file");
  EXPECT_EQ(ProgramMistake("foo() bar\n"), "f:1:7: expected the end of the line, found \"bar\"");
  EXPECT_EQ(ProgramMistake("return\nreturn\n"), "f:2:7: a second `return`");
  EXPECT_EQ(ProgramMistake("return\nfoo()\n"), "f:2:1: a node after `return`");
  EXPECT_EQ(ProgramMistake("foo(@g)\n"), "f:1:5: the graph @g is not defined");
  EXPECT_EQ(ProgramMistake("graph @g() {\n"), "f:2:1: the graph does not end");
  EXPECT_EQ(ProgramMistake("graph @g() {\ninput %x: f32[2]\n}\n"),
            "f:2:1: \"input\" within a graph");
  EXPECT_THAT(ProgramMistake("releases 1\ninput %x: f32[2]\nreturn %x\n"),
              ::testing::HasSubstr("does not name the first results once each"));
  EXPECT_EQ(ProgramMistake("graph @g() {\n}\ngraph @g() {\n}\n"),
            "f:3:7: the graph @g is defined twice");
  EXPECT_EQ(ProgramMistake("foo() phase sideways\n"), "f:1:7: there is no such phase");
  EXPECT_EQ(ProgramMistake("input %x: f32[2]\nparameter %w: f32[2] tied to %x\n"),
            "f:2:30: tied to what is not of the same kind");
}

TEST(ParseText, AnErrorShowsTheLine) {
  const Result<Program> p = ParseText("# a comment\ninput %x: f32[2,8 = 3\n", "model.txt");
  ASSERT_FALSE(p);
  EXPECT_EQ(
      Describe(p.error()),
      "model.txt:2:19: expected ',' or ']' after a size, found \"=\". Sizes are written as in "
      "f32[2,8], strides as in f32[2,8]{1,2}.\n"
      "  input %x: f32[2,8 = 3\n"
      "                    ^");
}

TEST(ParseText, WhatBreaksARuleOfProgramsIsTheTextsFault) {
  const Result<Program> p = ParseText("graph @g() {\n  f(@g)\n}\n", "f");
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(p.error().message, ::testing::HasSubstr("within itself"));
}

}  // namespace
}  // namespace steelyard
