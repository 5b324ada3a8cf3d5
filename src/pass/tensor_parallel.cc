// SPDX-License-Identifier: Apache-2.0
//
// Decides which calls are shared, by the weights that they take; which values are parts because of
// that, from a layer that gives a part to one that takes it; and what becomes of the sizes that a
// file says of them: none, but where a call names them as arguments.

#include "pass/tensor_parallel.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/visit_values.h"
#include "ops/parallel/layer_styles.h"
#include "pass/append_call.h"
#include "pass/arguments.h"
#include "pass/decompose.h"
#include "pass/parallelize.h"
#include "pass/parameter_pattern.h"
#include "support/choices.h"
#include "support/rounding.h"

namespace steelyard {
namespace {

using ops::LayerStyle;

constexpr std::string_view kFlag = "--tp-plan";

Status CheckOptimizer(std::string_view name) {
  const auto optimizer = std::ranges::find(Optimizers(), name, &OptimizerInfo::name);
  if (optimizer == Optimizers().end() || optimizer->takes_parts) return {};
  return Unexpected(
      Unsupported(fmt::format("{} on parts of parameters is not modelled", optimizer->class_name),
                  "--train, --parallel tp",
                  "Optimizers that take each element by itself are, such as AdamW and SGD."));
}

Status CheckForms(const std::vector<OptimizerOption>& options) {
  for (const OptimizerOption& option : options) {
    if ((option.name != "foreach" && option.name != "fused") || option.value != "True") continue;
    return Unexpected(Unsupported(
        fmt::format("PyTorch steps shared layers beside others one by one, not {}", option.name),
        "--parallel tp", fmt::format("Leave --{} away.", option.name)));
  }
  return {};
}

// Of all groups of parameters.
Status CheckOptimizers(const TrainOptions& options) {
  SY_RETURN_IF_ERROR(CheckOptimizer(options.optimizer));
  SY_RETURN_IF_ERROR(CheckForms(options.options));
  for (const ParameterGroup& group : options.groups) {
    SY_RETURN_IF_ERROR(CheckOptimizer(group.optimizer));
    SY_RETURN_IF_ERROR(CheckForms(group.options));
  }
  return {};
}

Status CheckStep(const PassOptions& options) {
  SY_RETURN_IF_ERROR(CheckProcesses(options.train));
  if (options.amp.policy != CastPolicy::kTorch) {
    return Unexpected(Unsupported("a compiler's mixed precision of shared layers is not modelled",
                                  "--amp-policy, --parallel tp", "Leave one away."));
  }
  if (options.train.clip_norm || options.train.clip_value) {
    return Unexpected(Unsupported(
        "PyTorch clips no gradients of which some are shared",
        options.train.clip_norm ? "--clip-norm, --parallel tp" : "--clip-value, --parallel tp",
        "It refuses tensors of several kinds in one list: leave one away."));
  }
  return CheckOptimizers(options.train);
}

// A module of the plan.
struct Layer {
  ModuleId module = 0;
  std::string_view style;
  ValueId weight = kNoId, bias = kNoId;
  bool runs = false;
};

class Sharing {
 public:
  Sharing(Program program, const PassOptions& options)
      : program_(std::move(program)),
        ranks_(options.train.ranks),
        rank_(options.train.parallel.rank.value_or(0)),
        plan_(options.train.parallel.plan),
        target_(options.target),
        is_part_(program_.values.size(), false) {}

  Result<Program> Run() {
    SY_RETURN_IF_ERROR(FindLayers());
    SY_RETURN_IF_ERROR(FindSizes());
    for (Node& node : program_.main().nodes) {
      // Of a copy: what a node takes moves as arguments are added.
      SY_ASSIGN_OR_RETURN(node, Rewritten(node));
    }
    SY_RETURN_IF_ERROR(CheckLayers());
    SY_RETURN_IF_ERROR(CheckOutputs());
    const std::int64_t whole = ParameterBytes();
    for (const auto& [id, dim] : shared_) KeepPart(id, dim);
    Note(
        fmt::format("parallelize_module: process {} of {} keeps {} of {} bytes of parameters; "
                    "sizes that views name behind {} shared layers are those of its part",
                    rank_, ranks_, ParameterBytes(), whole, layers_.size()));
    return std::move(program_);
  }

 private:
  std::string_view Path(const Layer& layer) const {
    return program_.text(program_.modules[layer.module].path);
  }
  Error NotModelled(std::string message, std::string hint) const {
    return Unsupported(std::move(message), std::string(kFlag), std::move(hint));
  }

  // --- Layers ------------------------------------------------------------------------------------

  Status FindLayers() {
    std::vector<std::string_view> styles;
    for (const LayerStyle& style : ops::LayerStyles()) {
      if (std::ranges::find(styles, style.name) == styles.end()) styles.push_back(style.name);
    }
    std::vector<bool> taken(program_.modules.size(), false);
    for (const LayerPlan& entry : plan_) {
      const auto style = std::ranges::find(styles, entry.style);
      if (style == styles.end()) {
        return Unexpected(NoSuch("style", entry.style, styles, std::string(kFlag)));
      }
      SY_ASSIGN_OR_RETURN(const std::vector<bool> named,
                          ModulesMatching(program_, {&entry.pattern, 1}, kFlag));
      for (ModuleId m = 0; m < named.size(); ++m) {
        if (!named[m] || taken[m]) continue;
        taken[m] = true;
        layers_.push_back({.module = m, .style = *style});
        SY_RETURN_IF_ERROR(FindParameters(layers_.back()));
      }
    }
    for (Layer& layer : layers_) of_weight_.emplace(layer.weight, &layer);
    return {};
  }

  Status FindParameters(Layer& layer) {
    for (const NamedTensor& parameter : program_.parameters) {
      const std::string_view name = program_.text(parameter.name);
      if (!name.starts_with(Path(layer))) continue;
      const std::string_view rest = name.substr(Path(layer).size());
      if (rest != ".weight" && rest != ".bias") continue;
      if (IsTied(parameter)) {
        return Unexpected(NotModelled(
            fmt::format("\"{}\" has another name, which parallelize_module would leave whole",
                        name),
            "Leave its module out of the plan."));
      }
      (rest == ".weight" ? layer.weight : layer.bias) = parameter.value;
    }
    if (layer.weight != kNoId) return {};
    return Unexpected(
        NotModelled(fmt::format("\"{}\" has no weight that processes could share", Path(layer)),
                    "parallelize_module takes modules that are a Linear or an Embedding."));
  }

  bool IsTied(const NamedTensor& parameter) const {
    const auto index = static_cast<std::uint32_t>(&parameter - program_.parameters.data());
    return parameter.tied_to != kNoId ||
           std::ranges::find(program_.parameters, index, &NamedTensor::tied_to) !=
               program_.parameters.end() ||
           std::ranges::count(program_.parameters, parameter.value, &NamedTensor::value) > 1;
  }

  Status CheckLayers() const {
    for (const Layer& layer : layers_) {
      if (layer.runs) continue;
      return Unexpected(NotModelled(
          fmt::format("no operator of the program takes the weight of \"{}\"", Path(layer)),
          "Leave it out of the plan."));
    }
    return {};
  }

  // --- Sizes -------------------------------------------------------------------------------------

  // As operators' rows find them for the whole model, where the program does not say them.
  Status FindSizes() {
    std::vector<Argument> results;
    bool all_said = true;
    for (const Node& node : program_.main().nodes) {
      for (const ValueId id : program_.results(node)) {
        if (id == kNoId || program_.values[id].kind != ValueKind::kTensor) continue;
        results.push_back(Argument::OfValue(id));
        all_said = all_said && program_.values[id].has_layout;
      }
    }
    if (all_said) return {};
    Program whole = program_;
    whole.main().outputs = results;
    SY_ASSIGN_OR_RETURN(const Program kernels, Decompose(whole, target_));
    const std::vector<Argument>& found = kernels.main().outputs;
    for (std::size_t i = 0; i < std::min(results.size(), found.size()); ++i) {
      if (found[i].kind != ArgKind::kValue || !kernels.values[found[i].value].has_layout) continue;
      sizes_.emplace(results[i].value, Dims(kernels.sizes(found[i].value)));
    }
    return {};
  }

  // --- Calls -------------------------------------------------------------------------------------

  std::string Where(const Node& node) const {
    const std::span<const ValueId> results = program_.results(node);
    const std::string_view result = results.empty() || results[0] == kNoId
                                        ? ""
                                        : program_.text(program_.values[results[0]].name);
    return fmt::format("{} \"{}\"", program_.op_name(node.op), result);
  }

  Result<Node> Rewritten(const Node& node) {
    Layer* layer = nullptr;
    bool of_part = false;
    for (const Argument& argument : program_.args(node)) {
      VisitValues(program_, argument, [&](ValueId id) {
        const auto found = of_weight_.find(id);
        if (found != of_weight_.end()) layer = found->second;
        of_part = of_part || is_part_[id];
      });
    }
    if (layer != nullptr) return Shared(node, *layer);
    SY_RETURN_IF_ERROR(CheckBiases(node));
    if (!of_part) return node;
    MarkResults(node);
    return OfPart(node);
  }

  // Of layers that ran before.
  Status CheckBiases(const Node& node) const {
    for (const Argument& argument : program_.args(node)) {
      bool is_shared = false;
      VisitValues(program_, argument, [&](ValueId id) { is_shared |= shared_.contains(id); });
      if (!is_shared) continue;
      return Unexpected(NotModelled(
          fmt::format("{} takes a parameter of a layer of the plan besides that", Where(node)),
          "Leave the layer out of the plan."));
    }
    return {};
  }

  void MarkResults(const Node& node) {
    for (const ValueId id : program_.results(node)) {
      if (id == kNoId || program_.values[id].kind != ValueKind::kTensor) continue;
      is_part_[id] = true;
      if (std::exchange(program_.values[id].has_layout, false)) {
        sizes_.emplace(id, Dims(program_.sizes(id)));
      }
    }
  }

  // Where among the arguments of a node one stands, by its name.
  Argument Named(const Node& node, std::string_view name) const {
    const OpDef* def = FindOp(OpName::FromRuntime(program_.op_name(node.op)));
    const std::optional<std::size_t> at =
        def == nullptr ? std::nullopt : ArgumentNamed(program_, node, *def, name);
    Argument argument = at ? program_.args(node)[*at] : Argument::None();
    argument.name = kNoString;
    return argument;
  }

  Result<Node> Shared(Node node, Layer& layer) {
    const auto is_asked = [&](const LayerStyle& style) {
      return style.name == layer.style && style.op == program_.op_name(node.op);
    };
    const auto style = std::ranges::find_if(ops::LayerStyles(), is_asked);
    const bool fits = style != ops::LayerStyles().end() &&
                      Named(node, "weight").kind == ArgKind::kValue &&
                      Named(node, "weight").value == layer.weight;
    if (!fits) {
      return Unexpected(NotModelled(
          fmt::format("{} takes the weight of \"{}\", which as {} is not modelled", Where(node),
                      Path(layer), layer.style),
          "Modelled are colwise and rowwise of a Linear, and colwise of an Embedding."));
    }
    SY_RETURN_IF_ERROR(CheckInput(node, *style, layer));
    SY_RETURN_IF_ERROR(Share(layer.weight, style->weight_dim, style->takes_part));
    if (style->splits_bias && layer.bias != kNoId) SY_RETURN_IF_ERROR(Share(layer.bias, 0, false));
    layer.runs = true;
    if (style->splits_result) MarkResults(node);
    std::vector<Argument> args;
    for (const std::string_view name : style->arguments) args.push_back(Named(node, name));
    args.push_back(Argument::OfInt(ranks_));
    if (!style->takes_part) {
      args.push_back(Argument::OfInt(rank_));
      const std::int64_t size =
          program_.sizes(layer.weight)[static_cast<std::size_t>(style->weight_dim)];
      args.push_back(Argument::OfInt(style->gathers ? size : 0));
    }
    node.op = program_.AddOpName(style->replacement);
    node.arguments = program_.AddArguments(args);
    return node;
  }

  // A layer is called with a part where its style takes one, and else with a whole.
  Status CheckInput(const Node& node, const LayerStyle& style, const Layer& layer) const {
    const Argument input = Named(node, style.input);
    const bool is_part = input.kind == ArgKind::kValue && is_part_[input.value];
    if (is_part == style.takes_part) return {};
    return Unexpected(InvalidInput(
        fmt::format("\"{}\" is {}, but {} is what it is called with", Path(layer), style.name,
                    is_part ? "a part" : "the whole"),
        std::string(kFlag),
        is_part ? "A rowwise layer takes parts, and gives wholes."
                : "Behind a colwise layer there are parts, which a rowwise one takes."));
  }

  Status Share(ValueId id, int dim, bool evenly) {
    const std::int64_t size = program_.sizes(id)[static_cast<std::size_t>(dim)];
    const std::string_view name = program_.text(program_.values[id].name);
    if (evenly && size % ranks_ != 0) {
      return Unexpected(InvalidInput(
          fmt::format("{} processes cannot share {} columns of \"{}\" evenly", ranks_, size, name),
          std::string(kFlag), "PyTorch refuses it, too."));
    }
    if (PartOf(size) == 0) {
      return Unexpected(
          NotModelled(fmt::format("process {} of {} has nothing of \"{}\"", rank_, ranks_, name),
                      "Name fewer processes: --ranks."));
    }
    shared_.emplace(id, dim);
    return {};
  }

  // torch.chunk
  std::int64_t PartOf(std::int64_t size) const {
    const std::int64_t chunk = DivideUp(size, ranks_);
    return std::clamp<std::int64_t>(size - rank_ * chunk, 0, chunk);
  }

  // A call that names sizes of its first operand, or places in it.
  Node OfPart(Node node) {
    const std::string_view op = program_.op_name(node.op);
    const auto call = std::ranges::find(ops::PartCalls(), op, &ops::PartCall::op);
    const std::span<const Argument> given = program_.args(node);
    if (call == ops::PartCalls().end() || given.empty()) return node;
    if (given[0].kind != ArgKind::kValue || !is_part_[given[0].value]) return node;
    const auto whole = sizes_.find(given[0].value);
    if (whole == sizes_.end()) return node;
    std::vector<Argument> args(given.begin(), given.end());
    args.insert(args.begin() + 1, IntsArgument(program_, whole->second));
    node.op = program_.AddOpName(call->replacement);
    node.arguments = program_.AddArguments(args);
    return node;
  }

  Status CheckOutputs() const {
    for (const Argument& output : program_.main().outputs) {
      if (output.kind != ArgKind::kValue || !is_part_[output.value]) continue;
      return Unexpected(NotModelled(fmt::format("the model gives a part of \"{}\"",
                                                program_.text(program_.values[output.value].name)),
                                    "Have the last layer put the whole together: colwise_gather."));
    }
    return {};
  }

  // --- What is left ------------------------------------------------------------------------------

  void KeepPart(ValueId id, int dim) {
    Dims sizes(program_.sizes(id));
    sizes[dim] = PartOf(sizes[dim]);
    const ValueId part = AddResult(program_, "", program_.values[id].dtype, sizes);
    program_.values[id].dims = program_.values[part].dims;
  }

  std::int64_t ParameterBytes() const {
    std::int64_t bytes = 0;
    std::set<ValueId> seen;
    for (const NamedTensor& parameter : program_.parameters) {
      const ValueId id = parameter.value;
      if (id == kNoId || !seen.insert(id).second) continue;
      bytes += StorageBytes(program_.values[id].dtype, program_.sizes(id), program_.strides(id));
    }
    return bytes;
  }

  void Note(std::string_view line) { program_.notes.push_back(program_.strings.Intern(line)); }

  Program program_;
  std::int64_t ranks_, rank_;
  const std::vector<LayerPlan>& plan_;
  const Target& target_;
  std::vector<bool> is_part_;  // by value
  std::vector<Layer> layers_;
  std::map<ValueId, Layer*> of_weight_;
  std::map<ValueId, int> shared_;  // parameters, and along which dimension
  std::map<ValueId, Dims> sizes_;  // of wholes
};

}  // namespace

Result<Program> ShareLayers(Program program, const PassOptions& options) {
  SY_RETURN_IF_ERROR(CheckStep(options));
  return Sharing(std::move(program), options).Run();
}

}  // namespace steelyard
