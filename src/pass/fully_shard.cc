// SPDX-License-Identifier: Apache-2.0
//
// A unit is a module whose parameters are gathered together before it is called. Its calls become
// graphs that `steelyard::run_shard_unit` runs; what no unit has belongs to the model, the root,
// whose parameters are gathered once. The operators that the pass writes say which parameters
// belong to which unit; what is gathered when, they know (ops/parallel/fully_shard.h).

#include "pass/fully_shard.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/visit_values.h"
#include "pass/append_call.h"
#include "pass/model_outputs.h"
#include "pass/outline.h"
#include "pass/parameter_pattern.h"
#include "support/rounding.h"

namespace steelyard {
namespace {

using UnitIndex = std::uint32_t;
constexpr UnitIndex kRoot = 0;
constexpr std::string_view kFlag = "--shard-units";

// The last word of a module's path: what its parent calls it.
std::string_view NameInParent(std::string_view path) { return path.substr(path.rfind('.') + 1); }

bool IsNumbered(std::string_view path) {
  const std::string_view name = NameInParent(path);
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return isdigit(c); });
}

class Units {
 public:
  Units(const Program& program, const TrainOptions& options)
      : program_(program), options_(options) {}

  Status Find() {
    SY_RETURN_IF_ERROR(Name());
    unit_of_module_.assign(program_.modules.size(), kRoot);
    for (ModuleId m = 1; m < named_.size(); ++m) {
      if (!named_[m]) continue;
      for (ModuleId a = program_.modules[m].parent; a != 0 && a != kNoId;
           a = program_.modules[a].parent) {
        if (!named_[a]) continue;
        return Unexpected(Unsupported(
            fmt::format(R"("{}" is a unit within the unit "{}")", Path(m), Path(a)),
            std::string(kFlag), "Name one of them: a unit within a unit is not modelled."));
      }
      unit_of_module_[m] = static_cast<UnitIndex>(modules_.size());
      modules_.push_back(m);
    }
    return AssignParameters();
  }

  const std::vector<bool>& named() const { return named_; }
  UnitIndex unit_of(ModuleId module) const { return unit_of_module_[module]; }
  // Of each unit, the root first: its module, and its parameters in their order.
  std::size_t count() const { return modules_.size(); }
  std::string_view path(UnitIndex unit) const { return unit == kRoot ? "" : Path(modules_[unit]); }
  const std::vector<std::pair<ValueId, UnitIndex>>& parameters() const { return parameters_; }
  // kNoId: no parameter.
  UnitIndex owner(ValueId id) const {
    const auto found = owner_.find(id);
    return found == owner_.end() ? kNoId : found->second;
  }

 private:
  std::string_view Path(ModuleId m) const { return program_.text(program_.modules[m].path); }

  Status Name() {
    const std::vector<std::string>& patterns = options_.parallel.units;
    SY_ASSIGN_OR_RETURN(named_, ModulesMatching(program_, patterns, kFlag));
    if (patterns.empty()) NameLayers();
    return {};
  }

  // The members of lists, the outermost ones: those of one class that only a number tells apart.
  // A list itself is never called, and need not be among the modules.
  void NameLayers() {
    std::map<std::string_view, std::vector<ModuleId>> children;
    for (ModuleId m = 1; m < named_.size(); ++m) {
      const std::string_view path = Path(m);
      children[path.substr(0, path.size() - NameInParent(path).size())].push_back(m);
    }
    for (const auto& [list, members] : children) {
      const StringId class_name = program_.modules[members[0]].class_name;
      const bool alike =
          members.size() > 1 && std::ranges::all_of(members, [&](ModuleId m) {
            return IsNumbered(Path(m)) && program_.modules[m].class_name == class_name;
          });
      if (!alike) continue;
      for (const ModuleId m : members) named_[m] = true;
    }
    for (ModuleId m = 1; m < named_.size(); ++m) {
      for (ModuleId a = program_.modules[m].parent; a != 0 && a != kNoId && named_[m];
           a = program_.modules[a].parent) {
        if (named_[a]) named_[m] = false;
      }
    }
  }

  // As fully_shard finds them: those of the modules within a module before its own.
  void Order(std::span<const NamedTensor*> named, std::size_t prefix,
             std::vector<const NamedTensor*>* out) const {
    std::vector<const NamedTensor*> own;
    const auto child = [&](const NamedTensor* tensor) {
      const std::string_view rest = program_.text(tensor->name).substr(prefix);
      const std::size_t point = rest.find('.');
      return point == std::string_view::npos ? std::string_view() : rest.substr(0, point + 1);
    };
    for (std::size_t begin = 0; begin < named.size();) {
      const std::string_view name = child(named[begin]);
      if (name.empty()) {
        own.push_back(named[begin++]);
        continue;
      }
      std::size_t end = begin;
      while (end < named.size() && child(named[end]) == name) ++end;
      Order(named.subspan(begin, end - begin), prefix + name.size(), out);
      begin = end;
    }
    out->insert(out->end(), own.begin(), own.end());
  }

  Status AssignParameters() {
    std::vector<const NamedTensor*> all, ordered;
    for (const NamedTensor& parameter : program_.parameters) {
      if (parameter.value != kNoId) all.push_back(&parameter);
    }
    Order(all, 0, &ordered);
    for (const NamedTensor* const tensor : ordered) {
      const NamedTensor& parameter = *tensor;
      const std::string_view name = program_.text(parameter.name);
      UnitIndex unit = kRoot;
      for (UnitIndex u = 1; u < modules_.size(); ++u) {
        const std::string_view path = Path(modules_[u]);
        if (name.starts_with(path) && name.substr(path.size()).starts_with('.')) unit = u;
      }
      const auto [known, fresh] = owner_.try_emplace(parameter.value, unit);
      if (fresh) parameters_.emplace_back(parameter.value, unit);
      if (known->second == unit) continue;
      return Unexpected(InvalidInput(
          fmt::format(R"("{}" belongs to the unit "{}" and to "{}")", name, path(known->second),
                      path(unit)),
          std::string(kFlag), "fully_shard refuses it, too: name a module that has all of it."));
    }
    for (const auto& [id, unit] : parameters_) {
      if (program_.values[id].rank > 0) continue;
      return Unexpected(InvalidInput(
          fmt::format("the parameter \"{}\" is a single number, of which there are no parts",
                      program_.text(program_.values[id].name)),
          "--parallel fsdp", "fully_shard refuses it, too: give it one dimension, of size 1."));
    }
    return {};
  }

  const Program& program_;
  const TrainOptions& options_;
  std::vector<bool> named_;                // by module
  std::vector<ModuleId> modules_{0};       // by unit
  std::vector<UnitIndex> unit_of_module_;  // of those that are named
  std::vector<std::pair<ValueId, UnitIndex>> parameters_;
  std::map<ValueId, UnitIndex> owner_;
};

class Sharding {
 public:
  Sharding(Program program, const TrainOptions& options)
      : program_(std::move(program)),
        options_(options),
        units_(program_, options),
        replaced_(program_) {}

  Result<Program> Run() {
    SY_RETURN_IF_ERROR(CheckOptimizer());
    SY_RETURN_IF_ERROR(units_.Find());
    SY_RETURN_IF_ERROR(OutlineUnits());
    SY_RETURN_IF_ERROR(CheckUses());
    SY_RETURN_IF_ERROR(CheckReduction());
    WriteCalls();
    const std::int64_t whole = ParameterBytes();
    for (const auto& [id, unit] : units_.parameters()) KeepPart(id);
    Note(
        fmt::format("fully_shard: each of {} processes keeps {} of {} bytes of parameters; those "
                    "of {} module{} "
                    "and the rest are gathered when they are needed",
                    options_.ranks, ParameterBytes(), whole, units_.count() - 1,
                    units_.count() == 2 ? "" : "s"));
    if (options_.clip_norm) {
      Note(
          "fully_shard: what its processes exchange to find the norm of all gradients, a few "
          "numbers, is not counted");
    }
    return std::move(program_);
  }

 private:
  Status CheckOptimizer() const {
    const auto optimizer =
        std::ranges::find(Optimizers(), options_.optimizer, &OptimizerInfo::name);
    if (optimizer == Optimizers().end() || optimizer->takes_parts) return {};
    return Unexpected(
        Unsupported(fmt::format("{} on parts of parameters is not modelled", optimizer->class_name),
                    "--train, --parallel fsdp",
                    "Optimizers that take each element by itself are, such as AdamW and SGD."));
  }

  // Autograd would cast each gradient to the narrower dtype as it is ready.
  Status CheckReduction() const {
    const ShardPrecision& policy = options_.parallel.precision;
    for (const auto& [id, unit] : units_.parameters()) {
      const DType own = program_.values[id].dtype;
      if (!IsFloating(own) || !program_.values[id].requires_grad) continue;
      const DType computed = policy.param.value_or(own), reduced = policy.reduce.value_or(own);
      if (computed == reduced || BitsOf(reduced) > BitsOf(computed)) continue;
      return Unexpected(Unsupported(
          fmt::format("gradients in {} that are reduced in {} are not modelled", NameOf(computed),
                      NameOf(reduced)),
          "--mp-policy", "Reduce them in the dtype of the computation or a wider one."));
    }
    return {};
  }

  static bool IsUnit(const Program& program, const Node& node) {
    return program.op_name(node.op) == kRunUnit;
  }

  Status OutlineUnits() {
    SY_ASSIGN_OR_RETURN(const std::vector<CallNodes> regions,
                        CallNodesOf(program_, units_.named(), kFlag));
    if (regions.empty() && !options_.parallel.units.empty()) {
      return Unexpected(NothingRunsIn(kFlag));
    }
    Outline(program_, regions, kRunUnit, [&](const CallNodes& region) {
      return Argument::OfInt(std::int64_t{units_.unit_of(region.module)});
    });
    return {};
  }

  // A parameter is there only while its unit runs, and the root's always.
  Status CheckUses() const {
    for (const Node& node : program_.main().nodes) {
      const bool is_unit = IsUnit(program_, node);
      const UnitIndex unit =
          is_unit ? static_cast<UnitIndex>(program_.args(node)[2].dim.number()) : kRoot;
      ValueId stranger = kNoId;
      for (const Argument& argument : program_.args(node)) {
        VisitValues(program_, argument, [&](ValueId id) {
          const UnitIndex owner = units_.owner(id);
          if (owner != kNoId && owner != kRoot && owner != unit) stranger = id;
        });
      }
      if (stranger == kNoId) continue;
      return Unexpected(
          InvalidInput(fmt::format(R"(the parameter "{}" is used outside of its unit, "{}")",
                                   program_.text(program_.values[stranger].name),
                                   units_.path(units_.owner(stranger))),
                       std::string(kFlag),
                       "Only there is it gathered: name a module that has all of its uses."));
    }
    return {};
  }

  void WriteCalls() {
    std::vector<Node> body = std::exchange(program_.main().nodes, {});
    const auto loss = std::ranges::find(body, Phase::kLoss, &Node::phase);
    WriteEnter();
    const auto begin = static_cast<std::ptrdiff_t>(program_.main().nodes.size());
    std::vector<Node>& nodes = program_.main().nodes;
    nodes.insert(nodes.end(), body.begin(), loss);
    for (auto node = nodes.begin() + begin; node != nodes.end(); ++node) {
      node->arguments = replaced_.In(node->arguments);
    }
    WriteLeave({nodes.begin() + begin, nodes.end()});
    for (auto node = loss; node != body.end(); ++node) {
      node->arguments = replaced_.In(node->arguments);
      nodes.push_back(*node);
    }
    replaced_.InOutputs();
  }

  static Argument AsArgument(std::optional<DType> dtype) {
    return dtype ? Argument::OfDType(*dtype) : Argument::None();
  }

  // What a policy casts to `dtype` is another value from here on.
  void Cast(ValueId id, std::optional<DType> dtype, std::vector<ValueId>* results) {
    const Value& value = program_.values[id];
    const DType to = dtype && IsFloating(value.dtype) ? *dtype : value.dtype;
    const Dims copy(program_.sizes(id));
    const std::string name(program_.text(value.name));
    results->push_back(AddResult(program_, name, to, copy));
    replaced_.Set(id, results->back());
  }

  // The model's inputs that are cast.
  Argument CastInputs(std::vector<ValueId>* results) {
    const ShardPrecision& policy = options_.parallel.precision;
    std::vector<Argument> inputs;
    for (const ValueId id : program_.inputs) {
      const Value& value = program_.values[id];
      if (!policy.param || !policy.cast_inputs || value.kind != ValueKind::kTensor) continue;
      if (!IsFloating(value.dtype) || value.dtype == *policy.param) continue;
      inputs.push_back(Argument::OfValue(id));
      Cast(id, policy.param, results);
    }
    return Argument::OfList(program_.AddArguments(inputs));
  }

  // The root's parameters as a whole are results of the first call.
  void WriteEnter() {
    std::vector<Argument> parameters, rows, owners, names;
    std::vector<ValueId> whole;
    for (const auto& [id, unit] : units_.parameters()) {
      parameters.push_back(Argument::OfValue(id));
      rows.push_back(Argument::OfInt(program_.sizes(id)[0]));
      owners.push_back(Argument::OfInt(std::int64_t{unit}));
      if (unit != kRoot) continue;
      const std::span<const std::int64_t> sizes = program_.sizes(id);
      const Dims copy(sizes);
      whole.push_back(AddResult(program_, program_.text(program_.values[id].name),
                                program_.values[id].dtype, copy));
      replaced_.Set(id, whole.back());
    }
    for (UnitIndex unit = 0; unit < units_.count(); ++unit) {
      names.push_back(Argument::OfString(program_.strings.Intern(units_.path(unit))));
    }
    const ShardPrecision& policy = options_.parallel.precision;
    const Argument inputs = CastInputs(&whole);
    const std::array args{Argument::OfList(program_.AddArguments(parameters)),
                          Argument::OfList(program_.AddArguments(rows)),
                          Argument::OfList(program_.AddArguments(owners)),
                          Argument::OfList(program_.AddArguments(names)),
                          Argument::OfInt(std::int64_t{options_.ranks}),
                          Argument::OfBool(options_.parallel.keep_gathered),
                          Argument::OfBool(options_.first_step),
                          inputs,
                          AsArgument(policy.param),
                          AsArgument(policy.reduce),
                          AsArgument(policy.output),
                          Argument::OfBool(policy.cast_inputs)};
    AppendCall(program_, "steelyard::enter_fully_shard", args, whole, Phase::kForward);
  }

  // With what the model gives its caller, which says when the backward pass begins.
  void WriteLeave(const std::vector<Node>& forward) {
    std::vector<Argument> outputs = ModelOutputs(program_, forward);
    std::ranges::reverse(outputs);  // in which order they are let go
    std::vector<ValueId> results;
    const std::optional<DType> dtype = options_.parallel.precision.output;
    for (const Argument& output : outputs) {
      if (dtype) Cast(output.value, dtype, &results);
    }
    const std::array args{Argument::OfList(program_.AddArguments(outputs))};
    AppendCall(program_, "steelyard::leave_fully_shard", args, results, Phase::kForward);
  }

  void Note(std::string_view line) { program_.notes.push_back(program_.strings.Intern(line)); }

  std::int64_t ParameterBytes() const {
    std::int64_t bytes = 0;
    for (const auto& [id, unit] : units_.parameters()) {
      bytes += StorageBytes(program_.values[id].dtype, program_.sizes(id), program_.strides(id));
    }
    return bytes;
  }

  // torch.chunk: every process but the last ones has as many rows.
  void KeepPart(ValueId id) {
    Dims sizes(program_.sizes(id));
    sizes[0] = DivideUp(sizes[0], options_.ranks);
    const ValueId part = AddResult(program_, "", program_.values[id].dtype, sizes);
    program_.values[id].dims = program_.values[part].dims;
  }

  static constexpr std::string_view kRunUnit = "steelyard::run_shard_unit";

  Program program_;
  const TrainOptions& options_;
  Units units_;
  Replacements replaced_;  // the root's parameters by whole ones, and what is cast
};

}  // namespace

Result<Program> FullyShard(Program program, const TrainOptions& options) {
  return Sharding(std::move(program), options).Run();
}

}  // namespace steelyard
