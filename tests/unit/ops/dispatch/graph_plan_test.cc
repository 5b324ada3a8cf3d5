// SPDX-License-Identifier: Apache-2.0

#include "ops/dispatch/graph_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "ir/text_reader.h"
#include "steelyard/builder.h"

namespace steelyard {
namespace {

// The names of what dies after each node: "x;y,z".
std::string Deaths(const Program& program, const Graph& graph,
                   Variables variables = Variables::kGenerated) {
  const GraphPlan plan(program, graph, variables);
  std::string out;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (i > 0) out += ";";
    std::string_view comma;
    for (ValueId id : plan.DeathsAfter(i)) {
      out.append(comma).append(program.text(program.values[id].name));
      comma = ",";
    }
  }
  return out;
}

TEST(GraphPlan, LocalsDieAfterTheirLastUseInTheOrderOfItsArguments) {
  const Result<Program> p = ParseText(
      "input %x: f32[2]\n%a: f32[2] = aten::relu(%x)\n%b: f32[2] = aten::tanh(%x)\n"
      "%c: f32[2] = aten::add.Tensor(%b, %a)\nreturn %c\n",
      "");
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_EQ(Deaths(*p, p->main()), ";x;b,a");
}

TEST(GraphPlan, AResultThatNobodyUsesDiesAfterItsOwnNode) {
  const Result<Program> p = ParseText(
      "input %x: f32[2]\n%a: f32[2] = aten::relu(%x)\n%b: f32[2] = aten::tanh(%x)\nreturn %b\n",
      "");
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_EQ(Deaths(*p, p->main()), "a;x");
}

TEST(GraphPlan, UnusedResultsDieWithTheirTupleFromItsEndButTheLastAfterIt) {
  const Result<Program> p = ParseText(
      "input %x: f32[2,3,4,4]\n%y, %a, %b, %c = made_up::four(%x)\n"
      "%z: f32[2] = aten::relu(%y)\nreturn %z\n",
      "");
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_EQ(Deaths(*p, p->main()), "x,b,a,c;y");
}

// A block that calls two layers one after the other, each of two operators.
Program TwoLayers() {
  Builder b("M");
  Builder::Tensor x = b.Call("aten::abs", b.Input("x", DType::kFloat32, {4}));
  {
    const Builder::Scope block = b.Enter("block", "Block");
    for (const char* name : {"first", "second"}) {
      const Builder::Scope layer = b.Enter(name, "Layer");
      x = b.Call("aten::relu", b.Call("aten::tanh", x));
    }
  }
  b.Return(b.Call("aten::neg", x));
  return std::move(b).Build().value();
}

TEST(GraphPlan, AModulesArgumentsLiveUntilItsCallReturns) {
  const Program p = TwoLayers();
  EXPECT_EQ(Deaths(p, p.main()), "x;abs;tanh;relu;tanh_1;relu_1");
  EXPECT_EQ(Deaths(p, p.main(), Variables::kModules), ";;tanh;;tanh_1,relu,abs;relu_1,x");
}

TEST(GraphPlan, KnowsTheRangeOfAGraphsValues) {
  const Result<Program> p = ParseText(
      "input %x: f32[2]\n%y: f32[2] = higher_order::wrap(@g, %x)\nreturn %y\n"
      "graph @g(%b: f32[2]) {\n  %c: f32[2] = aten::tanh(%b)\n  return %c\n}\n",
      "");
  ASSERT_TRUE(p) << Describe(p.error());
  const GraphPlan main(*p, p->main(), Variables::kGenerated);
  const GraphPlan inner(*p, p->graphs[1], Variables::kGenerated);
  EXPECT_EQ(main.count(), 2u);
  EXPECT_EQ(inner.count(), 2u);
  EXPECT_FALSE(main.Has(inner.first()));
  EXPECT_FALSE(inner.Has(main.first()));
}

}  // namespace
}  // namespace steelyard
