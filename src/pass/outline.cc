// SPDX-License-Identifier: Apache-2.0
//
// Decides what a region is: all nodes of one call of a module, by the calls that the file tells
// apart or, where it tells none, by standing next to each other. What the region takes are the
// arguments of the module, apart from parameters and buffers, which it has; what later nodes use
// are its results.

#include "pass/outline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/visit_values.h"

namespace steelyard {
namespace {

constexpr std::uint32_t kNoRegion = kNoId;

// Which region each node of the main graph belongs to.
class Regions {
 public:
  Regions(const Program& program, const std::vector<bool>& named)
      : program_(program), named_(named), of_(program.main().nodes.size(), kNoRegion) {
    const std::vector<Node>& nodes = program.main().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) Place(nodes[i], i);
  }

  // What has no module of its own, such as a check, belongs to the nodes around it.
  Status Close(std::string_view flag) {
    const std::vector<Node>& nodes = program_.main().nodes;
    for (std::uint32_t r = 0; r < regions_.size(); ++r) {
      for (std::size_t i = regions_[r].first; i <= regions_[r].last; ++i) {
        const bool stray = of_[i] == kNoRegion && nodes[i].module == 0;
        if (of_[i] != r && !stray) {
          return Unexpected(
              Unsupported(fmt::format("operators of other modules stand among those of \"{}\"",
                                      program_.text(program_.modules[regions_[r].module].path)),
                          std::string(flag), "Name a module around it, or one within."));
        }
        of_[i] = r;
      }
    }
    return {};
  }

  std::vector<CallNodes> TakeList() { return std::move(regions_); }

 private:
  void Place(const Node& node, std::size_t i) {
    std::uint32_t region = node.call == kNoId ? OfModules(node, i) : OfCalls(node);
    if (region == kNoRegion) return;
    if (region == regions_.size()) regions_.push_back({found_, i, i});
    regions_[region].last = i;
    of_[i] = region;
  }

  std::uint32_t OfCalls(const Node& node) {
    CallId outermost = kNoId;
    for (CallId call = node.call; call != kNoId; call = program_.calls[call].parent) {
      if (named_[program_.calls[call].module]) outermost = call;
    }
    if (outermost == kNoId) return kNoRegion;
    found_ = program_.calls[outermost].module;
    const auto next = static_cast<std::uint32_t>(regions_.size());
    return by_call_.try_emplace(outermost, next).first->second;
  }

  std::uint32_t OfModules(const Node& node, std::size_t i) {
    ModuleId outermost = 0;
    for (ModuleId m = node.module; m != 0; m = program_.modules[m].parent) {
      if (named_[m]) outermost = m;
    }
    if (outermost == 0) return kNoRegion;
    found_ = outermost;
    const bool goes_on =
        i > 0 && of_[i - 1] != kNoRegion && regions_[of_[i - 1]].module == outermost;
    return goes_on ? of_[i - 1] : static_cast<std::uint32_t>(regions_.size());
  }

  const Program& program_;
  const std::vector<bool>& named_;
  std::vector<std::uint32_t> of_;  // by node
  std::vector<CallNodes> regions_;
  std::map<CallId, std::uint32_t> by_call_;
  ModuleId found_ = 0;
};

// The last node that uses each value; the end of the program for what it returns.
std::vector<std::size_t> LastUses(const Program& program) {
  std::vector<std::size_t> last(program.values.size(), 0);
  const auto use = [&](const Argument& argument, std::size_t at) {
    VisitValues(program, argument, [&](ValueId id) { last[id] = at; });
  };
  const std::vector<Node>& nodes = program.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Argument& argument : program.args(nodes[i])) use(argument, i);
  }
  for (const Argument& output : program.main().outputs) use(output, nodes.size());
  return last;
}

// Moves the nodes of one region into a graph.
class Outliner {
 public:
  Outliner(Program& program, const CallNodes& region, const std::vector<std::size_t>& last_uses)
      : program_(program), region_(region), last_uses_(last_uses) {}

  // The call that stands for them.
  Node Run(std::vector<Node> nodes, std::string_view op, const Argument& option) {
    FindOperands(nodes);
    for (const ValueId id : inputs_) graph_.inputs.push_back(Fresh(id));
    for (const ValueId id : captured_) graph_.inputs.push_back(Fresh(id));
    Node call = nodes[0];
    for (Node& node : nodes) {
      node.arguments = Renamed(node.arguments);
      std::vector<ValueId> results;
      results.reserve(node.outputs.count);
      for (std::uint32_t i = 0; i < node.outputs.count; ++i) {
        results.push_back(Result(program_.outputs[node.outputs.begin + i]));
      }
      node.outputs = program_.AddOutputs(results);
      graph_.nodes.push_back(node);
    }
    call.op = program_.AddOpName(op);
    call.module = region_.module;
    call.call = kNoId;
    std::vector<Argument> args{Argument::OfGraph(static_cast<GraphId>(program_.graphs.size())),
                               Argument::OfInt(static_cast<std::int64_t>(inputs_.size())), option};
    for (const ValueId id : inputs_) args.push_back(Argument::OfValue(id));
    for (const ValueId id : captured_) args.push_back(Argument::OfValue(id));
    call.arguments = program_.AddArguments(args);
    call.outputs = program_.AddOutputs(results_);
    program_.graphs.push_back(std::move(graph_));
    return call;
  }

 private:
  bool IsTensor(ValueId id) const { return program_.values[id].kind == ValueKind::kTensor; }

  void FindOperands(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      for (const Argument& argument : program_.args(node)) FindOperands(argument);
      for (const ValueId id : program_.results(node)) {
        if (id != kNoId) renamed_.emplace(id, kNoId);
      }
    }
  }

  // In the order of their first use.
  void FindOperands(const Argument& argument) {
    if (argument.kind == ArgKind::kList) {
      for (const Argument& element : program_.list(argument.list)) FindOperands(element);
    }
    if (argument.kind != ArgKind::kValue || !IsTensor(argument.value)) return;
    if (!renamed_.emplace(argument.value, kNoId).second) return;
    const Role role = program_.values[argument.value].role;
    const bool captured = role == Role::kParameter || role == Role::kBuffer;
    (captured ? captured_ : inputs_).push_back(argument.value);
  }

  // The value of the same kind in the graph.
  ValueId Fresh(ValueId id) {
    Value value = program_.values[id];
    value.storage = program_.storage_count++;
    program_.values.push_back(value);
    return renamed_[id] = static_cast<ValueId>(program_.values.size() - 1);
  }

  ValueId Result(ValueId id) {
    if (id == kNoId) return kNoId;
    const ValueId inner = Fresh(id);
    if (last_uses_[id] > region_.last) {
      results_.push_back(id);
      graph_.outputs.push_back(Argument::OfValue(inner));
    }
    return inner;
  }

  Argument::Run Renamed(Argument::Run run) {
    std::vector<Argument> arguments;
    arguments.reserve(run.count);
    for (std::uint32_t i = 0; i < run.count; ++i) {
      arguments.push_back(Renamed(program_.arguments[run.begin + i]));
    }
    return program_.AddArguments(arguments);
  }

  // Numbers from outside stand for themselves.
  Argument Renamed(Argument argument) {
    if (argument.kind == ArgKind::kList) argument.list = Renamed(argument.list);
    if (argument.kind != ArgKind::kValue) return argument;
    if (const auto found = renamed_.find(argument.value); found != renamed_.end()) {
      argument.value = found->second;
      return argument;
    }
    const Value& value = program_.values[argument.value];
    Argument number = Argument::None();
    if (value.scalar.is_number()) {
      number = value.kind == ValueKind::kBool ? Argument::OfBool(value.scalar.number() != 0)
                                              : Argument::OfInt(value.scalar);
    }
    number.name = argument.name;
    return number;
  }

  Program& program_;
  const CallNodes& region_;
  const std::vector<std::size_t>& last_uses_;
  Graph graph_;
  std::map<ValueId, ValueId> renamed_;
  std::vector<ValueId> inputs_, captured_, results_;
};

}  // namespace

Result<std::vector<CallNodes>> CallNodesOf(const Program& program, const std::vector<bool>& named,
                                           std::string_view flag) {
  Regions regions(program, named);
  SY_RETURN_IF_ERROR(regions.Close(flag));
  return regions.TakeList();
}

Error NothingRunsIn(std::string_view flag) {
  return InvalidInput("no operator runs in a module of that name", std::string(flag),
                      "A container, such as a ModuleList, is never called: name what it contains, "
                      "as in 'encoder.layer.*'.");
}

void Outline(Program& program, std::span<const CallNodes> regions, std::string_view op,
             const std::function<Argument(const CallNodes&)>& option) {
  const std::vector<std::size_t> last_uses = LastUses(program);
  const std::vector<Node> nodes = std::move(program.main().nodes);
  std::vector<CallNodes> inside(regions.begin(), regions.end());
  std::ranges::sort(inside, {}, &CallNodes::first);
  std::vector<Node> kept;
  std::size_t next = 0;
  for (const CallNodes& region : inside) {
    while (next < region.first) kept.push_back(nodes[next++]);
    next = region.last + 1;
    const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(region.first);
    const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(next);
    kept.push_back(Outliner(program, region, last_uses).Run({first, end}, op, option(region)));
  }
  while (next < nodes.size()) kept.push_back(nodes[next++]);
  program.main().nodes = std::move(kept);
}

}  // namespace steelyard
