// SPDX-License-Identifier: Apache-2.0
//
// Every call of a module is a hook of its own, one within another; in between the nodes take what
// the innermost of them gave. What is gathered when, the operators know
// (ops/parallel/partitioned_parameters.h).

#include "pass/partition_modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ir/visit_values.h"
#include "ops/parallel/replaced_by_engine.h"
#include "pass/append_call.h"
#include "pass/model_outputs.h"
#include "pass/module_calls.h"
#include "support/rounding.h"

namespace steelyard {
namespace {

constexpr std::string_view kFlag = "--parallel deepspeed3";

class Partitioning {
 public:
  Partitioning(Program program, const TrainOptions& options)
      : program_(std::move(program)), options_(options) {}

  Result<Program> Run() {
    SY_RETURN_IF_ERROR(Check());
    FindParameters();
    std::vector<Node> body = std::exchange(program_.main().nodes, {});
    const auto loss = static_cast<std::size_t>(std::ranges::find(body, Phase::kLoss, &Node::phase) -
                                               body.begin());
    program_.main().nodes = body;
    SY_ASSIGN_OR_RETURN(const std::vector<ModuleStretch> stretches,
                        ModuleStretches(program_, loss, kFlag));
    program_.main().nodes.clear();
    Append("steelyard::partition_parameters", Description(), {}, {});
    SY_RETURN_IF_ERROR(WriteModel(body, loss, stretches));
    for (std::size_t i = loss; i < body.size(); ++i) {
      body[i].arguments = Renamed(body[i].arguments);
      program_.main().nodes.push_back(body[i]);
    }
    Replacements replaced(program_);
    for (const auto& [of, by] : scopes_[0]) replaced.Set(of, by);
    replaced.InOutputs();
    const std::int64_t whole = ParameterBytes();
    KeepParts();
    program_.notes.push_back(program_.strings.Intern(fmt::format(
        "DeepSpeed: each of {} processes keeps {} of {} bytes of parameters; modules gather the "
        "others as they are called",
        options_.ranks, ParameterBytes(), whole)));
    return std::move(program_);
  }

 private:
  struct Parameter {
    ValueId id = kNoId;
    Dims sizes;
  };
  // What stands for values within a call of a module.
  using Scope = std::map<ValueId, ValueId>;

  Status Check() const {
    if (options_.recompute.empty()) return {};
    return Unexpected(Unsupported(
        "modules that run again in the backward pass are not modelled under DeepSpeed's stage 3",
        "--recompute, --parallel", "Leave one of them away, or weigh stage 2."));
  }

  // A second name of a parameter is the same one.
  void FindParameters() {
    std::map<std::string_view, ModuleId> modules;
    for (ModuleId m = 0; m < program_.modules.size(); ++m) {
      modules.emplace(program_.text(program_.modules[m].path), m);
    }
    std::map<ValueId, std::size_t> places;
    for (const NamedTensor& named : program_.parameters) {
      if (named.value == kNoId) continue;
      const bool is_tied = named.tied_to != kNoId;
      const ValueId id = is_tied ? program_.parameters[named.tied_to].value : named.value;
      const auto [found, is_new] = places.try_emplace(id, parameters_.size());
      if (is_new) parameters_.push_back({id, Dims(program_.sizes(id))});
      same_[named.value] = id;
      const std::string_view name = program_.text(named.name);
      const std::size_t point = name.rfind('.');
      const auto module =
          modules.find(point == std::string_view::npos ? "" : name.substr(0, point));
      if (module == modules.end()) continue;
      std::vector<std::size_t>& own = places_of_[module->second];
      if (std::ranges::count(own, found->second) == 0) own.push_back(found->second);
    }
  }

  std::vector<Argument> Description() {
    std::vector<Argument> parts;
    std::vector<std::int64_t> ranks, sizes, modules, places;
    for (const Parameter& parameter : parameters_) {
      parts.push_back(Argument::OfValue(parameter.id));
      ranks.push_back(parameter.sizes.size());
      sizes.insert(sizes.end(), parameter.sizes.begin(), parameter.sizes.end());
    }
    for (const auto& [module, own] : places_of_) {
      for (const std::size_t place : own) {
        modules.push_back(std::int64_t{module});
        places.push_back(static_cast<std::int64_t>(place));
      }
    }
    return {Argument::OfList(program_.AddArguments(parts)), IntsArgument(program_, ranks),
            IntsArgument(program_, sizes), IntsArgument(program_, modules),
            IntsArgument(program_, places)};
  }

  void Append(std::string_view name, std::span<const Argument> args,
              std::span<const ValueId> results, const ModuleStretch& in) {
    AppendCall(program_, name, args, results, Phase::kForward);
    program_.main().nodes.back().module = in.module;
    program_.main().nodes.back().call = in.call;
  }

  Status WriteModel(std::span<const Node> body, std::size_t count,
                    std::span<const ModuleStretch> stretches) {
    scopes_.emplace_back();
    std::vector<const ModuleStretch*> open;
    auto next = stretches.begin();
    for (std::size_t i = 0; i < count; ++i) {
      for (; next != stretches.end() && next->first == i; ++next) {
        Enter(*next);
        open.push_back(&*next);
      }
      Node node = body[i];
      SY_RETURN_IF_ERROR(CheckUses(node));
      node.op = program_.AddOpName(ops::ReplacedByEngine(program_.op_name(node.op)));
      node.arguments = Renamed(node.arguments);
      program_.main().nodes.push_back(node);
      for (; !open.empty() && open.back()->last == i; open.pop_back()) Leave(*open.back());
    }
    return {};
  }

  void Enter(const ModuleStretch& stretch) {
    std::vector<Argument> arguments;
    std::vector<ValueId> results;
    Scope scope;
    const auto own = places_of_.find(stretch.module);
    if (own != places_of_.end()) {
      for (const std::size_t place : own->second) {
        const Parameter& parameter = parameters_[place];
        const std::string name(program_.text(program_.values[parameter.id].name));
        results.push_back(
            AddResult(program_, name, program_.values[parameter.id].dtype, parameter.sizes));
        scope[parameter.id] = results.back();
      }
    }
    for (const ValueId id : stretch.inputs) {
      arguments.push_back(Argument::OfValue(Current(id)));
      results.push_back(Alike(id));
      scope[id] = results.back();
    }
    const std::array args{Argument::OfInt(std::int64_t{stretch.module}),
                          Argument::OfList(program_.AddArguments(arguments))};
    Append("steelyard::enter_engine_module", args, results, stretch);
    scopes_.push_back(std::move(scope));
  }

  void Leave(const ModuleStretch& stretch) {
    std::vector<Argument> arguments;
    std::vector<ValueId> results;
    for (const ValueId id : stretch.outputs) {
      arguments.push_back(Argument::OfValue(Current(id)));
      results.push_back(Alike(id));
    }
    const std::array args{Argument::OfInt(std::int64_t{stretch.module}),
                          Argument::OfList(program_.AddArguments(arguments))};
    Append("steelyard::leave_engine_module", args, results, stretch);
    scopes_.pop_back();
    for (std::size_t i = 0; i < results.size(); ++i) {
      scopes_.back()[stretch.outputs[i]] = results[i];
    }
  }

  // What a hook gives on: the same tensor, as far as the file tells.
  ValueId Alike(ValueId id) {
    Value value = program_.values[id];
    value.storage = program_.storage_count++;
    value.role = Role::kActivation;
    program_.values.push_back(value);
    return static_cast<ValueId>(program_.values.size() - 1);
  }

  ValueId Same(ValueId id) const {
    const auto found = same_.find(id);
    return found == same_.end() ? id : found->second;
  }

  ValueId Current(ValueId id) const {
    id = Same(id);
    for (const auto& scope : scopes_ | std::views::reverse) {
      const auto found = scope.find(id);
      if (found != scope.end()) return found->second;
    }
    return id;
  }

  Argument::Run Renamed(Argument::Run run) {
    std::vector<Argument> arguments;
    for (std::uint32_t i = 0; i < run.count; ++i) {
      Argument argument = program_.arguments[run.begin + i];
      if (argument.kind == ArgKind::kList) argument.list = Renamed(argument.list);
      if (argument.kind == ArgKind::kValue) argument.value = Current(argument.value);
      arguments.push_back(argument);
    }
    return program_.AddArguments(arguments);
  }

  // Another module's parameter is gathered on the way, which is not modelled.
  Status CheckUses(const Node& node) const {
    ValueId stranger = kNoId;
    for (const Argument& argument : program_.args(node)) {
      VisitValues(program_, argument, [&](ValueId id) {
        if (same_.contains(id) && Current(id) == Same(id)) stranger = id;
      });
    }
    if (stranger == kNoId) return {};
    const auto named = std::ranges::find(program_.parameters, stranger, &NamedTensor::value);
    return Unexpected(
        Unsupported(fmt::format("\"{}\", which is used outside of the module that has it,",
                                program_.text(named->name)) +
                        " is not modelled under DeepSpeed's stage 3",
                    std::string(kFlag), "Stage 2 keeps parameters whole: --parallel deepspeed2."));
  }

  // The last process's part of a parameter is filled up to the size of the others'.
  void KeepParts() {
    for (const Parameter& parameter : parameters_) {
      const std::int64_t elements = NumElements(parameter.sizes).value_or(0);
      const Dims sizes{DivideUp(elements, std::int64_t{options_.ranks})};
      const ValueId part = AddResult(program_, "", program_.values[parameter.id].dtype, sizes);
      Reshape(parameter.id, part);
    }
    for (const auto& [id, same] : same_) Reshape(id, same);
  }

  std::int64_t ParameterBytes() const {
    std::int64_t bytes = 0;
    for (const Parameter& parameter : parameters_) {
      const ValueId id = parameter.id;
      bytes += StorageBytes(program_.values[id].dtype, program_.sizes(id), program_.strides(id));
    }
    return bytes;
  }

  void Reshape(ValueId id, ValueId as) {
    program_.values[id].dims = program_.values[as].dims;
    program_.values[id].rank = program_.values[as].rank;
  }

  Program program_;
  const TrainOptions& options_;
  std::vector<Parameter> parameters_;
  std::map<ModuleId, std::vector<std::size_t>> places_of_;  // in parameters_
  std::map<ValueId, ValueId> same_;                         // of each name's value the first one
  std::vector<Scope> scopes_;
};

}  // namespace

Result<Program> PartitionModules(Program program, const TrainOptions& options) {
  return Partitioning(std::move(program), options).Run();
}

}  // namespace steelyard
