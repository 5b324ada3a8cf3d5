// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/metadata.h"

#include <gtest/gtest.h>

#include <string>

namespace steelyard::pt2 {
namespace {

std::string PathOf(const Program& program, ModuleId id) {
  return std::string(program.text(program.modules[id].path));
}

TEST(ModulePaths, AreThoseOfNamedModules) {
  EXPECT_EQ(ModulePath(""), "");
  EXPECT_EQ(ModulePath("bert.encoder.layer.0"), "bert.encoder.layer.0");
  EXPECT_EQ(ModulePath("bert.encoder.layer.0@1"), "bert.encoder.layer.0");
  EXPECT_EQ(ModulePath("mail@home"), "mail@home");
}

TEST(ModulePaths, AreReadFromPythonExpressions) {
  EXPECT_EQ(ModulePath("L['self']"), "");
  EXPECT_EQ(ModulePath("L['s'].b[0].qkv"), "b.0.qkv");
  EXPECT_EQ(ModulePath("L['self'].experts['first'].w"), "experts.first.w");
  EXPECT_EQ(ModulePath("L['self']._modules['layer']._modules['0']"), "layer.0");
  EXPECT_EQ(ModulePath("getattr(L['self'].layer1, '0').conv"), "layer1.0.conv");
  EXPECT_EQ(ModulePath("getattr(getattr(L['self'].a, '1').b, '2')"), "a.1.b.2");
  // Cut anywhere, they are only not understood.
  const std::string whole = "getattr(getattr(L['self'].a, '1').b['x'], '2').c";
  for (std::size_t i = 0; i < whole.size(); ++i) ModulePath(whole.substr(0, i));
}

TEST(ModuleStacks, AddsModulesParentsFirst) {
  Program program;
  ModuleStacks stacks(program);
  const ModuleId id = stacks.Read(
      "L__self__,,my.Net;L__self__encoder,encoder,my.Encoder;"
      "L__self__encoder.layer.0,encoder.layer.0,my.Layer");
  EXPECT_EQ(PathOf(program, id), "encoder.layer.0");
  EXPECT_EQ(program.text(program.modules[id].class_name), "my.Layer");
  ASSERT_EQ(program.modules.size(), 3u);
  EXPECT_EQ(PathOf(program, program.modules[id].parent), "encoder");
  EXPECT_EQ(program.modules[1].parent, 0u);
  EXPECT_EQ(program.text(program.modules[0].class_name), "my.Net");
}

TEST(ModuleStacks, FindsModulesAgain) {
  Program program;
  ModuleStacks stacks(program);
  const ModuleId a = stacks.Read("L__self__,,my.Net;k,a,my.A");
  EXPECT_EQ(stacks.Read("L__self__,,my.Net;k,a,my.A"), a);
  EXPECT_EQ(stacks.Read("L__s___a,L['self'].a,my.A"), a);
  EXPECT_EQ(stacks.Read("L__self__,,my.Net;k@1,a@1,my.A"), a);
  EXPECT_EQ(stacks.Read("L__self__,,my.Net"), 0u);
  EXPECT_EQ(program.modules.size(), 2u);
}

TEST(ModuleStacks, TellsCallsOfOneModuleApart) {
  Program program;
  ModuleStacks stacks(program);
  const auto call = [&](std::string_view stack) {
    stacks.Read(stack);
    return stacks.last_call();
  };
  const CallId first = call("L__self__,,my.Net;k,a,my.A");
  EXPECT_EQ(call("L__self__,,my.Net;k,a,my.A"), first);
  const CallId second = call("L__self__,,my.Net;k@1,a,my.A");
  EXPECT_NE(second, first);
  EXPECT_EQ(program.calls[second].module, program.calls[first].module);
  // Within the second call.
  const CallId inner = call("L__self__,,my.Net;k@1,a,my.A;i@1,a.b,my.B");
  EXPECT_EQ(program.calls[inner].parent, second);
  EXPECT_EQ(call(""), kNoId);
}

TEST(ModuleStacks, PutsModulesWhereTheirPathsSay) {
  Program program;
  ModuleStacks stacks(program);
  stacks.Read("L__self__,,my.Net;k,shared,my.Shared");
  // Called from "other", but a part of "shared".
  const ModuleId part = stacks.Read("L__self__,,my.Net;k,other,my.Other;k,shared.x.part,my.Part");
  EXPECT_EQ(PathOf(program, program.modules[part].parent), "shared");
}

TEST(ModuleStacks, SplitsOutsideOfBracketsOnly) {
  Program program;
  ModuleStacks stacks(program);
  const ModuleId id = stacks.Read("key,getattr(L['self'].layer, '0'),my.Layer");
  EXPECT_EQ(PathOf(program, id), "layer.0");
  EXPECT_EQ(program.text(program.modules[id].class_name), "my.Layer");
}

TEST(ModuleStacks, TakesWhatIsNoStackForTheModel) {
  Program program;
  ModuleStacks stacks(program);
  const std::string marker = "_empty_nn_module_stack_from_metadata_hook";
  for (const std::string& text :
       {std::string(), std::string("nonsense"), std::string(";;"),
        marker + "," + marker + "," + marker, "k," + std::string(5000, '.') + ",C"}) {
    EXPECT_EQ(stacks.Read(text), 0u) << text;
  }
  EXPECT_EQ(program.modules.size(), 1u);
}

// "file:line function code" of the line a trace comes to; "" for none.
std::string LineOf(std::string_view trace) {
  Program program;
  StackTraces traces(program);
  const SourceId id = traces.Read(trace);
  if (id == kNoId) return "";
  const SourceLine& line = program.sources[id];
  return std::string(program.text(line.file)) + ":" + std::to_string(line.line) + " " +
         std::string(program.text(line.function)) + " " + std::string(program.text(line.code));
}

constexpr char kModelFrame[] =
    "File \"transformers/models/bert/modeling_bert.py\", line 99, in forward\n"
    "    x = self.embed(ids)\n";

TEST(StackTraces, TakesTheInnermostLineOutsideOfTorch) {
  EXPECT_EQ(LineOf(std::string(kModelFrame) +
                   "  File \"torch/nn/modules/sparse.py\", line 189, in forward\n"
                   "    return F.embedding("),
            "transformers/models/bert/modeling_bert.py:99 forward x = self.embed(ids)");
  EXPECT_EQ(LineOf(std::string(kModelFrame) +
                   "  File \"/x/site-packages/torch/nn/functional.py\", line 7, in f\n    g()\n"),
            "transformers/models/bert/modeling_bert.py:99 forward x = self.embed(ids)");
  EXPECT_EQ(LineOf(std::string(kModelFrame) +
                   "  File \"/home/me/torch/my_model.py\", line 3, in block\n    return y\n"),
            "/home/me/torch/my_model.py:3 block return y");
}

TEST(StackTraces, FilesOfPackagesAreNamedAsTheyAreImported) {
  EXPECT_EQ(LineOf("File \"/venv/lib/python3.11/site-packages/timm/layers/mlp.py\", line 7, in f\n"
                   "    g()\n"),
            "timm/layers/mlp.py:7 f g()");
  EXPECT_EQ(LineOf("File \"/usr/lib/python3/dist-packages/a/b.py\", line 7, in f\n    g()\n"),
            "a/b.py:7 f g()");
}

TEST(StackTraces, TakesTheInnermostWhereAllIsTorch) {
  EXPECT_EQ(LineOf("File \"torch/a.py\", line 1, in f\n  File \"torch/b.py\", line 2, in g"),
            "torch/b.py:2 g ");
}

TEST(StackTraces, TakesOneLineOfTheCode) {
  EXPECT_EQ(LineOf("File \"a.py\", line 5, in f\n    y = g(\n        x)\n    ^^^^\n"),
            "a.py:5 f y = g(");
}

TEST(StackTraces, KeepsEqualLinesOnce) {
  Program program;
  StackTraces traces(program);
  const std::string longer = std::string(kModelFrame) + "  File \"torch/b.py\", line 2, in g";
  EXPECT_EQ(traces.Read(kModelFrame), traces.Read(longer));
  EXPECT_EQ(program.sources.size(), 1u);
}

TEST(StackTraces, TakesWhatIsNoTraceForNone) {
  for (const char* text : {"", "no trace", "file \"a.py\""}) EXPECT_EQ(LineOf(text), "");
  EXPECT_EQ(LineOf("File \"a.py\""), "a.py:0  ");
  EXPECT_EQ(LineOf("File \"a.py\", line 99999999999999, in f"), "a.py:0 f ");
  const std::string whole = kModelFrame;
  for (std::size_t i = 0; i < whole.size(); ++i) LineOf(whole.substr(0, i));
}

}  // namespace
}  // namespace steelyard::pt2
