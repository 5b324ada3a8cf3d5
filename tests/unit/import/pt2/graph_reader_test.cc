// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/graph_reader.h"

#include <gmock/gmock.h>

#include <string>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

std::string Relu(std::string_view of) { return Arg("self", TensorNamed(of)); }

TEST(GraphReader, ReadsResultsOfEveryKind) {
  Export e;
  e.Input("x", Meta({2, 8}));
  e.RawNode("torch.ops.aten.split.Tensor", Relu("x"),
            R"({"as_tensors": [{"name": "a"}, {"name": "b"}]})");
  e.RawNode("torch.ops.aten.native_layer_norm_backward.default", Relu("a"),
            TensorNamed("c") + R"(, {"as_none": true}, )" + TensorNamed("d"));
  e.RawNode("torch.ops.aten.sym_size.int", Relu("x"), R"({"as_sym_int": {"as_name": "n"}})");
  e.RawNode("torch.ops.my.sizes.default", Relu("x"),
            R"({"as_sym_int": {"as_int": 3}}, {"as_int": 4})");
  e.RawNode("torch.ops.aten._assert_async.msg", Relu("x"), "");
  e.sym_int_values = "\"n\": " + Expr("s0", 2);
  for (const char* name : {"a", "b", "c", "d"}) e.Tensor(name, Meta({2}));
  e.Return("d");
  EXPECT_EQ(BodyOf(ReadExport(e)),
            "input %x: f32[2,8]\n"
            "\n"
            "%a: f32[2], %b: f32[2] = aten::split.Tensor(self=%x)\n"
            "%c: f32[2], None, %d: f32[2] = aten::native_layer_norm_backward(self=%a)\n"
            "%n: int(s0) = aten::sym_size.int(self=%x)\n"
            "%0: int, %1: int(4) = my::sizes(self=%x)\n"
            "aten::_assert_async.msg(self=%x)\n"
            "return %d\n");
}

TEST(GraphReader, ReadsModulesAndLines) {
  Export e;
  e.Input("x", Meta({2}));
  const std::string metadata =
      R"("nn_module_stack": "L__self__,,Net;L__self__act,act,torch.nn.ReLU", )"
      R"-("stack_trace": "File \"net.py\", line 7, in forward\n    return self.act(x)", )-"
      R"("torch_fn": "relu_1;function.relu")";
  e.Node("torch.ops.aten.relu.default", Relu("x"), "y", Meta({2}), metadata);
  e.Node("torch.ops.aten.relu.default", Relu("y"), "z", Meta({2}), metadata);
  e.Node("torch.ops.aten.relu.default", Relu("z"), "w", Meta({2}), R"("stack_trace": "")");
  const Program program = ReadExport(e.Return("w"));
  const auto& nodes = program.main().nodes;
  EXPECT_EQ(program.text(program.modules[nodes[0].module].path), "act");
  EXPECT_EQ(nodes[1].module, nodes[0].module);
  EXPECT_EQ(nodes[1].source, nodes[0].source);
  ASSERT_THAT(program.sources, SizeIs(1));
  EXPECT_EQ(program.sources[0].line, 7u);
  EXPECT_EQ(program.text(program.sources[0].code), "return self.act(x)");
  EXPECT_EQ(nodes[2].module, 0u);
  EXPECT_EQ(nodes[2].source, kNoId);
}

// {"as_graph": ...} of a graph that applies relu to its input; both go by names of the outer graph.
std::string InnerGraph() {
  Export inner;
  Export::Append(inner.inputs, TensorNamed("x"));
  inner.Tensor("x", Meta({2}));
  inner.Node("torch.ops.aten.relu.default", Relu("x"), "y", Meta({2}));
  Export::Append(inner.outputs, TensorNamed("y"));
  return R"({"as_graph": {"name": "true_graph_0", "graph": )" + inner.Graph() + "}}";
}

TEST(GraphReader, ReadsGraphsWithNamesOfTheirOwn) {
  Export e;
  e.Input("p", Meta({}, 12)).Input("x", Meta({2}));
  e.Node("torch.ops.higher_order.cond",
         Arg("", TensorNamed("p")) + ", " + Arg("", InnerGraph()) + ", " + Arg("", InnerGraph()) +
             ", " + Arg("", R"({"as_tensors": [{"name": "x"}]})"),
         "y", Meta({2}));
  e.Node("torch.ops.aten.relu.default", Relu("y"), "z", Meta({2}));
  const Program program = ReadExport(e.Return("z"));
  ASSERT_THAT(program.graphs, SizeIs(3));
  EXPECT_THAT(program.graphs[1].nodes, SizeIs(1));
  // The names mean the outer values again after the inner graphs.
  const auto args = program.args(program.main().nodes[0]);
  EXPECT_EQ(args[1].graph, 1u);
  EXPECT_EQ(args[2].graph, 2u);
  EXPECT_EQ(program.list(args[3].list)[0].value, program.inputs[1]);
  EXPECT_NE(program.graphs[1].inputs[0], program.inputs[1]);
  EXPECT_EQ(program.args(program.main().nodes[1])[0].value,
            program.results(program.main().nodes[0])[0]);
}

TEST(GraphReader, RefusesGraphsThatAreNestedTooDeeply) {
  std::string nested;
  constexpr int kDepth = 100'000;
  for (int i = 0; i < kDepth; ++i) {
    nested += R"({"as_graph": {"graph": {"nodes": [{"target": "a.b", "inputs": [{"arg": )";
  }
  Export e;
  e.RawNode("torch.ops.higher_order.cond", Arg("g", nested), "");
  EXPECT_THAT(RefusalOf(e), HasSubstr("nested too deeply"));
}

TEST(GraphReader, RefusesUsesThatNothingPrecedes) {
  Export e;
  e.Input("x", Meta({2}));
  e.Node("torch.ops.aten.relu.default", Relu("z"), "y", Meta({2}));
  e.Node("torch.ops.aten.relu.default", Relu("y"), "z", Meta({2}));
  e.Return("z");
  EXPECT_THAT(RefusalOf(e), HasSubstr("node 0 (aten::relu): \"z\" is used before it is computed"));
  Export itself;
  itself.Node("torch.ops.aten.relu.default", Relu("y"), "y", Meta({2})).Return("y");
  EXPECT_THAT(RefusalOf(itself), HasSubstr("\"y\" is used before it is computed"));
  Export list;
  list.RawNode("torch.ops.aten.cat.default", Arg("tensors", R"({"as_tensors": [{"name": "q"}]})"),
               TensorNamed("y"));
  EXPECT_THAT(RefusalOf(list.Tensor("y", Meta({2}))),
              HasSubstr("\"q\" is used but nothing defines it"));
  EXPECT_THAT(RefusalOf(Linear().Return("nowhere")),
              AllOf(HasSubstr("outputs"), HasSubstr("\"nowhere\" is used but nothing defines it")));
}

TEST(GraphReader, RefusesNamesThatAreDefinedTwice) {
  Export e = Linear();
  e.RawNode("torch.ops.aten.relu.default", Relu("x"), TensorNamed("y"));
  EXPECT_THAT(RefusalOf(e),
              HasSubstr("node 1 (aten::relu): outputs[0].as_tensor.name: \"y\" is defined twice"));
  Export inputs;
  inputs.Input("x", Meta({2}));
  Export::Append(inputs.inputs, TensorNamed("x"));
  EXPECT_THAT(RefusalOf(inputs), HasSubstr("\"x\" is defined twice"));
}

TEST(GraphReader, RefusesMalformedNodes) {
  const auto refusal = [](const std::string& node) {
    Export e;
    Export::Append(e.nodes, node);
    return RefusalOf(e);
  };
  EXPECT_THAT(refusal("7"), HasSubstr("node 0: expected an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("the node has no target"));
  EXPECT_THAT(refusal(R"({"target": 7})"), HasSubstr("node 0: target: expected a string"));
  EXPECT_THAT(refusal(R"({"target": ""})"), HasSubstr("the target is empty"));
  EXPECT_THAT(refusal(R"({"target": "a.b", "inputs": {}})"),
              HasSubstr("node 0 (a::b): inputs: expected an array"));
  EXPECT_THAT(refusal(R"({"target": "a.b", "inputs": [{"name": "x"}]})"), HasSubstr("no \"arg\""));
  EXPECT_THAT(refusal(R"({"target": "a.b", "outputs": [{"as_graph": {}}]})"),
              HasSubstr("cannot be defined by \"as_graph\""));
  EXPECT_THAT(refusal(R"({"target": "a.b", "metadata": {"nn_module_stack": 3}})"),
              HasSubstr("metadata.nn_module_stack: expected a string"));
}

TEST(GraphReader, NamesThePlaceWithinInnerGraphs) {
  Export e;
  e.Input("x", Meta({2}));
  e.RawNode("torch.ops.higher_order.cond",
            Arg("", With(InnerGraph(), R"("name": "x"}}, "kind")", R"("name": "q"}}, "kind")")),
            "");
  EXPECT_THAT(RefusalOf(e), HasSubstr("node 0 (higher_order::cond): node 0 (aten::relu): \"q\""));
}

}  // namespace
}  // namespace steelyard::pt2
