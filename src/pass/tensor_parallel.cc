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
#include "pass/decompose.h"
#include "pass/model_outputs.h"
#include "pass/module_span.h"
#include "pass/parallelize.h"
#include "pass/parameter_pattern.h"
#include "pass/shared_style.h"
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

// A module of the plan.
struct Layer {
  ModuleId module = 0;
  SharedStyle style;
  ValueId weight = kNoId, bias = kNoId;  // of a Linear or an Embedding
  bool runs = false;
  ModuleSpan span = {};  // of any other module
};

// How a value lies on the processes: without a word, each has the whole.
struct Lie {
  bool is_part = false;
  int dim = 0;  // of a part: along the sequence; -1: of features, or of heads that are made of them
  bool is_distributed = false;  // a DTensor
};

class Sharing {
 public:
  Sharing(Program program, const PassOptions& options)
      : program_(std::move(program)),
        ranks_(options.train.ranks),
        rank_(options.train.parallel.rank.value_or(0)),
        plan_(options.train.parallel.plan),
        trains_(!options.train.optimizer.empty()),
        target_(options.target),
        replaced_(program_) {}

  Result<Program> Run() {
    SY_RETURN_IF_ERROR(FindLayers());
    SY_RETURN_IF_ERROR(FindSizes());
    const std::vector<Node> nodes = std::exchange(program_.main().nodes, {});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      SY_RETURN_IF_ERROR(Enter(nodes, i));
      SY_ASSIGN_OR_RETURN(const Node node, Rewritten(nodes[i]));
      program_.main().nodes.push_back(node);
      Leave(nodes, i);
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
    const bool is_auto = plan_.size() == 1 && plan_[0].pattern == "auto";
    if (is_auto) {
      SY_ASSIGN_OR_RETURN(plan_, PlanOfTransformers());
    }
    in_place_ = is_auto && !trains_;
    std::vector<bool> taken(program_.modules.size(), false);
    for (const LayerPlan& entry : plan_) {
      SY_ASSIGN_OR_RETURN(const SharedStyle style, ReadSharedStyle(entry.style));
      const Result<std::vector<bool>> named = ModulesMatching(program_, {&entry.pattern, 1}, kFlag);
      if (!named && is_auto) continue;  // a plan is of several sorts of layers
      if (!named) return Unexpected(named.error());
      for (ModuleId m = 0; m < named->size(); ++m) {
        if (!(*named)[m] || taken[m]) continue;
        taken[m] = true;
        if (style.name == "replicated") continue;
        layers_.push_back({.module = m, .style = style});
        Layer& layer = layers_.back();
        const bool is_around = style.is_sequence() || style.prepares();
        SY_RETURN_IF_ERROR(is_around ? FindSpan(layer) : FindParameters(layer));
      }
    }
    for (Layer& layer : layers_) {
      if (layer.weight != kNoId) of_weight_.emplace(layer.weight, &layer);
    }
    return {};
  }

  Result<std::vector<LayerPlan>> PlanOfTransformers() const {
    const StringId class_name =
        program_.modules.empty() ? kNoString : program_.modules[0].class_name;
    const std::string_view name = class_name == kNoString ? "" : program_.text(class_name);
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
      plan.push_back({std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))});
      if (ReadSharedStyle(plan.back().style)) continue;
      return Unexpected(
          NotModelled(fmt::format("transformers shares \"{}\" as {}, which is not modelled",
                                  plan.back().pattern, plan.back().style),
                      "Write a plan of the other layers: --tp-plan '*.q_proj=colwise,...'."));
    }
    return plan;
  }

  Status FindSpan(Layer& layer) {
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

  Lie LieOf(ValueId id) const {
    const auto found = lies_.find(id);
    return found == lies_.end() ? Lie{} : found->second;
  }

  Result<Node> Rewritten(Node node) {
    node.arguments = replaced_.In(node.arguments);
    Layer* layer = nullptr;
    Lie lie;
    bool of_sequence = false, of_features = false;
    for (const Argument& argument : program_.args(node)) {
      VisitValues(program_, argument, [&](ValueId id) {
        const auto found = of_weight_.find(id);
        if (found != of_weight_.end()) layer = found->second;
        const Lie known = LieOf(id);
        if (known.is_part) (known.dim < 0 ? of_features : of_sequence) = true;
        if (known.is_part) lie = {true, known.dim, lie.is_distributed || known.is_distributed};
        lie.is_distributed |= known.is_distributed;
      });
    }
    if (layer != nullptr) return Shared(node, *layer);
    SY_RETURN_IF_ERROR(CheckBiases(node));
    if (of_sequence && of_features) {
      return Unexpected(NotModelled(
          fmt::format("{} takes a part of the sequence and a part of the features", Where(node)),
          "Have the layers before it give parts of one kind: output_layouts."));
    }
    if (lie.is_distributed && sequence_ == nullptr) {
      return Unexpected(NotModelled(
          fmt::format("{} takes a DTensor, and is in no layer of the plan", Where(node)),
          "Have it be a tensor: use_local_output=True."));
    }
    if (!lie.is_part) return node;
    MarkResults(node, lie);
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

  void MarkResults(const Node& node, const Lie& lie) {
    for (const ValueId id : program_.results(node)) {
      if (id == kNoId || program_.values[id].kind != ValueKind::kTensor) continue;
      lies_[id] = lie;
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
      return style.name == layer.style.name && style.op == program_.op_name(node.op);
    };
    const auto style = std::ranges::find_if(ops::LayerStyles(), is_asked);
    const bool fits = style != ops::LayerStyles().end() &&
                      Named(node, "weight").kind == ArgKind::kValue &&
                      Named(node, "weight").value == layer.weight;
    if (!fits) {
      return Unexpected(
          NotModelled(fmt::format("{} takes the weight of \"{}\", which as {} is not modelled",
                                  Where(node), Path(layer), layer.style.text),
                      "Modelled are colwise and rowwise of a Linear and an Embedding."));
    }
    SY_RETURN_IF_ERROR(CheckInput(node, *style, layer));
    const std::int64_t size =
        program_.sizes(layer.weight)[static_cast<std::size_t>(style->weight_dim)];
    SY_RETURN_IF_ERROR(Share(layer.weight, style->weight_dim, style->takes.is_shard()));
    if (style->splits_bias && layer.bias != kNoId) SY_RETURN_IF_ERROR(Share(layer.bias, 0, false));
    layer.runs = true;
    const ops::Placement& output = layer.style.output;
    const Argument input = Named(node, style->input);
    std::vector<Argument> args;
    for (const std::string_view name : style->arguments) args.push_back(Named(node, name));
    args.push_back(Argument::OfInt(ranks_));
    args.push_back(Argument::OfInt(rank_));
    args.push_back(Text(layer.style.input));
    args.push_back(Text(output));
    args.push_back(Argument::OfInt(size));
    args.push_back(
        Argument::OfBool(input.kind == ArgKind::kValue && LieOf(input.value).is_distributed));
    args.push_back(Argument::OfBool(!layer.style.local_output));
    const Lie lie{output.is_shard(), output.dim, !layer.style.local_output};
    if (lie.is_part) {
      MarkResults(node, lie);
    } else if (lie.is_distributed) {
      for (const ValueId id : program_.results(node)) lies_[id] = lie;
    }
    const bool in_place = in_place_ && !style->without_gradients.empty();
    if (in_place) args.resize(style->arguments.size() + 1);
    node.op = program_.AddOpName(in_place ? style->without_gradients : style->replacement);
    node.arguments = program_.AddArguments(args);
    return node;
  }

  Argument Text(const ops::Placement& placement) {
    return Argument::OfString(program_.strings.Intern(ops::ShortName(placement)));
  }

  static bool Fits(const Lie& lie, const ops::Placement& placement) {
    return lie.is_part == placement.is_shard() && (!lie.is_part || lie.dim == placement.dim);
  }

  // A layer is called with what its style says.
  Status CheckInput(const Node& node, const LayerStyle& style, const Layer& layer) const {
    const Argument input = Named(node, style.input);
    const Lie lie = input.kind == ArgKind::kValue ? LieOf(input.value) : Lie{};
    if (Fits(lie, layer.style.input)) return {};
    return Unexpected(Misfit(layer, lie));
  }

  Error Misfit(const Layer& layer, const Lie& lie) const {
    const bool of_features = lie.is_part && lie.dim < 0;
    const std::string_view comes = !lie.is_part  ? "the whole"
                                   : of_features ? "a part of the features"
                                                 : "a part of the sequence";
    const std::string layout =
        lie.is_part ? fmt::format("Shard({})", lie.dim) : std::string("Replicate()");
    return InvalidInput(
        fmt::format("\"{}\" is {}, but {} is what it is called with", Path(layer), layer.style.text,
                    comes),
        std::string(kFlag),
        layer.style.is_sequence() || layer.style.prepares()
            ? "Behind layers with output_layouts=Shard(1) there are parts of the sequence."
        : of_features
            ? "A rowwise layer takes parts of the features, and gives wholes."
            : fmt::format("Behind a colwise layer there are parts of the features, which a rowwise "
                          "one takes; of what comes it is told by input_layouts={}.",
                          layout));
  }

  // --- Around modules ----------------------------------------------------------------------------

  // What a module is called with becomes a DTensor before its first node.
  Status Enter(const std::vector<Node>& nodes, std::size_t at) {
    for (Layer& layer : layers_) {
      if (!IsAround(layer) || layer.span.first != at) continue;
      SY_ASSIGN_OR_RETURN(const ValueId input, InputOf(layer));
      const ValueId comes = Replaced(input);
      const ValueId goes = BecomeDistributed(nodes[at], layer, comes);
      replaced_.Set(input, goes);
      by_[input] = goes;
      prepared_.push_back({.layer = &layer, .input = input, .came = comes, .given = goes});
      if (!layer.style.is_sequence()) continue;
      sequence_ = &layer;
      SumGradients(nodes, layer);
    }
    return {};
  }

  static bool IsAround(const Layer& layer) {
    return layer.style.is_sequence() || layer.style.prepares();
  }

  ValueId Replaced(ValueId id) const {
    const auto found = by_.find(id);
    return found == by_.end() ? id : found->second;
  }

  // The one of what a module takes that lies as its style says.
  Result<ValueId> InputOf(const Layer& layer) const {
    std::vector<ValueId> fitting;
    for (const ValueId id : layer.span.taken) {
      if (Fits(LieOf(Replaced(id)), layer.style.input)) fitting.push_back(id);
    }
    if (layer.style.prepares() && layer.style.input == layer.style.output) {
      return Unexpected(
          NotModelled(fmt::format("\"{}\" is prepared for what it is called with", Path(layer)),
                      "Say what it is to have: desired_input_layouts=Replicate()."));
    }
    if (fitting.size() == 1 && layer.style.input.is_shard()) return fitting[0];
    if (fitting.empty() && !layer.span.taken.empty()) {
      return Unexpected(Misfit(layer, LieOf(Replaced(layer.span.taken[0]))));
    }
    return Unexpected(NotModelled(
        fmt::format("which tensor \"{}\" as {} is called with is not known", Path(layer),
                    layer.style.text),
        "Modelled is one that comes as a part of the sequence: input_layouts=Shard(1)."));
  }

  // Layers of the plan that compute with a whole give parts of a sum as its gradient, but for
  // those that are called with a tensor, which add them up.
  ValueId BecomeDistributed(const Node& before, const Layer& layer, ValueId comes) {
    const ops::Placement& from = layer.style.input;
    const ops::Placement& to = layer.style.output;
    const bool goes_distributed = layer.style.is_sequence() || !layer.style.local_output;
    const bool is_sum = layer.style.prepares() && goes_distributed;
    const ValueId goes = AddResult(program_, program_.text(program_.values[comes].name),
                                   program_.values[comes].dtype, WholeOf(comes));
    const std::array args{Argument::OfValue(comes),
                          Argument::OfInt(ranks_),
                          Argument::OfInt(rank_),
                          Text(from),
                          Text(to),
                          Text(is_sum ? ops::kPartial : to),
                          Argument::OfBool(LieOf(comes).is_distributed),
                          Argument::OfBool(goes_distributed)};
    Append(before, "steelyard::to_distributed", args, {&goes, 1});
    const Lie lie{to.is_shard(), to.dim, goes_distributed};
    lies_[goes] = lie;
    if (lie.is_part) MarkResults(program_.main().nodes.back(), lie);
    return goes;
  }

  Dims WholeOf(ValueId id) const {
    const auto known = sizes_.find(id);
    return known == sizes_.end() ? Dims(program_.sizes(id)) : known->second;
  }

  // Its parameters are whole in each process, and what comes is not.
  void SumGradients(const std::vector<Node>& nodes, const Layer& layer) {
    std::set<ValueId> seen;
    for (std::size_t i = layer.span.first; i <= layer.span.last; ++i) {
      for (const Argument& argument : program_.args(nodes[i])) {
        VisitValues(program_, argument, [&](ValueId id) {
          const bool is_parameter =
              std::ranges::find(program_.parameters, id, &NamedTensor::value) !=
              program_.parameters.end();
          if (!is_parameter || !seen.insert(id).second) return;
          const std::array args{Argument::OfValue(id), Argument::OfInt(ranks_)};
          Append(nodes[layer.span.first], "steelyard::sum_gradient", args, {});
        });
      }
    }
  }

  // Behind the last node of a module; what it was called with its callers hold until then.
  void Leave(const std::vector<Node>& nodes, std::size_t at) {
    while (!prepared_.empty() && prepared_.back().layer->span.last == at) {
      const Prepared ended = prepared_.back();
      prepared_.pop_back();
      replaced_.Set(ended.input, ended.came);
      by_[ended.input] = ended.came;
      if (ended.layer->style.is_sequence()) {
        sequence_ = nullptr;
        if (ended.layer->style.local_output) GiveLocal(nodes[at], *ended.layer);
      } else {
        const std::array held{Argument::OfValue(ended.came), Argument::OfValue(ended.given)};
        const std::array args{Argument::OfList(program_.AddArguments(held))};
        Append(nodes[at], "steelyard::leave", args, {});
      }
    }
  }

  void GiveLocal(const Node& last, const Layer& layer) {
    for (const ValueId id : layer.span.given) {
      const ValueId local = AddResult(program_, program_.text(program_.values[id].name),
                                      program_.values[id].dtype, WholeOf(id));
      const std::array args{Argument::OfValue(id)};
      Append(last, "steelyard::to_local", args, {&local, 1});
      MarkResults(program_.main().nodes.back(), {.is_part = true, .dim = LieOf(id).dim});
      replaced_.Set(id, local);
      by_[id] = local;
    }
  }

  // A call beside a node of the same module.
  void Append(const Node& beside, std::string_view op, std::span<const Argument> args,
              std::span<const ValueId> results) {
    Node node = beside;
    node.op = program_.AddOpName(op);
    node.arguments = program_.AddArguments(args);
    node.outputs = program_.AddOutputs(results);
    program_.main().nodes.push_back(node);
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
    if (given[0].kind != ArgKind::kValue || !LieOf(given[0].value).is_part) return node;
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
      if (output.kind != ArgKind::kValue) continue;
      const Lie lie = LieOf(output.value);
      if (!lie.is_part && !lie.is_distributed) continue;
      return Unexpected(NotModelled(
          fmt::format("the model gives a {} \"{}\"", lie.is_part ? "part of" : "DTensor",
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
  std::vector<LayerPlan> plan_;
  bool trains_;
  bool in_place_ = false;  // layers sum as transformers' do without gradients
  const Target& target_;
  struct Prepared {
    Layer* layer;
    ValueId input, came, given;
  };
  std::map<ValueId, Lie> lies_;
  std::deque<Layer> layers_;
  Replacements replaced_;
  std::map<ValueId, ValueId> by_;   // what replaces a value now
  std::vector<Prepared> prepared_;  // modules that are open, outermost first
  Layer* sequence_ = nullptr;       // the one of them that computes with DTensors
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
