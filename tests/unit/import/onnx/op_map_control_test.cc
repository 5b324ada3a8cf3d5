// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

// A result of a graph, of which nothing is declared.
std::string Untyped(const std::string& name) {
  std::string value;
  protozero::pbf_writer(value).add_string(1, name);
  return value;
}

// A body that adds "x", of the graph around it, to what it carries, which it also stacks.
std::string Body() {
  std::string graph;
  protozero::pbf_writer writer(graph);
  writer.add_message(1, NodeText{.op = "Add", .inputs = {"sum", "x"}, .outputs = {"more"}}.bytes());
  writer.add_message(1, NodeText{.op = "Identity", .inputs = {"go"}, .outputs = {"again"}}.bytes());
  for (const char* input : {"step", "go", "sum"}) writer.add_message(11, ValueBytes(input, {}));
  for (const char* output : {"again", "more", "more"}) writer.add_message(12, Untyped(output));
  return graph;
}

std::string CallOf(const char* op) {
  std::string graph;
  protozero::pbf_writer writer(graph);
  writer.add_message(1, NodeText{.op = op, .inputs = {"x"}, .outputs = {"out"}}.bytes());
  writer.add_message(12, Untyped("out"));
  return graph;
}

// Whether "x" is mapped by this or by that, the data tell.
ModelText Chosen(const char* if_true, const char* if_false) {
  ModelText model;
  model.Input("x", {2, 3}).Input("flag", {});
  model.Node({.op = "If",
              .inputs = {"flag"},
              .outputs = {"y"},
              .graphs = {GraphAttribute("then_branch", CallOf(if_true)),
                         GraphAttribute("else_branch", CallOf(if_false))}});
  return model.Output("y");
}

ModelText Looped(std::int64_t times) {
  ModelText model;
  model.Input("x", {2, 3}).Integer("times", times);
  model.Node({.op = "Loop",
              .inputs = {"times", "", "x"},
              .outputs = {"last", "y"},
              .graphs = {GraphAttribute("body", Body())}});
  return model.Output("y");
}

TEST(Control, LoopsRunStepByStep) {
  EXPECT_EQ(CallsOf(Looped(3)), "aten::add.Tensor aten::add.Tensor aten::add.Tensor aten::stack");
  EXPECT_EQ(ResultOf(Looped(3)), "3,2,3");
  EXPECT_EQ(CallsOf(Looped(257)), "onnx::Loop");
}

TEST(Control, BranchesAreChosenWhereTheyCanBe) {
  ModelText model;
  model.Input("x", {2}).Integer("flag", 0);
  model.Node({.op = "If",
              .inputs = {"flag"},
              .outputs = {"y"},
              .graphs = {GraphAttribute("then_branch", CallOf("Relu")),
                         GraphAttribute("else_branch", CallOf("Tanh"))}});
  EXPECT_EQ(CallsOf(model.Output("y")), "aten::tanh");
}

TEST(Control, BranchesThatDataChooseFromAreBothThere) {
  EXPECT_EQ(CallsOf(Chosen("Relu", "Tanh")), "higher_order::cond");
  EXPECT_EQ(ResultOf(Chosen("Relu", "Tanh")), "2,3");
}

TEST(Control, OfBranchesThatGiveOtherDTypesOrRanksTheLargerIsWeighed) {
  EXPECT_EQ(CallsOf(Chosen("Relu", "Shape")), "aten::relu") << "a matrix, not a row";
  EXPECT_EQ(CallsOf(Chosen("Shape", "Relu")), "aten::relu");
}

// A loop over a size, on what `begins` says of whether it goes on, and `again` after each step.
ModelText LoopedOverASize(const char* begins, const NodeText& again) {
  std::string body;
  protozero::pbf_writer writer(body);
  writer.add_message(1, NodeText{.op = "Relu", .inputs = {"state"}, .outputs = {"more"}}.bytes());
  writer.add_message(1, again.bytes());
  for (const char* input : {"step", "go", "state"}) writer.add_message(11, ValueBytes(input, {}));
  for (const char* output : {"again", "more"}) writer.add_message(12, Untyped(output));
  ModelText model;
  model.Input("x", {2, 3}).Input("steps", {"times"}).Integer("first", 0).Integer("two", 2);
  model.Input("flag", {}, kBool);
  model.Node({.op = "Shape", .inputs = {"steps"}, .outputs = {"sizes"}});
  model.Node({.op = "Gather", .inputs = {"sizes", "first"}, .outputs = {"times"}});
  model.Node(
      {.op = "Cast", .inputs = {"first"}, .outputs = {"never"}, .attributes = {Int("to", kBool)}});
  model.Node({.op = "Less", .inputs = {"two", "times"}, .outputs = {"if_many"}});
  model.Node({.op = "Loop",
              .inputs = {"times", begins, "x"},
              .outputs = {"y"},
              .graphs = {GraphAttribute("body", body)}});
  return model.Output("y");
}

const NodeText kAsBefore{.op = "Identity", .inputs = {"go"}, .outputs = {"again"}};

std::size_t StepsOf(const ModelText& model) {
  const Result<Program> program = ImportText(model.bytes());
  return program ? program->main().nodes.size() : 0;
}

bool NotesThatDataEnd(const ModelText& model) {
  const Result<Program> program = ImportText(model.bytes());
  return program && std::ranges::any_of(program->notes, [&](StringId note) {
           return program->text(note).find("ends depends on data") != std::string_view::npos;
         });
}

TEST(Control, ALoopOverASymbolicNumberOfStepsIsABranchForEach) {
  const ModelText model = LoopedOverASize("", kAsBefore);
  const Result<Program> program = ImportText(model.bytes());
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->main().nodes.size(), 64U + 1) << "and one for those after them";
  EXPECT_EQ(program->op_name(program->main().nodes[0].op), "steelyard::if");
  EXPECT_EQ(ResultOf(model), "2,3");
  EXPECT_FALSE(NotesThatDataEnd(model));
}

TEST(Control, ASymbolicNumberOfStepsEndsWithItsCondition) {
  EXPECT_EQ(
      StepsOf(LoopedOverASize("", {.op = "Less", .inputs = {"step", "two"}, .outputs = {"again"}})),
      3U);
  EXPECT_EQ(CallsOf(LoopedOverASize("never", kAsBefore)), "");
  const ModelText of_sizes = LoopedOverASize("if_many", kAsBefore);
  EXPECT_EQ(StepsOf(of_sizes), 65U);
  EXPECT_FALSE(NotesThatDataEnd(of_sizes));
}

TEST(Control, ASymbolicNumberOfStepsThatDataEndIsSaidToBe) {
  EXPECT_TRUE(NotesThatDataEnd(LoopedOverASize("flag", kAsBefore)));
  EXPECT_TRUE(NotesThatDataEnd(
      LoopedOverASize("", {.op = "Identity", .inputs = {"flag"}, .outputs = {"again"}})));
}

TEST(Control, OfALoopThatDataEndOneStepIsWeighed) {
  ModelText model;
  model.Input("x", {2, 3}).Input("times", {});
  model.Node({.op = "Loop",
              .inputs = {"times", "", "x"},
              .outputs = {"last", "y"},
              .graphs = {GraphAttribute("body", Body())}});
  EXPECT_EQ(CallsOf(model.Output("y")), "aten::add.Tensor aten::stack");
  EXPECT_EQ(ResultOf(model), "1,2,3");
}

TEST(Control, ListsAreTakenApart) {
  ModelText model;
  model.Input("x", {7, 2}).Integer("two", 2).Integer("last", -1);
  model.Node({.op = "SplitToSequence", .inputs = {"x", "two"}, .outputs = {"parts"}});
  model.Node({.op = "SequenceAt", .inputs = {"parts", "last"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(ResultOf(model), "1,2");
}

TEST(Control, ListsAreJoined) {
  ModelText model;
  model.Input("x", {2, 3}).Input("z", {4, 3});
  model.Node({.op = "SequenceConstruct", .inputs = {"x", "z"}, .outputs = {"list"}});
  model.Node({.op = "ConcatFromSequence",
              .inputs = {"list"},
              .outputs = {"y"},
              .attributes = {Int("axis", 0)}});
  EXPECT_EQ(ResultOf(model.Output("y")), "6,3");
}

// A running sum along the last dimension, from its end, whose steps stand in the middle.
TEST(Control, AScanGoesAlongAnyDimensionAndBack) {
  std::string body;
  protozero::pbf_writer writer(body);
  writer.add_message(
      1, NodeText{.op = "Add", .inputs = {"sum", "slice"}, .outputs = {"more"}}.bytes());
  for (const char* input : {"sum", "slice"}) writer.add_message(11, ValueBytes(input, {}));
  for (const char* output : {"more", "more"}) writer.add_message(12, Untyped(output));
  const auto scanned = [&](std::int64_t out) {
    ModelText model;
    model.Input("from", {2, 3}).Input("x", {2, 3, 4});
    model.Node({.op = "Scan",
                .inputs = {"from", "x"},
                .outputs = {"last", "y"},
                .attributes = {Int("num_scan_inputs", 1), Ints("scan_input_axes", {-1}),
                               Ints("scan_input_directions", {1}), Ints("scan_output_axes", {out}),
                               Ints("scan_output_directions", {1})},
                .graphs = {GraphAttribute("body", body)}});
    return model.Output("y");
  };
  EXPECT_EQ(ResultOf(scanned(1)), "2,4,3");
  EXPECT_EQ(ResultOf(scanned(-1)), "2,3,4");
  EXPECT_EQ(CallsOf(scanned(3)), "onnx::Scan");  // no such dimension
}

}  // namespace
}  // namespace steelyard::onnx
