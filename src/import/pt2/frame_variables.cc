// SPDX-License-Identifier: Apache-2.0
//
// What functions do with variables (frame_walk.h) becomes nodes between those of the program: where
// something goes, and where something requires a gradient. Casts that the tracer took for their
// operands are given back.

#include "import/pt2/frame_variables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "import/pt2/frame_walk.h"
#include "ir/variables.h"

namespace steelyard::pt2 {
namespace {

// Gives uses of mistaken results back to the operands.
class Corrections {
 public:
  Corrections(Program& program, std::span<const FrameWalk::Mistaken> mistaken)
      : program_(program), by_value_(program.values.size(), nullptr) {
    for (const FrameWalk::Mistaken& cast : mistaken) by_value_[cast.result] = &cast;
  }

  void Make(Graph& graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) CorrectRun(graph.nodes[i].arguments, i);
    for (Argument& output : graph.outputs) Correct(output, graph.nodes.size());
  }

 private:
  // `at`: the node that uses it.
  void Correct(Argument& argument, std::size_t at) {
    if (argument.kind == ArgKind::kList) CorrectRun(argument.list, at);
    if (argument.kind != ArgKind::kValue) return;
    const FrameWalk::Mistaken* cast = by_value_[argument.value];
    if (cast != nullptr && at > cast->node) argument.value = cast->operand;
  }
  void CorrectRun(Argument::Run run, std::size_t at) {
    for (std::uint32_t i = 0; i < run.count; ++i) Correct(program_.arguments[run.begin + i], at);
  }

  Program& program_;
  std::vector<const FrameWalk::Mistaken*> by_value_;
};

// What the module holds of its last call goes in, and what it holds of this one goes out.
void AddKept(Program& program, const ModuleFacts& module) {
  const ValuesByName by_name(program);
  Graph& graph = program.main();
  std::unordered_map<std::string_view, ValueId> added;  // what no node stands for
  for (const ModuleFacts::Kept& kept : module.kept) {
    ValueId id = by_name.Find(kept.name);
    if (id == kNoId) {
      const std::array<std::int64_t, 1> sizes{kept.bytes}, strides{1};
      const StringId name = program.strings.Intern(kept.name);
      id = program.AddTensor(name, DType::kUInt8, sizes, strides);
      added.emplace(kept.name, id);
    }
    program.values[id].role = Role::kCache;
    graph.inputs.push_back(id);
  }
  for (const std::string& name : module.keeps) {
    const auto found = added.find(name);
    const ValueId id = found == added.end() ? by_name.Find(name) : found->second;
    if (id == kNoId) continue;
    program.values[id].role = Role::kCache;
    graph.outputs.push_back(Argument::OfValue(id));
  }
}

// Whether a node stands for making what was there before.
bool MakesKept(const Program& program, const Node& node) {
  const std::span<const ValueId> results = program.results(node);
  return results.size() == 1 && results[0] != kNoId &&
         std::ranges::find(program.main().inputs, results[0]) != program.main().inputs.end();
}

Node NodeOf(Program& program, std::string_view op, const Argument& argument, CallId call) {
  Node node;
  node.op = program.AddOpName(op);
  node.arguments = program.AddArguments(std::span(&argument, 1));
  node.outputs = program.AddOutputs({});
  node.call = call;
  if (call != kNoId) node.module = program.calls[call].module;
  return node;
}

Node LeaveNode(Program& program, const FrameWalk::Departure& departure) {
  std::vector<Argument> values;
  values.reserve(departure.values.size());
  for (const ValueId id : departure.values) values.push_back(Argument::OfValue(id));
  return NodeOf(program, kLeaveOp, Argument::OfList(program.AddArguments(values)), departure.call);
}

// What functions of the module do beside calling operators, to be put between the nodes.
class Additions {
 public:
  Additions(Program& program, const ValuesByName& by_name,
            std::span<const ModuleFacts::Requires> required,
            std::span<const FrameWalk::Departure> departures)
      : program_(program), by_name_(by_name), required_(required), departures_(departures) {}

  // `in`: the call that runs when the node does not run yet.
  void Before(std::uint32_t node, CallId in, std::vector<Node>* nodes) {
    for (; !required_.empty() && required_[0].before <= node; required_ = required_.subspan(1)) {
      const ValueId id = by_name_.Find(required_[0].value);
      if (id == kNoId) continue;
      nodes->push_back(NodeOf(program_, kRequireGradientOp, Argument::OfValue(id), in));
    }
  }
  void After(std::uint32_t node, std::vector<Node>* nodes) {
    for (; !departures_.empty() && departures_[0].node == node;
         departures_ = departures_.subspan(1)) {
      nodes->push_back(LeaveNode(program_, departures_[0]));
    }
  }

 private:
  Program& program_;
  const ValuesByName& by_name_;
  std::span<const ModuleFacts::Requires> required_;
  std::span<const FrameWalk::Departure> departures_;
};

// A node that runs a graph under a switch, such as that of gradients, has no trace: it is made
// under what all nodes of the graph are. Graphs that a program has within others come after those.
void TraceBodies(const Program& program, FrameLines& lines, TracesOfGraphs* traces) {
  for (auto id = static_cast<GraphId>(program.graphs.size()); id-- > 0;) {
    std::vector<std::uint32_t>& of_nodes = (*traces)[id];
    const std::vector<Node>& nodes = program.graphs[id].nodes;
    of_nodes.resize(nodes.size(), kNoId);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (of_nodes[i] != kNoId) continue;
      for (const Argument& argument : program.args(nodes[i])) {
        if (argument.kind != ArgKind::kGraph) continue;
        std::vector<std::uint32_t> inner = (*traces)[argument.graph];
        std::erase(inner, kNoId);
        if (!inner.empty()) of_nodes[i] = lines.Common(inner);
        break;
      }
    }
  }
}

void HoldInGraph(Program& program, GraphId id, const FrameLines& lines,
                 std::span<const std::uint32_t> traces, const ModuleFacts* module) {
  const auto walked = [&] {
    FrameWalk walk(program, program.graphs[id], lines);
    for (std::uint32_t i = 0; i < traces.size(); ++i) {
      if (traces[i] != kNoId) walk.Visit(i, traces[i]);
    }
    walk.End();
    return walk;
  };
  Corrections(program, walked().mistaken()).Make(program.graphs[id]);
  const bool is_told = module != nullptr && module->let_go;
  if (is_told) AddKept(program, *module);
  const ValuesByName by_name(program);
  const std::vector<FrameWalk::Departure> departures =
      is_told ? FrameWalk(program, program.graphs[id], lines).Told(*module, by_name)
              : std::move(walked().departures());
  std::span<const ModuleFacts::Requires> required;
  if (module != nullptr) required = module->requires_gradient;
  Additions additions(program, by_name, required, departures);
  const std::vector<Node> before = std::move(program.graphs[id].nodes);
  std::vector<Node> nodes;
  nodes.reserve(before.size() + departures.size() + required.size());
  CallId last = kNoId;
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    const CallId call = before[i].call;
    additions.Before(i, CallAround(program, std::exchange(last, call), call), &nodes);
    if (!MakesKept(program, before[i])) nodes.push_back(before[i]);
    additions.After(i, &nodes);
  }
  additions.Before(kNoId, kNoId, &nodes);
  program.graphs[id].nodes = std::move(nodes);
}

}  // namespace

void HoldVariables(Program& program, FrameLines& lines, TracesOfGraphs traces,
                   const ModuleFacts* module) {
  traces.resize(program.graphs.size());
  TraceBodies(program, lines, &traces);
  for (GraphId id = 0; id < program.graphs.size(); ++id) {
    HoldInGraph(program, id, lines, traces[id], id == 0 ? module : nullptr);
  }
}

}  // namespace steelyard::pt2
