// SPDX-License-Identifier: Apache-2.0
//
// Decides which parameters an optimizer steps, in which groups, and what becomes of its options:
// an option is a parameter of the optimizer's row, so that a new row needs nothing here.

#include "pass/append_optimizer.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/op_def.h"
#include "pass/append_call.h"
#include "pass/deal_out.h"
#include "pass/deepspeed.h"
#include "pass/differentiate.h"
#include "pass/parameter_pattern.h"
#include "support/choices.h"

namespace steelyard {
namespace {

constexpr std::array kOptimizers{
    OptimizerInfo{.name = "sgd",
                  .class_name = "SGD",
                  .op = "steelyard::sgd",
                  .summary = "torch.optim.SGD",
                  .textbook_state = 4,
                  .is_lean = true},
    OptimizerInfo{.name = "adam",
                  .class_name = "Adam",
                  .op = "steelyard::adam",
                  .summary = "torch.optim.Adam",
                  .textbook_state = 8},
    OptimizerInfo{.name = "adamw",
                  .class_name = "AdamW",
                  .op = "steelyard::adamw",
                  .summary = "torch.optim.AdamW",
                  .textbook_state = 8},
    OptimizerInfo{"nadam", "NAdam", "steelyard::nadam", "torch.optim.NAdam"},
    OptimizerInfo{"radam", "RAdam", "steelyard::radam",
                  "torch.optim.RAdam; a steady step is the sixth or later"},
    OptimizerInfo{"adagrad", "Adagrad", "steelyard::adagrad", "torch.optim.Adagrad"},
    OptimizerInfo{"rmsprop", "RMSprop", "steelyard::rmsprop", "torch.optim.RMSprop"},
    OptimizerInfo{.name = "adafactor",
                  .class_name = "Adafactor",
                  .op = "steelyard::adafactor",
                  .summary = "torch.optim.Adafactor",
                  .is_lean = true,
                  .takes_parts = false},
    OptimizerInfo{.name = "muon",
                  .class_name = "Muon",
                  .op = "steelyard::muon",
                  .summary = "torch.optim.Muon for matrices, AdamW for all other parameters",
                  .rank = 2,
                  .others = "adamw",
                  .takes_parts = false},
    OptimizerInfo{"lion", "Lion", "steelyard::lion", "Lion of the package lion-pytorch"},
    OptimizerInfo{.name = "lamb",
                  .class_name = "Lamb",
                  .op = "steelyard::lamb",
                  .summary = "LAMB of the package timm",
                  .takes_parts = false},
    OptimizerInfo{.name = "lans",
                  .class_name = "LANS",
                  .op = "steelyard::lans",
                  .summary = "LANS as its authors wrote it in Python",
                  .takes_parts = false},
    OptimizerInfo{.name = "adamw8bit",
                  .class_name = "AdamW8bit",
                  .op = "steelyard::adamw8bit",
                  .summary = "AdamW8bit of the package bitsandbytes, on the CPU",
                  .textbook_state = 2,
                  .is_lean = true,
                  .takes_parts = false},
};

// Of rows whose numbers change from step to step.
constexpr std::string_view kStepNumber = "step";

// What a gradient scaler gives fused forms.
constexpr std::string_view kScale = "grad_scale";
constexpr std::string_view kFoundInf = "found_inf";

// Arguments of an optimizer's row that are no options.
constexpr std::array kNoOptions{std::string_view("parameters"), std::string_view("first_step"),
                                kStepNumber, kScale, kFoundInf};

// What is stepped together.
struct Group {
  std::string asked;  // for messages: the flag that asked for it
  const OptimizerInfo* optimizer = nullptr;
  std::vector<OptimizerOption> options;
  std::vector<Argument> parameters;
  std::vector<Argument> stepped = {};  // of these, by the process that is told
};

// Every tensor once, though it may have several names.
std::vector<ValueId> TrainedParameters(const Program& program) {
  std::vector<ValueId> out;
  std::vector<bool> seen(program.values.size(), false);
  for (const NamedTensor& parameter : program.parameters) {
    if (seen[parameter.value] || !program.values[parameter.value].requires_grad) continue;
    seen[parameter.value] = true;
    out.push_back(parameter.value);
  }
  return out;
}

Result<const OptimizerInfo*> OptimizerNamed(std::string_view name, std::string where) {
  const auto* optimizer = std::ranges::find(kOptimizers, name, &OptimizerInfo::name);
  if (optimizer != kOptimizers.end()) return optimizer;
  return Unexpected(NoSuch("optimizer", name, NamesOf(kOptimizers), std::move(where)));
}

// Means decay by a factor of less than one: "beta1" and the like.
bool IsDecay(std::string_view option) { return option == "beta1" || option == "beta2"; }

std::optional<double> ReadReal(std::string_view text) {
  double real = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, real);
  if (problem != std::errc() || stopped != end || !std::isfinite(real)) return std::nullopt;
  return real;
}

// Of a switch among options.
std::optional<bool> ReadTruth(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

// The elements of "(0.9, 0.999)" or "[0.9, 0.999]"; none where it is no such thing.
std::vector<std::string_view> ElementsOf(std::string_view text) {
  std::vector<std::string_view> elements;
  const bool tuple = text.starts_with('(') && text.ends_with(')');
  if (text.size() < 2 || (!tuple && !(text.starts_with('[') && text.ends_with(']')))) return {};
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view element = text.substr(0, comma);
    while (element.starts_with(' ')) element.remove_prefix(1);
    while (element.ends_with(' ')) element.remove_suffix(1);
    elements.push_back(element);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return elements;
}

// As many as the default has.
std::optional<Argument> ReadList(Program& program, const Param& param, std::string_view text) {
  const std::vector<std::string_view> elements = ElementsOf(text);
  if (elements.size() != ElementsOf(param.default_text).size()) return std::nullopt;
  std::vector<Argument> list;
  for (const std::string_view element : elements) {
    if (param.optional && element == "None") {
      list.push_back(Argument::None());
      continue;
    }
    const std::optional<double> real = ReadReal(element);
    if (!real) return std::nullopt;
    list.push_back(Argument::OfFloat(*real));
  }
  return Argument::OfList(program.AddArguments(list));
}

bool IsNegative(const Param& param) { return param.default_text.starts_with('-'); }

// "True" or "0.9" as an argument of that type.
std::optional<Argument> ReadValue(Program& program, const Param& param, std::string_view text) {
  const ParamType type = param.type;
  if (param.list) return ReadList(program, param, text);
  if (param.optional && text == "None") return Argument::None();
  if (type == ParamType::kString) return Argument::OfString(program.strings.Intern(text));
  if (type == ParamType::kBool) {
    const std::optional<bool> truth = ReadTruth(text);
    return truth ? std::optional(Argument::OfBool(*truth)) : std::nullopt;
  }
  const std::optional<double> real = ReadReal(text);
  if (!real || (IsNegative(param) ? *real > 0 : *real < 0)) return std::nullopt;
  if (IsDecay(param.name) && *real >= 1) return std::nullopt;
  if (type == ParamType::kInt) {
    if (*real != std::floor(*real) || *real > INT32_MAX) return std::nullopt;
    return Argument::OfInt(static_cast<std::int64_t>(*real));
  }
  return Argument::OfFloat(*real);
}

std::string ExpectedOf(const Param& param) {
  if (param.list) return fmt::format("Write it as {}.", param.default_text);
  if (param.type == ParamType::kBool) {
    return param.optional ? "Write True, False or None." : "Write True or False.";
  }
  if (param.type == ParamType::kInt) return "Write a whole number from 0 on.";
  if (IsNegative(param)) return "Write a number that is not above 0.";
  return IsDecay(param.name) ? "Write a number from 0 to below 1." : "Write a number from 0 on.";
}

std::vector<Param> OptionParams(const OptimizerInfo& optimizer) {
  std::vector<Param> options;
  for (const Param& param : FindOp(OpName::FromRuntime(optimizer.op))->signature->params()) {
    const bool is_option = std::ranges::find(kNoOptions, param.name) == kNoOptions.end();
    if (is_option) options.push_back(param);
  }
  return options;
}

// PyTorch's pair of what the rows have as two options.
constexpr std::string_view kBetas = "betas";

// Options of PyTorch that rows have only as they are by default: what a step records for autograd
// or keeps on a device for a graph is another step.
constexpr std::array<std::string_view, 2> kOnlyOff{"capturable", "differentiable"};

bool HasBetas(const OptimizerInfo& optimizer) {
  return std::ranges::any_of(OptionParams(optimizer), IsDecay, &Param::name);
}

// With `beta1` and `beta2` for `betas`, where that is a pair.
std::vector<OptimizerOption> WithoutPairs(const std::vector<OptimizerOption>& options,
                                          const OptimizerInfo& optimizer) {
  std::vector<OptimizerOption> out;
  for (const OptimizerOption& option : options) {
    const std::vector<std::string_view> pair = ElementsOf(option.value);
    if (option.name != kBetas || pair.size() != 2 || !HasBetas(optimizer)) {
      out.push_back(option);
      continue;
    }
    out.push_back({"beta1", std::string(pair[0])});
    out.push_back({"beta2", std::string(pair[1])});
  }
  return out;
}

Error NoSuchOption(const Group& group, const OptimizerOption& option,
                   const std::vector<Param>& params) {
  const std::vector<std::string_view> names = NamesOf(params);
  std::string hint = HintOfNames(option.name, names);
  if (NearestWord(option.name, names).empty()) {
    hint = fmt::format("It has: {}.", fmt::join(names, ", "));
  }
  return UsageError(
      fmt::format("{} has no option \"{}\"", group.optimizer->class_name, option.name), group.asked,
      std::move(hint));
}

Result<Argument> OptionArgument(Program& program, const Group& group,
                                const OptimizerOption& option) {
  const std::vector<Param> params = OptionParams(*group.optimizer);
  const auto param = std::ranges::find(params, option.name, &Param::name);
  const auto no_value = [&](std::string expected) {
    return Unexpected(UsageError(fmt::format("\"{}\" is no value of {}", option.value, option.name),
                                 group.asked, std::move(expected)));
  };
  if (param == params.end()) {
    if (option.name == kBetas && HasBetas(*group.optimizer)) {
      return no_value("Write it as (0.9, 0.999).");
    }
    return Unexpected(NoSuchOption(group, option, params));
  }
  if (std::ranges::count(group.options, option.name, &OptimizerOption::name) > 1) {
    return Unexpected(
        UsageError(fmt::format("its option \"{}\" is given twice", option.name), group.asked,
                   fmt::format("Give it once in --optim-args or --group{}.",
                               IsDecay(option.name) ? ", where betas gives beta1 and beta2" : "")));
  }
  std::optional<Argument> value = ReadValue(program, *param, option.value);
  if (!value) return no_value(ExpectedOf(*param));
  const bool only_off = std::ranges::find(kOnlyOff, option.name) != kOnlyOff.end();
  if (only_off && value->dim.number() != 0) {
    return Unexpected(Unsupported(fmt::format("a step of {} with {}=True is not modelled",
                                              group.optimizer->class_name, option.name),
                                  group.asked, "Leave it out."));
  }
  value->name = program.strings.Intern(param->name);
  return *value;
}

// The step's own group and those of `options.groups`, without parameters.
Result<std::vector<Group>> EmptyGroups(const TrainOptions& options) {
  std::vector<Group> groups;
  SY_ASSIGN_OR_RETURN(const OptimizerInfo* own, OptimizerNamed(options.optimizer, "--train"));
  const std::vector<OptimizerOption> all = WithoutPairs(options.options, *own);
  groups.push_back({fmt::format("--train {}", options.optimizer), own, all, {}});
  for (const ParameterGroup& group : options.groups) {
    const OptimizerInfo* optimizer = own;
    const std::string asked = fmt::format("group \"{}\"", group.pattern);
    if (!group.optimizer.empty()) {
      SY_ASSIGN_OR_RETURN(optimizer, OptimizerNamed(group.optimizer, asked));
    }
    std::vector<OptimizerOption> merged = WithoutPairs(group.options, *optimizer);
    for (const OptimizerOption& option : all) {
      const auto same = [&](const OptimizerOption& o) { return o.name == option.name; };
      if (optimizer == own && std::ranges::none_of(merged, same)) merged.push_back(option);
    }
    groups.push_back({asked, optimizer, std::move(merged), {}});
  }
  return groups;
}

Result<std::vector<Group>> GroupsOf(const Program& program, const TrainOptions& options) {
  SY_ASSIGN_OR_RETURN(std::vector<Group> groups, EmptyGroups(options));
  std::vector<std::vector<bool>> matching;
  matching.reserve(options.groups.size());
  for (const ParameterGroup& group : options.groups) {
    matching.push_back(ParametersMatching(program, group.pattern));
  }
  for (const ValueId id : TrainedParameters(program)) {
    const auto takes = [&](const std::vector<bool>& of_group) { return of_group[id]; };
    const auto found = std::ranges::find_if(matching, takes);
    const auto at = found == matching.end() ? 0 : found - matching.begin() + 1;
    groups[static_cast<std::size_t>(at)].parameters.push_back(Argument::OfValue(id));
  }
  for (std::size_t i = 0; i < options.groups.size(); ++i) {
    if (!groups[i + 1].parameters.empty()) continue;
    return Unexpected(
        NotFound("no trained parameter is left for it", groups[i + 1].asked,
                 "A pattern (--group, --no-decay) is a name of a parameter or module, with * and "
                 "?; the first that fits takes a parameter."));
  }
  return groups;
}

// Moves what an optimizer does not take to the one that takes it instead.
void MoveOthers(Program& program, std::vector<Group>& groups) {
  const std::size_t count = groups.size();
  for (std::size_t i = 0; i < count; ++i) {
    const OptimizerInfo& optimizer = *groups[i].optimizer;
    if (optimizer.rank == 0) continue;
    std::vector<Argument>& all = groups[i].parameters;
    const auto rest = std::ranges::stable_partition(all, [&](const Argument& parameter) {
      return program.values[parameter.value].rank == optimizer.rank;
    });
    if (rest.empty()) continue;
    Group others{
        groups[i].asked, *OptimizerNamed(optimizer.others, {}), {}, {rest.begin(), rest.end()}};
    program.notes.push_back(program.strings.Intern(fmt::format(
        "{} steps the parameters of {} dimensions, {} the other {}", optimizer.class_name,
        optimizer.rank, others.optimizer->class_name, others.parameters.size())));
    all.erase(rest.begin(), rest.end());
    groups.push_back(std::move(others));
  }
  std::erase_if(groups, [](const Group& group) { return group.parameters.empty(); });
}

// Whatever form was asked for, or is taken unasked.
void StepOneByOne(Group& group) {
  for (const OptimizerOption& option : OptionsOf(*group.optimizer)) {
    if (option.name != "foreach" && option.name != "fused") continue;
    std::erase_if(group.options, [&](const auto& given) { return given.name == option.name; });
    group.options.push_back({option.name, "False"});
  }
}

Argument ListOf(Program& program, std::span<const Argument> parameters) {
  return Argument::OfList(program.AddArguments(parameters));
}

Argument AllTrained(Program& program) {
  std::vector<Argument> parameters;
  for (const ValueId id : TrainedParameters(program)) parameters.push_back(Argument::OfValue(id));
  return ListOf(program, parameters);
}

ValueId AppendNumber(Program& program, std::string_view op, std::span<const Argument> args,
                     std::string_view name) {
  const ValueId number = AddResult(program, name, DType::kFloat32, {});
  AppendCall(program, op, args, {&number, 1}, Phase::kOptimizer);
  return number;
}

// Gives the number that says whether all gradients are finite.
ValueId AppendUnscaling(Program& program, bool only_looks) {
  const std::array args{AllTrained(program), Argument::OfBool(only_looks)};
  return AppendNumber(program, "steelyard::unscale_gradients", args, kFoundInf);
}

// Fused forms unscale gradients in their own kernels (`_step_supports_amp_scaling`).
bool IsFused(const Group& group) {
  const auto given = std::ranges::find(group.options, "fused", &OptimizerOption::name);
  return given != group.options.end() && ReadTruth(given->value).value_or(false);
}

// A gradient scaler unscales for an optimizer or leaves that to it, whatever its groups. It decides
// for each optimizer whether it steps; here it looks at all gradients at once, so that what several
// of them compute is not told.
Status CheckScaledGroups(Program& program, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    if (group.optimizer != groups[0].optimizer) {
      program.has_stand_ins = true;
    } else if (IsFused(group) != IsFused(groups[0])) {
      return Unexpected(UsageError(
          "under a gradient scaler all groups of an optimizer are fused or none is", group.asked,
          "PyTorch refuses it, too: give --fused to all of them or to none."));
    }
  }
  return {};
}

// What a gradient scaler tells fused forms.
struct FromScaler {
  ValueId scale = kNoId;
  ValueId found_inf = kNoId;
};

FromScaler AppendTelling(Program& program, ValueId found, bool is_unscaled) {
  const std::array args{Argument::OfValue(found)};
  FromScaler told;
  told.found_inf = AppendNumber(program, "steelyard::found_inf", args, "found_inf_sum");
  if (!is_unscaled) told.scale = AppendNumber(program, "steelyard::grad_scale", {}, kScale);
  return told;
}

// Before gradients are looked at: all of a step's, once.
void AppendAveraging(Program& program, const TrainOptions& options) {
  if (options.ranks < 2 || !options.parallel.wrapper.empty()) return;
  const std::array args{AllTrained(program), Argument::OfInt(std::int64_t{options.ranks})};
  AppendCall(program, "steelyard::average_gradients", args, {}, Phase::kOptimizer);
}

void AppendClipping(Program& program, const TrainOptions& options) {
  const auto clip = [&](std::string_view op, const std::optional<double>& limit) {
    if (!limit) return;
    const std::array args{AllTrained(program), Argument::OfFloat(*limit)};
    AppendCall(program, op, args, {}, Phase::kOptimizer);
  };
  clip("steelyard::clip_grad_norm_", options.clip_norm);
  clip("steelyard::clip_grad_value_", options.clip_value);
}

// What becomes of gradients before the steps: they are unscaled, where there is a scaler, and
// clipped.
struct Scaling {
  ValueId found = kNoId;  // whether all are finite, of a scaler
  FromScaler told;
};

Result<Scaling> AppendScaling(Program& program, const std::vector<Group>& groups,
                              const PassOptions& all) {
  const TrainOptions& options = all.train;
  Scaling scaling;
  const bool clips = options.clip_norm || options.clip_value;
  const bool is_fused = std::ranges::any_of(groups, IsFused);
  if (TakesScaler(all)) {
    SY_RETURN_IF_ERROR(CheckScaledGroups(program, groups));
    scaling.found = AppendUnscaling(program, is_fused && !clips);
  }
  AppendClipping(program, options);
  if (is_fused && scaling.found != kNoId) {
    scaling.told = AppendTelling(program, scaling.found, clips);
  }
  return scaling;
}

Status AppendStep(Program& program, const Group& group, const TrainOptions& options,
                  const FromScaler& told) {
  std::vector<Argument> args{ListOf(program, group.stepped), Argument::OfBool(options.first_step)};
  for (const OptimizerOption& option : group.options) {
    SY_ASSIGN_OR_RETURN(const Argument value, OptionArgument(program, group, option));
    args.push_back(value);
  }
  const Signature& signature = *FindOp(OpName::FromRuntime(group.optimizer->op))->signature;
  if (options.step && signature.IndexOf(kStepNumber) >= 0) {
    args.push_back(Argument::OfInt(std::int64_t{*options.step}));
    args.back().name = program.strings.Intern(kStepNumber);
  }
  for (const auto& [name, value] :
       {std::pair(kScale, told.scale), std::pair(kFoundInf, told.found_inf)}) {
    if (value == kNoId) continue;
    args.push_back(Argument::OfValue(value));
    args.back().name = program.strings.Intern(name);
  }
  AppendCall(program, group.optimizer->op, args, {}, Phase::kOptimizer);
  return {};
}

// --- Parameters that several processes step
// --------------------------------------------------------

constexpr std::string_view kRedundancy = "ZeroRedundancyOptimizer";

// The parameters of one optimizer's groups, dealt out.
class Shares {
 public:
  Shares(const Program& program, const OptimizerInfo& optimizer, std::span<Group> groups,
         const TrainOptions& options)
      : program_(program), options_(options), elements_(ranks(), 0) {
    for (Group& group : groups) {
      if (group.optimizer == &optimizer) groups_.push_back(&group);
    }
  }

  Status Deal() {
    std::vector<std::vector<std::int64_t>> sizes;
    for (const Group* const group : groups_) {
      std::vector<std::int64_t>& of_group = sizes.emplace_back();
      for (const Argument& parameter : group->parameters) {
        SY_RETURN_IF_ERROR(CheckDType(parameter.value));
        of_group.push_back(NumElements(program_.sizes(parameter.value)).value_or(0));
      }
    }
    dealt_ = DealOut(sizes, ranks());
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      for (const Dealt& one : dealt_[i]) elements_[one.rank] += sizes[i][one.place];
    }
    return {};
  }

  // By process.
  const std::vector<std::int64_t>& elements() const { return elements_; }
  std::vector<Argument> OfGroup(std::size_t group, std::size_t rank) const {
    std::vector<Argument> out;
    for (const Dealt& one : dealt_[group]) {
      if (one.rank == rank) out.push_back(groups_[group]->parameters[one.place]);
    }
    return out;
  }
  void Choose(std::size_t rank) {
    for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i]->stepped = OfGroup(i, rank);
  }

  // Each process sends what it stepped: all at once where it lies in one piece.
  void AppendSending(Program& program) const {
    std::vector<Argument> sent;
    std::vector<std::int64_t> together;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      std::int64_t count = 0;
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        const std::vector<Argument> own = OfGroup(i, rank);
        sent.insert(sent.end(), own.begin(), own.end());
        count += static_cast<std::int64_t>(own.size());
      }
      if (options_.parallel.parameter_views && count > 0) {
        together.push_back(count);
      } else {
        together.insert(together.end(), static_cast<std::size_t>(count), 1);
      }
    }
    const std::array args{ListOf(program, sent), IntsArgument(program, together)};
    AppendCall(program, "steelyard::send_parameters", args, {}, Phase::kOptimizer);
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(options_.ranks); }

  Status CheckDType(ValueId id) const {
    const ValueId first = groups_[0]->parameters[0].value;
    if (program_.values[id].dtype == program_.values[first].dtype) return {};
    return Unexpected(InvalidInput(
        fmt::format(R"("{}" is of another dtype than "{}")",
                    program_.text(program_.values[id].name),
                    program_.text(program_.values[first].name)),
        "--parallel zero1",
        "ZeroRedundancyOptimizer refuses it, too: parameters that it steps are of one dtype."));
  }

  const Program& program_;
  const TrainOptions& options_;
  std::vector<Group*> groups_;
  std::vector<std::vector<Dealt>> dealt_;
  std::vector<std::int64_t> elements_;
};

// The process that is told is the one that was asked for, or the first of those that step most.
Result<std::vector<Shares>> ShareOut(Program& program, std::span<Group> groups,
                                     std::span<const OptimizerInfo* const> optimizers,
                                     const TrainOptions& options) {
  std::vector<Shares> shares;
  std::vector<std::int64_t> elements(static_cast<std::size_t>(options.ranks), 0);
  for (const OptimizerInfo* optimizer : optimizers) {
    Shares& own = shares.emplace_back(program, *optimizer, groups, options);
    SY_RETURN_IF_ERROR(own.Deal());
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] += own.elements()[i];
  }
  const auto most = std::ranges::max_element(elements);
  const std::optional<int>& asked = options.parallel.rank;
  const auto rank =
      asked ? static_cast<std::size_t>(*asked) : static_cast<std::size_t>(most - elements.begin());
  for (Shares& own : shares) own.Choose(rank);
  std::int64_t all = 0;
  for (const std::int64_t own : elements) all += own;
  program.notes.push_back(program.strings.Intern(
      fmt::format("{}: told is process {} of 0 to {}, which steps {} of {} trained elements{}",
                  kRedundancy, rank, options.ranks - 1, elements[rank], all,
                  elements[rank] == *most ? "; none steps more"
                                          : fmt::format("; another one steps {}", *most))));
  return shares;
}

void AppendZeroGrad(Program& program, const OptimizerInfo& optimizer,
                    const std::vector<Group>& groups, const TrainOptions& options) {
  std::vector<Argument> parameters;
  for (const Group& group : groups) {
    if (group.optimizer != &optimizer) continue;
    parameters.insert(parameters.end(), group.parameters.begin(), group.parameters.end());
  }
  const std::string_view class_name =
      Partitions(options.parallel) ? kRedundancy : optimizer.class_name;
  const std::array args{ListOf(program, parameters),
                        Argument::OfString(program.strings.Intern(class_name)),
                        Argument::OfBool(options.keep_gradients)};
  AppendCall(program, "steelyard::zero_grad", args, {}, Phase::kOptimizer);
}

// The step before has left gradients, which are zeros.
void PutKeptGradientsFirst(Program& program) {
  AppendCall(program, "steelyard::keep_gradients", {}, {}, Phase::kForward);
  std::vector<Node>& nodes = program.main().nodes;
  std::ranges::rotate(nodes, nodes.end() - 1);
  if (program.repeat.times > 1) ++program.repeat.first;
}

// DeepSpeed's engine steps a part of all parameters of a group, as one tensor.
Status AppendEngineStep(Program& program, std::vector<Group>& groups, const PassOptions& options) {
  std::vector<std::vector<Argument>> parameters;
  for (const Group& group : groups) {
    if (group.optimizer != groups[0].optimizer) {
      return Unexpected(Unsupported("DeepSpeed's engine runs one optimizer", group.asked,
                                    "Name one for all parameters."));
    }
    parameters.push_back(group.parameters);
  }
  SY_ASSIGN_OR_RETURN(const std::vector<Stepped> stepped,
                      EnterEngine(program, parameters, options));
  if (options.train.makes_engine) return {};
  AppendCall(program, "steelyard::take_partition_norm", {}, {}, Phase::kOptimizer);
  for (std::size_t i = 0; i < stepped.size(); ++i) {
    Group& group = groups[stepped[i].group];
    const std::array which{Argument::OfInt(static_cast<std::int64_t>(i))};
    AppendCall(program, "steelyard::set_master_gradient", which, {}, Phase::kOptimizer);
    group.stepped = {Argument::OfValue(stepped[i].master)};
    SY_RETURN_IF_ERROR(AppendStep(program, group, options.train, FromScaler()));
    AppendCall(program, "steelyard::return_master", which, {}, Phase::kOptimizer);
  }
  AppendCall(program, "steelyard::gather_partitions", {}, {}, Phase::kOptimizer);
  return {};
}

}  // namespace

std::span<const OptimizerInfo> Optimizers() { return kOptimizers; }

std::vector<OptimizerOption> OptionsOf(const OptimizerInfo& optimizer) {
  std::vector<OptimizerOption> options;
  for (const Param& param : OptionParams(optimizer)) {
    options.push_back({std::string(param.name), std::string(param.default_text)});
  }
  return options;
}

Result<Program> AppendOptimizer(Program program, const PassOptions& all) {
  const TrainOptions& options = all.train;
  SY_ASSIGN_OR_RETURN(std::vector<Group> groups, GroupsOf(program, options));
  MoveOthers(program, groups);
  if (all.takes_apart || SharesLayers(options.parallel)) {
    std::ranges::for_each(groups, StepOneByOne);
  }
  if (ZeroStage(options.parallel) > 0) {
    SY_RETURN_IF_ERROR(AppendEngineStep(program, groups, all));
    return program;
  }
  std::vector<const OptimizerInfo*> optimizers;  // in the order of their first groups
  for (const Group& group : groups) {
    if (std::ranges::find(optimizers, group.optimizer) == optimizers.end()) {
      optimizers.push_back(group.optimizer);
    }
  }
  for (Group& group : groups) group.stepped = group.parameters;
  std::vector<Shares> shares;
  if (Partitions(options.parallel)) {
    SY_ASSIGN_OR_RETURN(shares, ShareOut(program, groups, optimizers, options));
  }
  AppendAveraging(program, options);
  SY_ASSIGN_OR_RETURN(const Scaling scaling, AppendScaling(program, groups, all));
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    for (const Group& group : groups) {
      if (group.optimizer != optimizers[i] || group.stepped.empty()) continue;
      const FromScaler told = IsFused(group) ? scaling.told : FromScaler();
      SY_RETURN_IF_ERROR(AppendStep(program, group, options, told));
    }
    if (!shares.empty()) shares[i].AppendSending(program);
  }
  if (scaling.found != kNoId) {
    const std::array args{Argument::OfValue(scaling.found)};
    AppendCall(program, "steelyard::update_scaler", args, {}, Phase::kOptimizer);
  }
  for (const OptimizerInfo* optimizer : optimizers) {
    AppendZeroGrad(program, *optimizer, groups, options);
  }
  if (options.keep_gradients && !options.first_step) PutKeptGradientsFirst(program);
  return program;
}

}  // namespace steelyard
