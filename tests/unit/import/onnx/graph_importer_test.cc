// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/graph_importer.h"

#include <gtest/gtest.h>

#include "models.h"

namespace steelyard::onnx {
namespace {

TEST(GraphImporter, CarriesUnknownOperatorsWithTheirSizes) {
  ModelText model = OneNode("Nonsense", {{2, 3}});
  EXPECT_EQ(CallsOf(model), "onnx::Nonsense");
  EXPECT_EQ(ResultOf(model), "none");
  EXPECT_EQ(ResultOf(model.Declared("y", {2, "batch"})), "2,?");
}

TEST(GraphImporter, TakesBackWhatATranslationBegan) {
  // The permutation is emitted before the indices turn out to be too deep.
  ModelText model;
  model.Input("x", {3}).Input("index", {2, 2}, kInt64).Declared("y", {2});
  model.Node({.op = "GatherND", .inputs = {"x", "index"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(CallsOf(model), "onnx::GatherND");
}

std::string FunctionBytes(const std::string& name, const std::vector<NodeText>& nodes) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_string(1, name);
  writer.add_string(4, "in");
  writer.add_string(5, "out");
  for (const NodeText& node : nodes) writer.add_message(7, node.bytes());
  writer.add_string(10, "mine");
  return out;
}

TEST(GraphImporter, RunsFunctions) {
  ModelText model;
  model.Input("x", {2, 3});
  const NodeText body{.op = "LeakyRelu",
                      .inputs = {"in"},
                      .outputs = {"out"},
                      .attributes = {{"alpha", std::int64_t{0}, "slope"}}};
  model.Function(FunctionBytes("Activation", {body}));
  model.Node({.op = "Activation",
              .inputs = {"x"},
              .outputs = {"y"},
              .attributes = {Real("slope", 0.25)},
              .domain = "mine"});
  EXPECT_EQ(CallsOf(model.Output("y")), "aten::leaky_relu");
  const Result<Program> program = ImportText(model.bytes());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->args(program->main().nodes[0])[1].real, 0.25);
}

TEST(GraphImporter, RefusesFunctionsThatCallThemselves) {
  ModelText model;
  model.Input("x", {2});
  model.Function(FunctionBytes(
      "Loop", {{.op = "Loop", .inputs = {"in"}, .outputs = {"out"}, .domain = "mine"}}));
  model.Node({.op = "Loop", .inputs = {"x"}, .outputs = {"y"}, .domain = "mine"}).Output("y");
  EXPECT_NE(CallsOf(model).find("functions or graphs are nested too deeply"), std::string::npos);
}

TEST(GraphImporter, RefusesWhatNothingMakes) {
  const ModelText model =
      ModelText().Input("x", {2}).Node({.op = "Add", .inputs = {"x", "later"}, .outputs = {"y"}});
  EXPECT_NE(CallsOf(model).find("it takes \"later\", which nothing before it makes"),
            std::string::npos);
}

}  // namespace
}  // namespace steelyard::onnx
