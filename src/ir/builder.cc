// SPDX-License-Identifier: Apache-2.0
//
// Values are named as torch.export names them: results by their operators ("linear", "linear_1"),
// inputs by what they are called. Results have no sizes, as in a text whose author left them away.
#include "steelyard/builder.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/symbolic_layout.h"
#include "ir/verify.h"

namespace steelyard {
namespace {

// "aten::add.Tensor" -> "add"
std::string_view StemOf(std::string_view op) {
  const std::size_t colons = op.find("::");
  if (colons != std::string_view::npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

template <class T, class Make>
std::vector<Argument> Listed(const std::vector<T>& items, const Make& make) {
  std::vector<Argument> list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back(make(item));
  return list;
}

// The entry of `table`, made where there is none yet.
std::uint32_t& EntryOf(StringId id, std::uint32_t fresh, std::vector<std::uint32_t>* table) {
  if (id >= table->size()) table->resize(std::size_t{id} + 1, fresh);
  return (*table)[id];
}

}  // namespace

Builder::Arg::Arg(const Shape& sizes)
    : list_(Listed(sizes, [](const Size& size) { return Argument::OfInt(Dim(size)); })) {}
Builder::Arg::Arg(const std::vector<Tensor>& tensors)
    : list_(Listed(tensors, [](const Tensor& tensor) { return Arg(tensor).argument_; })) {}
Builder::Arg::Arg(const std::vector<double>& numbers) : list_(Listed(numbers, Argument::OfFloat)) {}
Builder::Arg::Arg(const std::vector<bool>& flags) {
  list_.emplace();
  for (const bool flag : flags) list_->push_back(Argument::OfBool(flag));
}

Builder::Builder(std::string_view name, std::string_view class_name) {
  program_.name = program_.strings.Intern(name);
  program_.ties_known = true;
  program_.modules[0].class_name = program_.strings.Intern(class_name.empty() ? name : class_name);
  program_.modules[0].path = program_.strings.Intern("");
  EntryOf(program_.modules[0].path, kNoId, &modules_) = 0;
  program_.calls.push_back({.module = 0, .parent = kNoId});
  entered_.push_back({.module = 0, .call = 0});
}

Dim Builder::Symbol(const SymbolSpec& spec) {
  const StringId name = program_.strings.Intern(spec.name);
  const bool known = std::ranges::any_of(
      program_.symbols, [&](const steelyard::Symbol& symbol) { return symbol.name == name; });
  if (known) Refuse("the symbol is declared twice", spec.name);
  if (spec.min < 0 || spec.min > spec.max) Refuse("the range of the symbol is empty", spec.name);
  program_.symbols.push_back(
      {.name = name, .min = spec.min, .max = spec.max, .example = spec.example});
  return program_.expressions.MakeSymbol(static_cast<std::uint32_t>(program_.symbols.size() - 1));
}

std::string Builder::PathIn(ModuleId module, std::string_view name) const {
  const std::string_view within = program_.text(program_.modules[module].path);
  return within.empty() ? std::string(name) : std::string(within) + "." + std::string(name);
}

ModuleId Builder::Declare(ModuleId parent, std::string_view name, std::string_view class_name) {
  const StringId path = program_.strings.Intern(PathIn(parent, name));
  ModuleId& module = EntryOf(path, kNoId, &modules_);
  if (module == kNoId) {
    module = static_cast<ModuleId>(program_.modules.size());
    program_.modules.push_back(
        {.path = path, .class_name = program_.strings.Intern(class_name), .parent = parent});
  }
  return module;
}

Builder::Scope Builder::Within(ModuleId module) {
  entered_.push_back({.module = module, .call = entered_.back().call});
  return Scope(this);
}

Builder::Scope Builder::Enter(ModuleId module) {
  const auto call = static_cast<CallId>(program_.calls.size());
  program_.calls.push_back({.module = module, .parent = entered_.back().call});
  entered_.push_back({.module = module, .call = call});
  return Scope(this);
}

Builder::Scope Builder::Enter(std::string_view name, std::string_view class_name) {
  return Enter(Declare(entered_.back().module, name, class_name));
}

bool Builder::Check(const Shape& sizes, std::string_view place) {
  if (sizes.size() > static_cast<std::size_t>(Dims::kMaxRank)) {
    Refuse("a tensor may have 64 dimensions", place);
    return false;
  }
  const auto negative = [](const Size& size) { return size.is_number() && size.number() < 0; };
  if (std::ranges::any_of(sizes, negative)) Refuse("a size is negative", place);
  return true;
}

Builder::Tensor Builder::AddNamed(std::string_view name, DType dtype, const Shape& sizes,
                                  Role role) {
  if (!Check(sizes, name)) return {};
  std::vector<std::int64_t> raw;
  raw.reserve(sizes.size());
  for (const Size& size : sizes) raw.push_back(size.raw());
  const ValueId id = program_.AddTensor(FreshName(name), dtype, raw,
                                        ContiguousDims(program_.expressions, raw), role);
  return {id};
}

Builder::Tensor Builder::Parameter(std::string_view name, DType dtype, const Shape& sizes,
                                   bool requires_grad) {
  const std::string path = PathOf(name);
  const Tensor tensor = AddNamed(path, dtype, sizes, Role::kParameter);
  if (!tensor.defined()) return tensor;
  program_.values[tensor.id].requires_grad =
      requires_grad && (IsFloating(dtype) || IsComplex(dtype));
  program_.parameters.push_back({.value = tensor.id, .name = program_.strings.Intern(path)});
  program_.main().inputs.push_back(tensor.id);
  return tensor;
}

Builder::Tensor Builder::Tie(std::string_view name, Tensor parameter) {
  const std::string path = PathOf(name);
  const auto first = std::ranges::find(program_.parameters, parameter.id, &NamedTensor::value);
  if (first == program_.parameters.end()) {
    Refuse("it can only be tied to a parameter", path);
    return parameter;
  }
  const auto index = static_cast<std::uint32_t>(first - program_.parameters.begin());
  program_.parameters.push_back(
      {.value = parameter.id, .name = program_.strings.Intern(path), .tied_to = index});
  return parameter;
}

Builder::Tensor Builder::Buffer(std::string_view name, DType dtype, const Shape& sizes,
                                bool persistent) {
  const std::string path = PathOf(name);
  const Tensor tensor = AddNamed(path, dtype, sizes, Role::kBuffer);
  if (!tensor.defined()) return tensor;
  program_.buffers.push_back(
      {.value = tensor.id, .name = program_.strings.Intern(path), .persistent = persistent});
  program_.main().inputs.push_back(tensor.id);
  return tensor;
}

Builder::Tensor Builder::Input(std::string_view name, DType dtype, const Shape& sizes, Role role) {
  const Tensor tensor = AddNamed(name, dtype, sizes, role);
  if (!tensor.defined()) return tensor;
  program_.inputs.push_back(tensor.id);
  program_.main().inputs.push_back(tensor.id);
  return tensor;
}

StringId Builder::FreshName(std::string_view stem) {
  const StringId plain = program_.strings.Intern(stem);
  const std::uint32_t before = EntryOf(plain, 0, &named_)++;
  if (before == 0) return plain;
  return program_.strings.Intern(std::string(stem) + "_" + std::to_string(before));
}

bool Builder::Owns(ValueId value, std::string_view place) {
  if (value < program_.values.size()) return true;
  Refuse("an operand is no tensor of this builder", place);
  return false;
}

Argument Builder::Stored(const Arg& arg) {
  Argument out = arg.argument_;
  if (arg.text_) out = Argument::OfString(program_.strings.Intern(*arg.text_));
  if (arg.list_) out = Argument::OfList(program_.AddArguments(*arg.list_));
  if (!arg.name_.empty()) out.name = program_.strings.Intern(arg.name_);
  return out;
}

Builder::Tensor Builder::AddUnsized(std::string_view stem) {
  const ValueId id = program_.AddTensor(FreshName(stem), DType::kFloat32, {}, {});
  program_.values[id].has_layout = false;
  return {id};
}

std::vector<Builder::Tensor> Builder::Invoke(std::string_view op, std::size_t results,
                                             std::span<const Arg> args) {
  std::vector<Argument> stored;
  stored.reserve(args.size());
  const auto check = [&](const Argument& argument) {
    if (argument.kind == ArgKind::kValue) Owns(argument.value, op);
  };
  for (const Arg& arg : args) {
    check(arg.argument_);
    if (arg.list_) std::ranges::for_each(*arg.list_, check);
    stored.push_back(Stored(arg));
  }
  std::vector<Tensor> tensors;
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < results; ++i) {
    tensors.push_back(AddUnsized(StemOf(op)));
    ids.push_back(tensors.back().id);
  }
  Node node;
  node.op = program_.AddOpName(op);
  node.arguments = program_.AddArguments(stored);
  node.outputs = program_.AddOutputs(ids);
  node.module = entered_.back().module;
  node.call = entered_.back().call;
  program_.graphs[graph_].nodes.push_back(node);
  return tensors;
}

namespace {

// Calls are added to another graph as long as it lives.
class Inside {
 public:
  Inside(GraphId* current, GraphId graph)
      : current_(current), outer_(std::exchange(*current, graph)) {}
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { *current_ = outer_; }

 private:
  GraphId* current_;
  GraphId outer_;
};

}  // namespace

Builder::Arg Builder::Graph(
    std::size_t inputs,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body) {
  const auto id = static_cast<GraphId>(program_.graphs.size());
  program_.graphs.emplace_back();
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < inputs; ++i) {
    operands.push_back(AddUnsized("operand"));
    program_.graphs[id].inputs.push_back(operands.back().id);
  }
  {
    const Inside inside(&graph_, id);
    for (const Tensor& result : body(operands)) {
      const bool owned = !result.defined() || Owns(result.id, "a graph's results");
      program_.graphs[id].outputs.push_back(owned ? Arg(result).argument_ : Argument::None());
    }
  }
  Arg out(std::nullopt);
  out.argument_ = Argument::OfGraph(id);
  return out;
}

void Builder::EachOperand(GraphId graph, const std::function<void(Argument*)>& visit) {
  const std::function<void(Argument*)> deep = [&](Argument* argument) {
    if (argument->kind == ArgKind::kValue) visit(argument);
    if (argument->kind != ArgKind::kList) return;
    for (std::uint32_t i = 0; i < argument->list.count; ++i) {
      deep(&program_.arguments[argument->list.begin + i]);
    }
  };
  for (const Node& node : program_.graphs[graph].nodes) {
    for (std::uint32_t i = 0; i < node.arguments.count; ++i) {
      deep(&program_.arguments[node.arguments.begin + i]);
    }
  }
  for (Argument& output : program_.graphs[graph].outputs) deep(&output);
}

std::vector<Builder::Tensor> Builder::Capture(std::span<const Arg> graphs) {
  std::vector<Tensor> captured;
  std::unordered_set<ValueId> known;
  for (const Arg& arg : graphs) {
    const auto& graph = program_.graphs[arg.argument_.graph];
    std::unordered_set<ValueId> made(graph.inputs.begin(), graph.inputs.end());
    for (const Node& node : graph.nodes) {
      for (const ValueId result : program_.results(node)) made.insert(result);
    }
    EachOperand(arg.argument_.graph, [&](Argument* operand) {
      if (made.contains(operand->value) || !known.insert(operand->value).second) return;
      captured.push_back({operand->value});
    });
  }
  for (const Arg& arg : graphs) {
    std::unordered_map<ValueId, ValueId> operands;
    for (const Tensor& tensor : captured) {
      const ValueId operand = AddUnsized("operand").id;
      operands.emplace(tensor.id, operand);
      program_.graphs[arg.argument_.graph].inputs.push_back(operand);
    }
    EachOperand(arg.argument_.graph, [&](Argument* operand) {
      const auto found = operands.find(operand->value);
      if (found != operands.end()) operand->value = found->second;
    });
  }
  return captured;
}

void Builder::State(Tensor result, DType dtype, const Shape& sizes) {
  if (!Owns(result.id, "a result")) return;
  if (!Check(sizes, program_.text(program_.values[result.id].name))) return;
  std::vector<std::int64_t> layout;
  for (const Size& size : sizes) layout.push_back(size.raw());
  const Dims strides = ContiguousDims(program_.expressions, layout);
  layout.insert(layout.end(), strides.begin(), strides.end());
  Value& value = program_.values[result.id];
  value.dtype = dtype;
  value.rank = static_cast<std::uint8_t>(sizes.size());
  value.dims = program_.dims.Allocate(static_cast<std::uint32_t>(layout.size()));
  std::ranges::copy(
      layout, program_.dims.span(value.dims, static_cast<std::uint32_t>(layout.size())).begin());
  value.has_layout = true;
}

void Builder::Name(Tensor result, std::string_view name) {
  if (Owns(result.id, name)) program_.values[result.id].name = FreshName(name);
}

void Builder::Return(Tensor tensor) {
  if (!tensor.defined()) {
    program_.main().outputs.push_back(Argument::None());
    return;
  }
  if (!Owns(tensor.id, "return")) return;
  Value& value = program_.values[tensor.id];
  if (value.role == Role::kActivation) value.role = Role::kOutput;
  program_.main().outputs.push_back(Argument::OfValue(tensor.id));
}

void Builder::Keep(Tensor tensor) {
  Return(tensor);
  if (tensor.defined()) program_.values[tensor.id].role = Role::kCache;
}

void Builder::Refuse(std::string message, std::string_view place) {
  if (!error_) error_ = InvalidInput(std::move(message), std::string(place), "");
}

Result<Program> Builder::Build() && {
  if (error_) return Unexpected(*error_);
  if (Status status = Verify(program_); !status) return Unexpected(std::move(status.error()));
  Program built = std::exchange(program_, Builder("").program_);
  // What is called now finds nothing that is its own, and says so when it is built.
  graph_ = 0;
  modules_.clear();
  named_.clear();
  entered_.assign(entered_.size(), {.module = 0, .call = 0});
  Refuse("the builder has given its program away: begin another one for more", "");
  return built;
}

}  // namespace steelyard
