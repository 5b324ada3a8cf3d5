// SPDX-License-Identifier: Apache-2.0
//
// Nodes that are alike have one number, by which runtimes and analyses know them.

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {
namespace {

std::vector<Node> EmittedNodesOf(std::string_view text) {
  const Result<Program> program = ParseText(text, "test.syt");
  EXPECT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  std::vector<Node> nodes;
  for (const Node& node : kernels->main().nodes) {
    if (!kernels->is_drop(node)) nodes.push_back(node);
  }
  return nodes;
}

// Of kernels inside of composites, of whose results no file tells.
TEST(EmitKernel, AlikeCallsHaveOneNumber) {
  const std::vector<Node> nodes = EmittedNodesOf(
      "input %x: f32[4,8]\ninput %y: f32[4,8]\ninput %z: f32[2,8]\nparameter %w: f32[3,8]\n"
      "%a = aten::linear(%x, %w)\n%b = aten::linear(%y, %w)\n%c = aten::linear(%z, %w)\n"
      "return %a, %b, %c\n");
  ASSERT_EQ(nodes.size(), 6U);  // each a transposed view and a product
  EXPECT_EQ(nodes[0].kernel, nodes[2].kernel);
  EXPECT_EQ(nodes[0].kernel, nodes[4].kernel);
  EXPECT_NE(nodes[1].kernel, kNoId);
  EXPECT_NE(nodes[1].kernel, nodes[0].kernel);
  EXPECT_EQ(nodes[1].kernel, nodes[3].kernel);
  EXPECT_NE(nodes[1].kernel, nodes[5].kernel);
}

TEST(EmitKernel, WhatDataDecideHasNoNumber) {
  const std::vector<Node> nodes =
      EmittedNodesOf("input %x: f32[4,8]\n%a: i64[32,2] = aten::nonzero(%x)\nreturn %a\n");
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].kernel, kNoId);
}

}  // namespace
}  // namespace steelyard
