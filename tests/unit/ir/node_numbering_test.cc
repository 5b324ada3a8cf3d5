// SPDX-License-Identifier: Apache-2.0

#include "ir/node_numbering.h"

#include <gtest/gtest.h>

#include <string_view>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

constexpr std::string_view kText =
    "input %x: f32[2]\n"
    "%y: f32[2] = higher_order::wrap(@g, %x)\n"
    "%z: f32[2] = aten::relu(%y)\n"
    "return %z\n"
    "graph @e(%a: f32[2]) {\n  return %a\n}\n"
    "graph @g(%b: f32[2]) {\n  %c: f32[2] = aten::tanh(%b)\n  return %c\n}\n";

TEST(NodeNumbering, NumbersTheGraphsOneAfterAnother) {
  const Result<Program> program = ParseText(kText, "");
  ASSERT_TRUE(program) << Describe(program.error());
  const NodeNumbering numbering(*program);
  EXPECT_EQ(numbering.count(), 2u + 0u + 1u);
  EXPECT_EQ(numbering.first(0), 0u);
  for (NodeId number = 0; number < numbering.count(); ++number) {
    const GraphId graph = numbering.graph(number);
    EXPECT_EQ(&numbering.node(number),
              &program->graphs[graph].nodes[number - numbering.first(graph)]);
  }
}

TEST(NodeNumbering, SkipsGraphsWithoutNodes) {
  const Result<Program> program = ParseText(kText, "");
  ASSERT_TRUE(program);
  const NodeNumbering numbering(*program);
  EXPECT_EQ(program->op_name(numbering.node(2).op), "aten::tanh");
}

}  // namespace
}  // namespace steelyard
