// SPDX-License-Identifier: Apache-2.0
//
// The body of a graph. Order matters in one respect only: a node may use what inputs and earlier
// nodes define. As the file's keys come in any order, that is checked when the graph is complete.
#include "import/pt2/graph_reader.h"

#include <utility>

#include "import/pt2/codes.h"

namespace steelyard::pt2 {
namespace {

// Marks what a TokenMap has not read yet; no id reaches it.
constexpr std::uint32_t kUnread = 0xfffffffeU;

// Values that the inputs of a graph define, and those of its first node.
constexpr std::uint32_t kByInputs = 1;
constexpr std::uint32_t kByFirstNode = 2;

// "node 17 (aten::linear)"
std::string PlaceOf(std::size_t index, std::string_view op) {
  std::string place = "node " + std::to_string(index);
  if (!op.empty()) place.append(" (").append(op).append(")");
  return place;
}

}  // namespace

GraphReader::GraphReader(Program& program, JsonReader& json, bool holds_variables,
                         const ModuleFacts* module)
    : program_(program),
      json_(json),
      expressions_(program),
      modules_(program),
      traces_(program),
      names_(Name{}),
      targets_(kNoId),
      stacks_(Place{kUnread}),
      sources_(Trace{.source = kUnread}),
      metas_(kNoId),
      sizes_(std::nullopt),
      holds_variables_(holds_variables),
      module_(module) {}

bool GraphReader::ReadMain(JsonValue value) { return ReadGraph(value, 0); }

bool GraphReader::Finish() {
  for (ValueId id = 0; id < states_.size(); ++id) {
    if (states_[id].described || states_[id].definition == 0) continue;
    if (program_.values[id].kind != ValueKind::kTensor) continue;
    return json_.Fail("tensor_values does not describe " + QuotedName(id));
  }
  expressions_.SetExamples();
  if (holds_variables_) HoldVariables(program_, frames_, std::move(frames_of_nodes_), module_);
  return true;
}

bool GraphReader::ReadGraph(JsonValue value, GraphId id) {
  const std::uint32_t outer_scope = std::exchange(scope_, ++scope_count_);
  const std::size_t outer_shadowed = shadowed_.size();
  const GraphId outer_graph = std::exchange(graph_, id);
  Graph graph;
  if (!ReadGraphFields(value, graph) || !CheckGraph(graph)) return false;
  program_.graphs[id] = std::move(graph);
  // The names of the program's own graph stay, for the signature.
  if (outer_scope == 0) return true;
  for (; shadowed_.size() > outer_shadowed; shadowed_.pop_back()) {
    names_.at(shadowed_.back().index) = shadowed_.back().before;
  }
  scope_ = outer_scope;
  graph_ = outer_graph;
  return true;
}

bool GraphReader::ReadGraphFields(JsonValue value, Graph& graph) {
  return json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "nodes") {
      return json_.Array(field, [&](JsonValue element) {
        const auto index = static_cast<std::uint32_t>(graph.nodes.size());
        Node node;
        if (!ReadNode(element, index, node)) return false;
        graph.nodes.push_back(node);
        return true;
      });
    }
    if (key == "inputs") {
      const std::size_t first = results_.size();
      const bool ok =
          json_.Array(field, [&](JsonValue element) { return ReadDefinition(element, kByInputs); });
      if (!ok) return false;
      graph.inputs.assign(results_.begin() + static_cast<std::ptrdiff_t>(first), results_.end());
      results_.resize(first);
      return true;
    }
    if (key == "outputs") {
      return json_.Array(field, [&](JsonValue element) {
        return ReadArgument(element, graph.outputs.emplace_back());
      });
    }
    if (key == "tensor_values") return ReadTensorValues(field);
    if (key == "sym_int_values") return ReadScalarValues(field, ValueKind::kInt);
    if (key == "sym_float_values") return ReadScalarValues(field, ValueKind::kFloat);
    if (key == "sym_bool_values") return ReadScalarValues(field, ValueKind::kBool);
    return true;
  });
}

bool GraphReader::ReadNode(JsonValue value, std::uint32_t index, Node& node) {
  const std::size_t first_argument = arguments_.size();
  const std::size_t first_result = results_.size();
  node.op = kNoId;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "target") return ReadTarget(field, node);
    if (key == "inputs") {
      return json_.Array(field, [&](JsonValue element) { return ReadCallArgument(element); });
    }
    if (key == "outputs") {
      return json_.Array(
          field, [&](JsonValue element) { return ReadDefinition(element, index + kByFirstNode); });
    }
    if (key == "metadata") return ReadMetadata(field, index, node);
    return true;
  });
  if (!ok) {
    const bool named = node.op != kNoId;
    return json_.At(PlaceOf(index, named ? program_.op_name(node.op) : std::string_view()));
  }
  if (node.op == kNoId) return json_.Fail("the node has no target");
  node.arguments = program_.AddArguments(std::span(arguments_).subspan(first_argument));
  node.outputs = program_.AddOutputs(std::span(results_).subspan(first_result));
  arguments_.resize(first_argument);
  results_.resize(first_result);
  return true;
}

bool GraphReader::ReadTarget(JsonValue value, Node& node) {
  std::string_view target;
  if (!json_.Text(value, target)) return false;
  if (target.empty()) return json_.Fail("the target is empty");
  OpId& op = targets_[target];
  if (op == kNoId) op = program_.AddOpName(OpNameOf(target));
  node.op = op;
  return true;
}

bool GraphReader::ReadCallArgument(JsonValue value) {
  Argument argument;
  StringId name = kNoString;
  bool found = false;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "name") {
      std::string_view text;
      if (!json_.Text(field, text)) return false;
      name = program_.strings.Intern(text);
      return true;
    }
    if (key != "arg") return true;
    found = true;
    return ReadArgument(field, argument);
  });
  if (!ok) return false;
  if (!found) return json_.Fail("the argument has no \"arg\"");
  argument.name = name;
  arguments_.push_back(argument);
  return true;
}

// An input of a graph or an output of a node: a name that is a value from here on, a list of them,
// a constant, or None.
bool GraphReader::ReadDefinition(JsonValue value, std::uint32_t definition) {
  return json_.Variant(value, [&](std::string_view key, JsonValue field) {
    if (key == "as_tensor") return DefineNamed(field, "name", ValueKind::kTensor, definition);
    if (key == "as_tensors") {
      return json_.Array(field, [&](JsonValue element) {
        return DefineNamed(element, "name", ValueKind::kTensor, definition);
      });
    }
    if (key == "as_sym_int") return DefineNamed(field, "as_name", ValueKind::kInt, definition);
    if (key == "as_sym_float") return DefineNamed(field, "as_name", ValueKind::kFloat, definition);
    if (key == "as_sym_bool") return DefineNamed(field, "as_name", ValueKind::kBool, definition);
    if (key == "as_custom_obj") return DefineNamed(field, "name", ValueKind::kOther, definition);
    if (key == "as_optional_tensor") {
      return json_.Variant(field, [&](std::string_view inner, JsonValue tensor) {
        if (inner != "as_tensor") return DefineConstant(inner, tensor, definition);
        return DefineNamed(tensor, "name", ValueKind::kTensor, definition);
      });
    }
    return DefineConstant(key, field, definition);
  });
}

bool GraphReader::DefineConstant(std::string_view key, JsonValue value, std::uint32_t definition) {
  Argument constant;
  ValueKind kind = ValueKind::kOther;
  if (key == "as_int") {
    if (!ReadInt(value, constant)) return false;
    kind = ValueKind::kInt;
  } else if (key == "as_bool") {
    if (!ReadBool(value, constant)) return false;
    kind = ValueKind::kBool;
  } else if (key == "as_float") {
    kind = ValueKind::kFloat;
  } else if (key != "as_none" && key != "as_string") {
    return json_.Fail(Unsupported("a value cannot be defined by " + Quoted(key)));
  }
  // A result that is None is no value; an input that is None is one that the caller leaves out.
  if (key == "as_none" && definition != kByInputs) {
    results_.push_back(kNoId);
    return true;
  }
  const ValueId id = NewValue(kNoString, kind);
  states_[id].definition = definition;
  if (constant.kind == ArgKind::kInt || constant.kind == ArgKind::kBool) {
    program_.values[id].scalar = constant.dim;
  }
  results_.push_back(id);
  return true;
}

bool GraphReader::DefineNamed(JsonValue value, std::string_view key, ValueKind kind,
                              std::uint32_t definition) {
  ValueId id = kNoId;
  const bool ok = json_.Object(value, [&](std::string_view found, JsonValue field) {
    std::string_view name;
    if (found != key || id != kNoId || JsonReader::IsNull(field)) return true;
    return json_.Text(field, name) && ValueNamed(name, kind, id) && Define(id, definition);
  });
  if (!ok) return false;
  // A number that is known when the model is exported has no name.
  if (id == kNoId && kind == ValueKind::kTensor) return json_.Fail("the tensor has no name");
  if (id == kNoId) {
    id = NewValue(kNoString, kind);
    states_[id].definition = definition;
  }
  results_.push_back(id);
  return true;
}

bool GraphReader::ReadMetadata(JsonValue value, std::uint32_t index, Node& node) {
  return json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "nn_module_stack") return ReadModuleStack(field, node);
    if (key != "stack_trace") return true;
    Trace trace;
    if (!ReadStackTrace(field, trace)) return false;
    node.source = trace.source;
    if (holds_variables_) {
      frames_of_nodes_.resize(program_.graphs.size());
      std::vector<std::uint32_t>& of_nodes = frames_of_nodes_[graph_];
      of_nodes.resize(std::size_t{index} + 1, kNoId);
      of_nodes[index] = trace.frames;
    }
    return true;
  });
}

bool GraphReader::ReadModuleStack(JsonValue value, Node& node) {
  const std::string_view token = JsonReader::Token(value);
  if (token != last_stack_) {
    Place& place = stacks_[token];
    std::string_view stack;
    if (place.module == kUnread) {
      if (!json_.Text(value, stack)) return false;
      place = {modules_.Read(stack), modules_.last_call()};
    }
    last_stack_ = token;
    last_place_ = place;
  }
  node.module = last_place_.module;
  node.call = last_place_.call;
  return true;
}

bool GraphReader::ReadStackTrace(JsonValue value, Trace& out) {
  const std::string_view token = JsonReader::Token(value);
  if (token != last_trace_) {
    Trace& known = sources_[token];
    std::string_view trace;
    if (known.source == kUnread) {
      if (!json_.Text(value, trace)) return false;
      known.source = traces_.Read(trace);
      if (holds_variables_) known.frames = frames_.Read(trace);
    }
    last_trace_ = token;
    last_source_ = known;
  }
  out = last_source_;
  return true;
}

bool GraphReader::CheckGraph(Graph& graph) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (std::uint32_t k = 0; k < node.arguments.count; ++k) {
      Argument& argument = program_.arguments[node.arguments.begin + k];
      if (Resolve(argument, i + kByFirstNode)) continue;
      return json_.At(PlaceOf(i, program_.op_name(node.op)));
    }
  }
  const auto end = static_cast<std::uint32_t>(graph.nodes.size()) + kByFirstNode;
  for (Argument& output : graph.outputs) {
    if (!Resolve(output, end)) return json_.At("outputs");
  }
  return true;
}

// Checks that what `argument` uses is defined before `at`, and puts known scalars in the place of
// their names.
bool GraphReader::Resolve(Argument& argument, std::uint32_t at) {
  if (argument.kind == ArgKind::kList) {
    for (std::uint32_t i = 0; i < argument.list.count; ++i) {
      if (!Resolve(program_.arguments[argument.list.begin + i], at)) return false;
    }
    return true;
  }
  if (argument.kind != ArgKind::kValue) return true;
  const Value& value = program_.values[argument.value];
  const std::uint32_t definition = states_[argument.value].definition;
  const StringId name = argument.name;
  if (definition == 0 && value.kind == ValueKind::kOther) {
    // An object that is stored beside the graph, such as a quantized weight's packing.
    argument = Argument::OfString(value.name);
  } else if (definition == 0) {
    return json_.Fail(QuotedName(argument.value) + " is used but nothing defines it");
  } else if (definition >= at) {
    return json_.Fail(QuotedName(argument.value) + " is used before it is computed");
  } else if (value.kind == ValueKind::kInt && !value.scalar.is_unknown()) {
    argument = Argument::OfInt(value.scalar);
  } else if (value.kind == ValueKind::kBool && value.scalar.is_number()) {
    argument = Argument::OfBool(value.scalar != Dim(0));
  }
  argument.name = name;
  return true;
}

}  // namespace steelyard::pt2
