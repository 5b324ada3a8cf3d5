// SPDX-License-Identifier: Apache-2.0
//
// Rules are checked in the order of the table at the end: first that every id points into its
// table, so that the later ones need not ask. Only what the graphs reach is looked at; a pass may
// leave values and arguments behind in the pools.
#include "ir/verify.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/release_order.h"
#include "ir/text_words.h"
#include "support/checked.h"

namespace steelyard {
namespace {

std::string ValueText(const Program& p, ValueId id) {
  if (id >= p.values.size()) return "value " + std::to_string(id);
  const StringId name = p.values[id].name;
  if (name == kNoString || name >= p.strings.size()) return "value " + std::to_string(id);
  return "%" + std::string(p.text(name));
}

std::string NodeText(const Program& p, GraphId graph, std::size_t index) {
  std::string out = graph == 0 ? "" : "graph @" + std::to_string(graph) + ", ";
  out.append("node ").append(std::to_string(index));
  const OpId op = p.graphs[graph].nodes[index].op;
  if (op < p.op_names.size() && p.op_names[op] < p.strings.size()) {
    out.append(" (").append(p.op_name(op)).append(")");
  }
  return out;
}

Status Broken(std::string message, std::string where = {}) {
  return Unexpected(InternalError(std::move(message), std::move(where)));
}

// Calls `check(node, where)` for every node, where `where()` is its text, until one fails.
template <class Check>
Status ForEachNode(const Program& p, Check check) {
  for (GraphId graph = 0; graph < p.graphs.size(); ++graph) {
    const std::vector<Node>& nodes = p.graphs[graph].nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      SY_RETURN_IF_ERROR(check(nodes[i], [&p, graph, i] { return NodeText(p, graph, i); }));
    }
  }
  return {};
}

// Calls `check(argument)` for every argument and list element. Requires: lists_are_trees.
template <class Check>
Status ForEachArgument(const Program& p, std::span<const Argument> args, const Check& check) {
  for (const Argument& arg : args) {
    SY_RETURN_IF_ERROR(check(arg));
    if (arg.has_elements()) {
      SY_RETURN_IF_ERROR(ForEachArgument(p, p.list(arg.list), check));
    }
  }
  return {};
}

// Of all nodes, then of what the graphs return: `check(argument, where)`.
template <class Check>
Status ForEachArgumentOfGraphs(const Program& p, Check check) {
  SY_RETURN_IF_ERROR(ForEachNode(p, [&](const Node& node, const auto& where) {
    return ForEachArgument(p, p.args(node), [&](const Argument& a) { return check(a, where); });
  }));
  const auto where = [] { return std::string("return"); };
  for (const Graph& graph : p.graphs) {
    SY_RETURN_IF_ERROR(
        ForEachArgument(p, graph.outputs, [&](const Argument& a) { return check(a, where); }));
  }
  return {};
}

// Every value that a graph takes or a node gives, with the text of its place.
template <class Check>
Status ForEachDefinition(const Program& p, Check check) {
  const auto input = [] { return std::string("graph inputs"); };
  for (const Graph& graph : p.graphs) {
    for (ValueId id : graph.inputs) SY_RETURN_IF_ERROR(check(id, input));
  }
  return ForEachNode(p, [&](const Node& node, const auto& where) -> Status {
    for (ValueId id : p.results(node)) {
      if (id != kNoId) SY_RETURN_IF_ERROR(check(id, where));
    }
    return {};
  });
}

Status HasRoots(const Program& p) {
  if (p.graphs.empty()) return Broken("there is no graph 0");
  if (p.modules.empty() || p.modules[0].parent != kNoId) return Broken("module 0 is not a root");
  if (p.frames.empty()) return Broken("there is no frame 0");
  return {};
}

bool Within(Argument::Run run, std::size_t size) {
  return run.begin <= size && run.count <= size - run.begin;
}

Status ListIsTree(const Program& p, const Argument& arg, std::size_t holder) {
  if (!arg.has_elements()) return {};
  if (arg.kind == ArgKind::kComplex && arg.list.count != 2) {
    return Broken("a complex number has two parts");
  }
  if (!Within(arg.list, p.arguments.size())) return Broken("a list is outside the pool");
  if (arg.list.count > 0 && arg.list.begin + std::size_t{arg.list.count} > holder) {
    return Broken("a list stands before its elements in the pool");
  }
  for (std::uint32_t i = 0; i < arg.list.count; ++i) {
    const std::size_t index = arg.list.begin + i;
    SY_RETURN_IF_ERROR(ListIsTree(p, p.arguments[index], index));
  }
  return {};
}

Status ListsAreTrees(const Program& p) {
  SY_RETURN_IF_ERROR(ForEachNode(p, [&](const Node& node, const auto& where) -> Status {
    if (!Within(node.arguments, p.arguments.size())) {
      return Broken("the arguments are outside the pool", where());
    }
    if (!Within(node.outputs, p.outputs.size())) {
      return Broken("the results are outside the pool", where());
    }
    for (std::uint32_t i = 0; i < node.arguments.count; ++i) {
      const std::size_t index = node.arguments.begin + i;
      Status status = ListIsTree(p, p.arguments[index], index);
      if (!status) return Broken(status.error().message, where());
    }
    return {};
  }));
  for (const Graph& graph : p.graphs) {
    for (const Argument& out : graph.outputs) {
      SY_RETURN_IF_ERROR(ListIsTree(p, out, p.arguments.size()));
    }
  }
  return {};
}

template <class Bad>
Status TablesHaveStrings(const Program& p, const Bad& bad) {
  if (bad(p.name) || bad(p.producer) || std::ranges::any_of(p.notes, bad)) {
    return Broken("the program's name, producer or a note");
  }
  if (std::ranges::any_of(p.op_names, bad)) return Broken("an operator's name");
  if (std::ranges::any_of(p.values, bad, &Value::name)) return Broken("a value's name");
  if (std::ranges::any_of(p.symbols, bad, &Symbol::name)) return Broken("a symbol's name");
  for (const Module& m : p.modules) {
    if (bad(m.path) || bad(m.class_name)) return Broken("a module's path or class");
  }
  for (const SourceLine& s : p.sources) {
    if (bad(s.file) || bad(s.function) || bad(s.code)) return Broken("a source line");
  }
  for (const auto* list : {&p.parameters, &p.buffers}) {
    if (std::ranges::any_of(*list, bad, &NamedTensor::name)) {
      return Broken("the name of a parameter or buffer");
    }
  }
  if (std::ranges::any_of(p.packings, bad, &Packing::name)) return Broken("a packing's name");
  for (const Fact& fact : p.facts) {
    if (bad(fact.name) || bad(fact.text)) return Broken("a fact");
  }
  return {};
}

Status StringsInRange(const Program& p) {
  const auto bad = [&](StringId id) { return id >= p.strings.size(); };
  SY_RETURN_IF_ERROR(TablesHaveStrings(p, bad));
  return ForEachArgumentOfGraphs(p, [&](const Argument& a, const auto& where) -> Status {
    if (bad(a.name) || (a.kind == ArgKind::kString && bad(a.text))) {
      return Broken("the name or text of an argument", where());
    }
    return {};
  });
}

Status ValuesInRange(const Program& p) {
  const auto bad = [&](ValueId id) { return id >= p.values.size(); };
  for (const auto* list : {&p.parameters, &p.buffers}) {
    for (const NamedTensor& t : *list) {
      if (bad(t.value)) return Broken("no value for " + std::string(p.text(t.name)));
    }
  }
  if (std::ranges::any_of(p.inputs, bad)) return Broken("no value for an input");
  if (std::ranges::any_of(p.mutated, bad)) return Broken("no value for what is mutated");
  SY_RETURN_IF_ERROR(ForEachDefinition(p, [&](ValueId id, const auto& where) -> Status {
    return bad(id) ? Broken("no value " + std::to_string(id), where()) : Status();
  }));
  return ForEachArgumentOfGraphs(p, [&](const Argument& a, const auto& where) -> Status {
    const bool missing = a.kind == ArgKind::kValue && bad(a.value);
    return missing ? Broken("no value " + std::to_string(a.value), where()) : Status();
  });
}

Status NodeIdsInRange(const Program& p) {
  return ForEachNode(p, [&](const Node& n, const auto& where) -> Status {
    if (n.op >= p.op_names.size()) return Broken("no such operator", where());
    if (n.module >= p.modules.size()) return Broken("no such module", where());
    if (n.frame >= p.frames.size()) return Broken("no such frame", where());
    if (n.source != kNoId && n.source >= p.sources.size()) {
      return Broken("no such source line", where());
    }
    return {};
  });
}

// Graphs are operands of nodes of other graphs, and none is within itself.
Status GraphsAreNested(const Program& p) {
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(p.graphs.size(), Mark::kNew);
  const auto operands = [&](GraphId graph, std::vector<GraphId>& out) -> Status {
    for (const Node& node : p.graphs[graph].nodes) {
      SY_RETURN_IF_ERROR(ForEachArgument(p, p.args(node), [&](const Argument& a) -> Status {
        if (a.kind != ArgKind::kGraph) return {};
        if (a.graph == 0 || a.graph >= p.graphs.size()) {
          return Broken("no graph @" + std::to_string(a.graph) + " to be an operand");
        }
        out.push_back(a.graph);
        return {};
      }));
    }
    return {};
  };
  for (GraphId first = 0; first < p.graphs.size(); ++first) {
    std::vector<GraphId> stack = {first};
    while (!stack.empty()) {
      const GraphId graph = stack.back();
      if (marks[graph] != Mark::kNew) {
        marks[graph] = Mark::kDone;
        stack.pop_back();
        continue;
      }
      marks[graph] = Mark::kOpen;
      const std::size_t before = stack.size();
      SY_RETURN_IF_ERROR(operands(graph, stack));
      for (std::size_t i = before; i < stack.size(); ++i) {
        if (marks[stack[i]] == Mark::kOpen) {
          return Broken("graph @" + std::to_string(stack[i]) + " is within itself");
        }
      }
    }
  }
  return {};
}

Status ModulesInOrder(const Program& p) {
  std::vector<bool> seen(p.strings.size());  // by path
  for (ModuleId id = 0; id < p.modules.size(); ++id) {
    const Module& module = p.modules[id];
    const auto where = [&] { return "module \"" + std::string(p.text(module.path)) + "\""; };
    if (id > 0 && module.parent >= id) return Broken("its parent does not come first", where());
    if (seen[module.path]) return Broken("two modules of this path", where());
    seen[module.path] = true;
  }
  return {};
}

Status FramesInOrder(const Program& p) {
  for (FrameId id = 1; id < p.frames.size(); ++id) {
    const auto where = [&] { return "frame " + std::to_string(id); };
    if (p.frames[id].parent >= id) return Broken("its parent does not come first", where());
    if (p.frames[id].op >= p.op_names.size()) return Broken("no such operator", where());
  }
  return {};
}

Status SymbolsAreDistinct(const Program& p) {
  std::unordered_set<StringId> names;
  for (const Symbol& symbol : p.symbols) {
    const std::string where = "symbol \"" + std::string(p.text(symbol.name)) + "\"";
    if (symbol.name == kNoString) return Broken("a symbol without a name");
    if (!names.insert(symbol.name).second) return Broken("two symbols of this name", where);
    if (symbol.min > symbol.max) return Broken("its range is empty", where);
  }
  return {};
}

Status ExpressionsInOrder(const Program& p) {
  for (std::uint32_t i = 0; i < p.expressions.size(); ++i) {
    const Expression& e = p.expressions.at(Dim::Expression(i));
    const std::string where = "expression " + std::to_string(i);
    for (Dim operand : {e.a, e.b, e.c}) {
      if (operand.is_expression() && operand.expression() >= i) {
        return Broken("an operand does not come first", where);
      }
    }
    const bool known = static_cast<std::uint64_t>(e.value) < p.symbols.size();
    if (e.op == ExprOp::kSymbol && !known) return Broken("no such symbol", where);
  }
  return {};
}

bool Exists(const Program& p, Dim dim) {
  return !dim.is_expression() || dim.expression() < p.expressions.size();
}

Status SizesArePossible(const Program& p) {
  return ForEachDefinition(p, [&](ValueId id, const auto& where) -> Status {
    const Value& v = p.values[id];
    if (!Exists(p, v.scalar)) return Broken(ValueText(p, id) + ": no such expression", where());
    if (v.rank > Dims::kMaxRank || !p.dims.Contains(v.dims, 2u * v.rank)) {
      return Broken(ValueText(p, id) + ": the sizes are outside the pool", where());
    }
    for (std::int64_t raw : p.dims.span(v.dims, 2u * v.rank)) {
      const Dim dim = Dim::FromRaw(raw);
      if (!Exists(p, dim)) return Broken(ValueText(p, id) + ": no such expression", where());
      if (dim.is_number() && raw < 0) {
        return Broken(ValueText(p, id) + ": a size or stride is " + std::to_string(raw), where());
      }
    }
    return {};
  });
}

Status NumbersArePossible(const Program& p) {
  return ForEachArgumentOfGraphs(p, [&](const Argument& a, const auto& where) -> Status {
    if (a.kind == ArgKind::kInt && !Exists(p, a.dim)) return Broken("no such expression", where());
    const bool neither = a.kind == ArgKind::kBool && a.dim != Dim(0) && a.dim != Dim(1);
    return neither ? Broken("a bool is neither 0 nor 1", where()) : Status();
  });
}

Status OnlyTensorsHaveLayouts(const Program& p) {
  return ForEachDefinition(p, [&](ValueId id, const auto& where) -> Status {
    const Value& v = p.values[id];
    if (!v.has_layout || v.kind == ValueKind::kTensor) return {};
    return Broken(ValueText(p, id) + " has sizes but is no tensor", where());
  });
}

Status StoragesInRange(const Program& p) {
  return ForEachDefinition(p, [&](ValueId id, const auto& where) -> Status {
    const StorageId storage = p.values[id].storage;
    if (storage == kNoId || storage < p.storage_count) return {};
    return Broken(ValueText(p, id) + ": no such storage", where());
  });
}

Status DefinedOnce(const Program& p) {
  std::vector<bool> defined(p.values.size());
  return ForEachDefinition(p, [&](ValueId id, const auto& where) -> Status {
    if (defined[id]) return Broken(ValueText(p, id) + " is defined twice", where());
    defined[id] = true;
    return {};
  });
}

Status DefinedBeforeUse(const Program& p) {
  // Which graph defines a value, as far as read.
  std::vector<GraphId> defined_in(p.values.size(), kNoId);
  for (GraphId graph = 0; graph < p.graphs.size(); ++graph) {
    const Graph& g = p.graphs[graph];
    const auto check = [&](const Argument& a) -> Status {
      if (a.kind != ArgKind::kValue || defined_in[a.value] == graph) return {};
      return Broken(ValueText(p, a.value) + " is not defined before its use in this graph");
    };
    for (ValueId id : g.inputs) defined_in[id] = graph;
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      if (Status status = ForEachArgument(p, p.args(g.nodes[i]), check); !status) {
        return Broken(status.error().message, NodeText(p, graph, i));
      }
      for (ValueId id : p.results(g.nodes[i])) {
        if (id != kNoId) defined_in[id] = graph;
      }
    }
    if (Status status = ForEachArgument(p, g.outputs, check); !status) {
      return Broken(status.error().message, "return of graph @" + std::to_string(graph));
    }
  }
  return {};
}

Status NamedTensorsHaveRoles(const Program& p) {
  const auto check = [&](const std::vector<NamedTensor>& list, Role role) -> Status {
    for (const NamedTensor& tensor : list) {
      const Value& v = p.values[tensor.value];
      if (v.kind != ValueKind::kTensor || !v.has_layout) {
        return Broken("a parameter or buffer is a tensor of known sizes",
                      ValueText(p, tensor.value));
      }
      if (v.role != role) {
        return Broken("its role is " + std::string(WordOf(v.role)), ValueText(p, tensor.value));
      }
    }
    return {};
  };
  SY_RETURN_IF_ERROR(check(p.parameters, Role::kParameter));
  return check(p.buffers, Role::kBuffer);
}

Status PackingsArePossible(const Program& p) {
  CheckedInt bytes = 0;
  for (const Packing& packing : p.packings) {
    if (packing.bytes < 0) return Broken("the bytes of a packing are negative");
    bytes = bytes + CheckedInt(packing.bytes);
  }
  if (!bytes.ok()) return Broken("the bytes of all packings do not fit");
  for (const auto* list : {&p.parameters, &p.buffers}) {
    for (const NamedTensor& tensor : *list) {
      if (tensor.packing == kNoId || tensor.packing < p.packings.size()) continue;
      return Broken("no such packing", std::string(p.text(tensor.name)));
    }
  }
  return {};
}

Status WeightsDoNotRun(const Program& p) {
  if (p.has_graph || (p.main().nodes.empty() && p.main().outputs.empty())) return {};
  return Broken("there are nodes or results in what holds weights only");
}

Status TiedTensorsShare(const Program& p) {
  for (const auto* list : {&p.parameters, &p.buffers}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const NamedTensor& tensor = (*list)[i];
      if (tensor.tied_to == kNoId) continue;
      const std::string where(p.text(tensor.name));
      if (tensor.tied_to >= i) return Broken("the tensor it is tied to does not come first", where);
      const Value& first = p.values[(*list)[tensor.tied_to].value];
      if (p.values[tensor.value].storage != first.storage) {
        return Broken("the tensor it is tied to has another storage", where);
      }
    }
  }
  return {};
}

Status ReleasesAreOutputs(const Program& p) {
  if (CanRelease(p)) return {};
  return Broken("what is released is not what is returned");
}

Status InputsAreTaken(const Program& p) {
  std::vector<bool> taken(p.values.size());
  for (const ValueId id : p.main().inputs) taken[id] = true;
  for (ValueId id : p.inputs) {
    if (!taken[id]) return Broken(ValueText(p, id) + " is no input of graph 0");
  }
  return {};
}

struct Rule {
  VerifyRule text;
  Status (*check)(const Program&);
};

constexpr std::array kRules = {
    Rule{{"has_roots", "There are a graph, a module and a frame 0."}, HasRoots},
    Rule{{"lists_are_trees",
          "Arguments and results are runs of their pools, lists after their "
          "elements."},
         ListsAreTrees},
    Rule{{"strings_in_range", "Every name is in the string table."}, StringsInRange},
    Rule{{"values_in_range", "Every value that is taken, given, used or named exists."},
         ValuesInRange},
    Rule{{"node_ids_in_range", "A node's operator, module, frame and source line exist."},
         NodeIdsInRange},
    Rule{{"graphs_are_nested", "A graph that is an operand exists and is not within itself."},
         GraphsAreNested},
    Rule{{"modules_in_order", "A module's parent comes before it; paths are distinct."},
         ModulesInOrder},
    Rule{{"frames_in_order", "A frame's parent comes before it."}, FramesInOrder},
    Rule{{"symbols_are_distinct", "Symbols have distinct names and ranges that are not empty."},
         SymbolsAreDistinct},
    Rule{{"expressions_in_order", "An expression's operands come before it."}, ExpressionsInOrder},
    Rule{{"sizes_are_possible", "Sizes and strides are in the pool and not negative."},
         SizesArePossible},
    Rule{{"numbers_are_possible", "Integer arguments exist; bools are 0 or 1."},
         NumbersArePossible},
    Rule{{"only_tensors_have_layouts", "What has sizes is a tensor."}, OnlyTensorsHaveLayouts},
    Rule{{"storages_in_range", "Every storage is one of those counted."}, StoragesInRange},
    Rule{{"defined_once", "A value is an input or a result, in one place."}, DefinedOnce},
    Rule{{"defined_before_use", "A value is used after its definition, in the same graph."},
         DefinedBeforeUse},
    Rule{{"named_tensors_have_roles", "Parameters and buffers are tensors of these roles."},
         NamedTensorsHaveRoles},
    Rule{{"tied_tensors_share", "A tied tensor shares the storage of an earlier one."},
         TiedTensorsShare},
    Rule{{"packings_are_possible", "How a tensor is packed is in the table, with its bytes."},
         PackingsArePossible},
    Rule{{"weights_do_not_run", "What holds weights only has no nodes and no results."},
         WeightsDoNotRun},
    Rule{{"inputs_are_taken", "What the user passes is an input of graph 0."}, InputsAreTaken},
    Rule{{"releases_are_outputs", "The outputs that are let go first are there, once each."},
         ReleasesAreOutputs},
};

constexpr auto kTexts = [] {
  std::array<VerifyRule, kRules.size()> texts;
  for (std::size_t i = 0; i < kRules.size(); ++i) texts[i] = kRules[i].text;
  return texts;
}();

}  // namespace

Status Verify(const Program& program) {
  for (const Rule& rule : kRules) {
    Status status = rule.check(program);
    if (status) continue;
    Error error = std::move(status).error();
    error.message.append(" [rule ").append(rule.text.name).append("]");
    error.hint = "The rule: " + std::string(rule.text.summary);
    return Unexpected(std::move(error));
  }
  return {};
}

std::span<const VerifyRule> VerifyRules() { return kTexts; }

}  // namespace steelyard
