// SPDX-License-Identifier: Apache-2.0
#include "pass/module_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parsed.h"

namespace steelyard {
namespace {

using testing::HasSubstr;

// "first", "last" and path of each stretch.
std::vector<std::string> Places(const Program& program,
                                const std::vector<ModuleStretch>& stretches) {
  std::vector<std::string> places;
  for (const ModuleStretch& stretch : stretches) {
    places.push_back(std::to_string(stretch.first) + "-" + std::to_string(stretch.last) + " " +
                     std::string(program.text(program.modules[stretch.module].path)));
  }
  return places;
}

constexpr std::string_view kNested = R"(module "": Net
module block: Block
module block.fc: Linear
module head: Linear
parameter %w: f32[3,3] "block.fc.weight"
parameter %h: f32[4,3] "head.weight"
input %x: f32[2,3]
%a: f32[2,3] = aten::linear(%x, %w) in block.fc
%b: f32[2,3] = aten::add(%a, %x) in block
%c: f32[2,4] = aten::linear(%b, %h) in head
%loss: f32[] = aten::sum(%c) phase loss
return %loss
)";

TEST(ModuleStretches, ContainEachOtherAsTheModulesDo) {
  const Program program = Parsed(kNested);
  const auto stretches = ModuleStretches(program, 3, "--flag");
  ASSERT_TRUE(stretches) << Describe(stretches.error());
  EXPECT_EQ(Places(program, *stretches),
            (std::vector<std::string>{"0-2 ", "0-1 block", "0-0 block.fc", "2-2 head"}));
}

TEST(ModuleStretches, TakeAndGiveWhatCrossesTheirEdges) {
  const Program program = Parsed(kNested);
  const auto stretches = ModuleStretches(program, 3, "--flag");
  ASSERT_TRUE(stretches);
  const auto made = [&](std::size_t node) {
    return program.results(program.main().nodes[node])[0];
  };
  const ValueId x = program.args(program.main().nodes[0])[0].value;
  const ModuleStretch &block = (*stretches)[1], &layer = (*stretches)[2];
  EXPECT_EQ(block.inputs, std::vector<ValueId>{x});  // no parameter
  EXPECT_EQ(block.outputs, std::vector<ValueId>{made(1)});
  EXPECT_EQ(layer.outputs, std::vector<ValueId>{made(0)});
}

TEST(ModuleStretches, ACallEndsWhereAnotherModulesNodesBegin) {
  const Program program = Parsed(R"(module "": Net
module a: Linear
module b: Linear
input %x: f32[3]
%p: f32[3] = aten::relu(%x) in a
%q: f32[3] = aten::relu(%p) in b
%r: f32[3] = aten::relu(%q) in a
return %r
)");
  const auto stretches = ModuleStretches(program, 3, "--flag");
  ASSERT_TRUE(stretches);
  EXPECT_EQ(Places(program, *stretches),
            (std::vector<std::string>{"0-2 ", "0-0 a", "1-1 b", "2-2 a"}));
}

TEST(ModuleStretches, OfNoNodesAreTheModelsOwn) {
  const Program program = Parsed("input %x: f32[3]\nreturn %x\n");
  const auto stretches = ModuleStretches(program, 0, "--flag");
  ASSERT_TRUE(stretches);
  EXPECT_EQ(stretches->size(), 1u);
}

// Calls are told by the file: a module that is called within another's call, and goes on after it.
TEST(ModuleStretches, CallsThatCrossAreRefused) {
  Program program = Parsed(R"(module "": Net
module a: Linear
module b: Linear
input %x: f32[3]
%p: f32[3] = aten::relu(%x) in a
%q: f32[3] = aten::relu(%p) in b
%r: f32[3] = aten::relu(%q) in a
return %r
)");
  const auto module = [&](std::size_t node) { return program.main().nodes[node].module; };
  program.calls = {{.module = module(0)}, {.module = module(1)}};
  program.main().nodes[0].call = 0;
  program.main().nodes[1].call = 1;
  program.main().nodes[2].call = 0;
  const auto stretches = ModuleStretches(program, 3, "--flag");
  ASSERT_FALSE(stretches);
  EXPECT_THAT(Describe(stretches.error()), HasSubstr("stand among those of \"a\""));
}

}  // namespace
}  // namespace steelyard
