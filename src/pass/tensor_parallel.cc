// SPDX-License-Identifier: Apache-2.0
//
// Decides which calls are shared, by the weights that they take; which values are parts because of
// that, from a layer that gives a part to one that takes it; and what becomes of the sizes that a
// file says of them: none, but where a call names them as arguments.

#include "pass/tensor_parallel.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/visit_values.h"
#include "ops/parallel/layer_styles.h"
#include "pass/append_call.h"
#include "pass/arguments.h"
#include "pass/module_span.h"
#include "pass/parallelize.h"
#include "pass/parameter_pattern.h"
#include "pass/shared_modules.h"
#include "pass/shared_style.h"
#include "pass/shared_values.h"
#include "pass/transformers_plans.h"
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

Error NotModelled(std::string message, std::string hint) {
  return Unsupported(std::move(message), std::string(kFlag), std::move(hint));
}

// Whether a module or a parameter of the program is meant.
bool Names(const Program& program, const std::string& pattern) {
  return ModulesMatching(program, {&pattern, 1}, kFlag).has_value() ||
         std::ranges::count(ParametersMatching(program, pattern), true) > 0;
}

Result<std::vector<LayerPlan>> PlanOfTransformers(const Program& program) {
  const StringId class_name = program.modules.empty() ? kNoString : program.modules[0].class_name;
  const std::string_view name = class_name == kNoString ? "" : program.text(class_name);
  const auto known = std::ranges::find(TransformersPlans(), name, &TransformersPlan::class_name);
  if (known == TransformersPlans().end()) {
    return Unexpected(NotModelled(
        fmt::format("transformers has no plan of \"{}\"", name),
        "It has plans of causal language models; write one: --tp-plan '*.up=colwise,...'."));
  }
  std::vector<LayerPlan> plan;
  for (std::string_view rest = known->plan; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t equals = entry.find('=');
    LayerPlan layer{std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))};
    if (!Names(program, layer.pattern)) continue;  // a plan is of several sorts of layers
    plan.push_back(std::move(layer));
    if (ReadSharedStyle(plan.back().style)) continue;
    return Unexpected(
        NotModelled(fmt::format("transformers shares \"{}\" as {}, which is not modelled",
                                plan.back().pattern, plan.back().style),
                    "Write a plan of the other layers: --tp-plan '*.q_proj=colwise,...'."));
  }
  return plan;
}

class Sharing {
 public:
  Sharing(Program program, const PassOptions& options)
      : program_(std::move(program)),
        group_{.ranks = options.train.ranks, .rank = options.train.parallel.rank.value_or(0)},
        plan_(options.train.parallel.plan),
        trains_(!options.train.optimizer.empty()),
        target_(options.target),
        values_(program_),
        modules_(program_, group_, values_) {}

  Result<Program> Run() {
    SY_RETURN_IF_ERROR(FindLayers());
    SY_RETURN_IF_ERROR(values_.FindSizes(target_));
    const std::vector<Node> nodes = std::exchange(program_.main().nodes, {});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      SY_RETURN_IF_ERROR(modules_.Enter(layers_, nodes, i));
      SY_ASSIGN_OR_RETURN(const Node node, Rewritten(nodes[i]));
      program_.main().nodes.push_back(node);
      modules_.Leave(nodes, i);
    }
    SY_RETURN_IF_ERROR(CheckLayers());
    SY_RETURN_IF_ERROR(CheckOutputs());
    const std::int64_t whole = ParameterBytes();
    for (const auto& [id, dim] : shared_) KeepPart(id, dim);
    Note(
        fmt::format("parallelize_module: process {} of {} keeps {} of {} bytes of parameters; "
                    "sizes that views name behind {} shared layers are those of its part",
                    group_.rank, group_.ranks, ParameterBytes(), whole, layers_.size()));
    return std::move(program_);
  }

 private:
  std::string_view Path(const SharedLayer& layer) const { return PathOf(program_, layer); }

  // --- Layers ------------------------------------------------------------------------------------

  // Whether the plan is transformers' own, which one word says.
  bool IsAuto() const {
    return plan_.size() == 1 && plan_[0].pattern == "auto" && plan_[0].style.empty();
  }

  Status FindLayers() {
    is_auto_ = IsAuto();
    if (is_auto_) {
      SY_ASSIGN_OR_RETURN(plan_, PlanOfTransformers(program_));
    }
    in_place_ = is_auto_ && !trains_;
    std::vector<bool> taken(program_.modules.size(), false);
    for (const LayerPlan& entry : plan_) {
      SY_ASSIGN_OR_RETURN(const SharedStyle style, ReadSharedStyle(entry.style));
      const Result<std::vector<bool>> named = ModulesMatching(program_, {&entry.pattern, 1}, kFlag);
      if (!named && is_auto_) continue;  // a plan is of several sorts of layers
      if (!named) return Unexpected(named.error());
      for (ModuleId m = 0; m < named->size(); ++m) {
        if (!(*named)[m] || taken[m]) continue;
        taken[m] = true;
        if (style.name == "replicated") continue;
        layers_.push_back({.module = m, .style = style});
        SharedLayer& layer = layers_.back();
        const bool is_around = style.is_sequence() || style.prepares();
        SY_RETURN_IF_ERROR(is_around ? FindSpan(layer) : FindParameters(layer));
      }
    }
    if (layers_.empty()) {
      return Unexpected(UsageError("the plan shares no layer of the model", std::string(kFlag),
                                   "Name some as colwise or rowwise: '*.up=colwise'."));
    }
    for (SharedLayer& layer : layers_) {
      if (layer.weight != kNoId) of_weight_.emplace(layer.weight, &layer);
    }
    return {};
  }

  Status FindSpan(SharedLayer& layer) {
    const std::optional<ModuleSpan> span = SpanOf(program_, layer.module);
    if (!span) {
      return Unexpected(
          NotModelled(fmt::format("\"{}\" does not run once, in one piece", Path(layer)),
                      "Leave it out of the plan."));
    }
    layer.span = *span;
    layer.runs = true;
    return {};
  }

  Status FindParameters(SharedLayer& layer) {
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
    for (const SharedLayer& layer : layers_) {
      if (layer.runs) continue;
      return Unexpected(NotModelled(
          fmt::format("no operator of the program takes the weight of \"{}\"", Path(layer)),
          "Leave it out of the plan."));
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

  Result<Node> Rewritten(Node node) {
    node.arguments = values_.Now(node.arguments);
    SharedLayer* layer = nullptr;
    Held held;
    bool of_sequence = false, of_features = false;
    for (const Argument& argument : program_.args(node)) {
      VisitValues(program_, argument, [&](ValueId id) {
        const auto found = of_weight_.find(id);
        if (found != of_weight_.end()) layer = found->second;
        const Held known = values_.HeldOf(id);
        if (known.is_part) (known.dim < 0 ? of_features : of_sequence) = true;
        if (known.is_part) held = {true, known.dim, held.is_distributed || known.is_distributed};
        held.is_distributed |= known.is_distributed;
      });
    }
    if (layer != nullptr) return Shared(node, *layer);
    SY_RETURN_IF_ERROR(CheckBiases(node));
    if (of_sequence && of_features) {
      return Unexpected(NotModelled(
          fmt::format("{} takes a part of the sequence and a part of the features", Where(node)),
          "Have the layers before it give parts of one kind: output_layouts."));
    }
    if (held.is_distributed && !modules_.computes_distributed()) {
      return Unexpected(NotModelled(
          fmt::format("{} takes a DTensor, and is in no layer of the plan", Where(node)),
          "Have it be a tensor: use_local_output=True."));
    }
    if (!held.is_part) return node;
    values_.Mark(node, held);
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

  // Where among the arguments of a node one stands, by its name.
  Argument Named(const Node& node, std::string_view name) const {
    const OpDef* def = FindOp(OpName::FromRuntime(program_.op_name(node.op)));
    const std::optional<std::size_t> at =
        def == nullptr ? std::nullopt : ArgumentNamed(program_, node, *def, name);
    Argument argument = at ? program_.args(node)[*at] : Argument::None();
    argument.name = kNoString;
    return argument;
  }

  bool IsInPlace(const LayerStyle& style) const {
    return in_place_ && !style.without_gradients.empty();
  }

  // Of a Linear or an Embedding, as they have weights.
  bool HasMatrix(const Node& node, const SharedLayer& layer) const {
    const Argument weight = Named(node, "weight");
    return weight.kind == ArgKind::kValue && weight.value == layer.weight &&
           program_.sizes(layer.weight).size() == 2 &&
           (layer.bias == kNoId || program_.sizes(layer.bias).size() == 1);
  }

  Result<const LayerStyle*> StyleOf(const Node& node, const SharedLayer& layer) const {
    const auto is_asked = [&](const LayerStyle& style) {
      return style.name == layer.style.name && style.op == program_.op_name(node.op);
    };
    const auto style = std::ranges::find_if(ops::LayerStyles(), is_asked);
    if (style == ops::LayerStyles().end() || !HasMatrix(node, layer)) {
      return Unexpected(
          NotModelled(fmt::format("{} takes the weight of \"{}\", which as {} is not modelled",
                                  Where(node), Path(layer), layer.style.text),
                      "Modelled are colwise and rowwise of a Linear and an Embedding."));
    }
    if (IsInPlace(*style) && layer.style.input != style->takes) {
      return Unexpected(
          NotModelled(fmt::format("\"{}\" as {} in a pass without gradients is not modelled",
                                  Path(layer), layer.style.text),
                      "Weigh a step, with --train, or leave it out of a plan of your own."));
    }
    return &*style;
  }

  Result<Node> Shared(Node node, SharedLayer& layer) {
    SY_ASSIGN_OR_RETURN(const LayerStyle* const style, StyleOf(node, layer));
    SY_RETURN_IF_ERROR(CheckInput(node, *style, layer));
    const std::int64_t size =
        program_.sizes(layer.weight)[static_cast<std::size_t>(style->weight_dim)];
    SY_RETURN_IF_ERROR(Share(layer.weight, style->weight_dim, style->takes.is_shard()));
    if (style->splits_bias && layer.bias != kNoId) SY_RETURN_IF_ERROR(Share(layer.bias, 0, false));
    layer.runs = true;
    const ops::Placement& output = layer.style.output;
    const Argument input = Named(node, style->input);
    constexpr std::size_t kOfSharing = 7;
    std::vector<Argument> args;
    args.reserve(style->arguments.size() + kOfSharing);
    for (const std::string_view name : style->arguments) args.push_back(Named(node, name));
    args.push_back(Argument::OfInt(group_.ranks));
    args.push_back(Argument::OfInt(group_.rank));
    args.push_back(values_.Text(layer.style.input));
    args.push_back(values_.Text(output));
    args.push_back(Argument::OfInt(size));
    args.push_back(Argument::OfBool(input.kind == ArgKind::kValue &&
                                    values_.HeldOf(input.value).is_distributed));
    args.push_back(Argument::OfBool(!layer.style.local_output));
    const Held held{output.is_shard(), output.dim, !layer.style.local_output};
    if (held.is_part) {
      values_.Mark(node, held);
    } else if (held.is_distributed) {
      for (const ValueId id : program_.results(node)) values_.Set(id, held);
    }
    const bool in_place = IsInPlace(*style);
    if (in_place) args.resize(style->arguments.size() + 1);
    node.op = program_.AddOpName(in_place ? style->without_gradients : style->replacement);
    node.arguments = program_.AddArguments(args);
    return node;
  }

  // A layer is called with what its style says.
  Status CheckInput(const Node& node, const LayerStyle& style, const SharedLayer& layer) const {
    const Argument input = Named(node, style.input);
    const Held held = input.kind == ArgKind::kValue ? values_.HeldOf(input.value) : Held{};
    if (Fits(held, layer.style.input)) return {};
    return Unexpected(Misfit(program_, layer, held));
  }

  Status Share(ValueId id, int dim, bool evenly) {
    const std::int64_t size = program_.sizes(id)[static_cast<std::size_t>(dim)];
    const std::string_view name =
        program_.text(std::ranges::find(program_.parameters, id, &NamedTensor::value)->name);
    if (evenly && size % group_.ranks != 0) {
      return Unexpected(
          InvalidInput(fmt::format("{} processes cannot share {} columns of \"{}\" evenly",
                                   group_.ranks, size, name),
                       std::string(kFlag),
                       is_auto_ ? "Write a plan without that layer: --tp-plan '*.up=colwise,...'."
                                : "PyTorch refuses it, too."));
    }
    if (PartOf(size) == 0) {
      return Unexpected(NotModelled(
          fmt::format("process {} of {} has nothing of \"{}\"", group_.rank, group_.ranks, name),
          "Name fewer processes: --ranks."));
    }
    shared_.emplace(id, dim);
    return {};
  }

  // torch.chunk
  std::int64_t PartOf(std::int64_t size) const {
    const std::int64_t chunk = DivideUp(size, group_.ranks);
    return std::clamp<std::int64_t>(size - group_.rank * chunk, 0, chunk);
  }

  // A call that names sizes of its first operand, or places in it.
  Node OfPart(Node node) {
    const std::string_view op = program_.op_name(node.op);
    const auto call = std::ranges::find(ops::PartCalls(), op, &ops::PartCall::op);
    const std::span<const Argument> given = program_.args(node);
    if (call == ops::PartCalls().end() || given.empty()) return node;
    if (given[0].kind != ArgKind::kValue || !values_.HeldOf(given[0].value).is_part) return node;
    const Dims* whole = values_.FindWhole(given[0].value);
    if (whole == nullptr) return node;
    std::vector<Argument> args(given.begin(), given.end());
    args.insert(args.begin() + 1, IntsArgument(program_, *whole));
    node.op = program_.AddOpName(call->replacement);
    node.arguments = program_.AddArguments(args);
    return node;
  }

  Status CheckOutputs() const {
    ValueId given = kNoId;
    for (const Argument& output : program_.main().outputs) {
      VisitValues(program_, output, [&](ValueId id) {
        const Held held = values_.HeldOf(id);
        if (given == kNoId && (held.is_part || held.is_distributed)) given = id;
      });
    }
    if (given == kNoId) return {};
    return Unexpected(NotModelled(fmt::format("the model gives a {} \"{}\"",
                                              values_.HeldOf(given).is_part ? "part of" : "DTensor",
                                              program_.text(program_.values[given].name)),
                                  "Have the last layer put the whole together: colwise_gather."));
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
  ops::Group group_;
  std::vector<LayerPlan> plan_;
  bool trains_;
  bool is_auto_ = false;   // the plan is transformers' own
  bool in_place_ = false;  // layers sum as transformers' do without gradients
  const Target& target_;
  std::deque<SharedLayer> layers_;
  SharedValues values_;
  SharedModules modules_;
  std::map<ValueId, SharedLayer*> of_weight_;
  std::map<ValueId, int> shared_;  // parameters, and along which dimension
};

}  // namespace

Result<Program> ShareLayers(Program program, const PassOptions& options) {
  SY_RETURN_IF_ERROR(CheckStep(options));
  return Sharing(std::move(program), options).Run();
}

}  // namespace steelyard
