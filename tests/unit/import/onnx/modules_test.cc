// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/modules.h"

#include <gtest/gtest.h>

#include "models.h"

namespace steelyard::onnx {
namespace {

std::string PathsOf(const std::string& bytes) {
  const NodeProto node(bytes);
  std::string out;
  for (const ModuleStep& step : ModulesOf(node)) {
    out += step.name + (step.class_name.empty() ? "" : ":" + step.class_name) + " ";
  }
  return out;
}

TEST(ModulesOf, ReadsTheNameThatTorchGives) {
  const auto named = [](const std::string& name) {
    return NodeText{.op = "Conv", .name = name}.bytes();
  };
  EXPECT_EQ(PathsOf(named("/layer1/layer1.0/conv1/Conv")), "layer1 0 conv1 ");
  EXPECT_EQ(PathsOf(named("/bert/encoder/layer.0/query/MatMul")), "bert encoder layer.0 query ");
  EXPECT_EQ(PathsOf(named("Conv_3")), "");
  EXPECT_EQ(PathsOf(named("//Conv")), "");
}

TEST(ModulesOf, PrefersTheMetadata) {
  std::string bytes = NodeText{.op = "MatMul", .name = "/other/MatMul"}.bytes();
  const auto add = [&](const std::string& key, const std::string& value) {
    std::string entry;
    protozero::pbf_writer writer(entry);
    writer.add_string(1, key);
    writer.add_string(2, value);
    protozero::pbf_writer(bytes).add_message(9, entry);
  };
  add("pkg.torch.onnx.name_scopes", "['', 'bert', 'bert.layer.0', 'linear_2']");
  add("pkg.torch.onnx.class_hierarchy",
      "['my.Model', 'hub.Bert', 'hub.Layer', 'aten.linear.default']");
  EXPECT_EQ(PathsOf(bytes), "bert:Bert layer.0:Layer ");
}

TEST(ModuleWalk, EntersEachModuleOnce) {
  Builder builder("model");
  {
    ModuleWalk walk(builder);
    for (const char* name : {"/a/b/Relu", "/a/b/Add", "/a/Mul", "/a/b/Relu"}) {
      const std::string bytes = NodeText{.op = "Relu", .name = name}.bytes();
      walk.GoTo(NodeProto(bytes));
    }
  }
  const Result<Program> program = std::move(builder).Build();
  ASSERT_TRUE(program);
  EXPECT_EQ(program->modules.size(), 3U);  // the model, a, a.b
  EXPECT_EQ(program->calls.size(), 4U);    // a.b is called twice
}

}  // namespace
}  // namespace steelyard::onnx
