// SPDX-License-Identifier: Apache-2.0
//
// Decides which training step the flags describe. Short flags become options of the optimizer under
// PyTorch's names, before those of --optim-args; groups are those of --group, then those of
// --no-decay. What contradicts itself is refused here, where the flag can still be named.

#include "cli/train_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "support/choices.h"

namespace steelyard::cli {
namespace {

constexpr std::string_view kTrain = "--train";
constexpr std::string_view kOn = "True";

// Where an option ends: a comma within brackets is of its value.
std::size_t EndOfOption(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
    if (text[i] == ',' && depth <= 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::vector<OptimizerOption>> ReadOptimizerOptions(std::string_view text) {
  std::vector<OptimizerOption> options;
  while (true) {
    const std::size_t comma = EndOfOption(text);
    const std::string_view part = text.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) {
      return Unexpected(UsageError(fmt::format("\"{}\" is not an option and its value", part), "",
                                   "Write it as momentum=0.9,nesterov=True."));
    }
    options.push_back({std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))});
    if (comma == std::string_view::npos) return options;
    text.remove_prefix(comma + 1);
  }
}

Result<ShardPrecision> ReadShardPrecision(std::string_view text) {
  constexpr std::string_view kPolicy = "--mp-policy";
  Result<std::vector<OptimizerOption>> options = ReadOptimizerOptions(text);
  if (!options) return Unexpected(Within(std::string(kPolicy), std::move(options).error()));
  ShardPrecision policy;
  const std::array dtypes{std::pair("param_dtype", &policy.param),
                          std::pair("reduce_dtype", &policy.reduce),
                          std::pair("output_dtype", &policy.output)};
  for (const OptimizerOption& option : *options) {
    const auto of_name = [&](const auto& known) { return known.first == option.name; };
    const auto found = std::ranges::find_if(dtypes, of_name);
    if (found != dtypes.end()) {
      *found->second = DTypeNamed(option.value);
      if (*found->second && IsFloating(**found->second)) continue;
    } else if (option.name == "cast_forward_inputs") {
      policy.cast_inputs = option.value == "True";
      if (policy.cast_inputs || option.value == "False") continue;
    }
    return Unexpected(UsageError(
        fmt::format("{}={} is no option of MixedPrecisionPolicy", option.name, option.value),
        std::string(kPolicy), "Write it as param_dtype=bfloat16,reduce_dtype=float32."));
  }
  return policy;
}

// Where the first comma outside of brackets is.
std::size_t FindComma(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (text[i] == ',' && depth == 0) return i;
  }
  return std::string_view::npos;
}

std::string_view WithoutBlanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Result<std::vector<LayerPlan>> ReadLayerPlan(std::string_view text) {
  std::vector<LayerPlan> plan;
  if (text == "auto") return std::vector{LayerPlan{.pattern = "auto", .style = ""}};
  while (true) {
    const std::size_t comma = FindComma(text);
    const std::string_view part = WithoutBlanks(text.substr(0, comma));
    const std::size_t equals = part.find('=');
    const bool closes = part.find('(') == std::string_view::npos || part.ends_with(')');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size() || !closes) {
      return Unexpected(
          UsageError(fmt::format("\"{}\" is no pattern of modules and its style", part),
                     "--tp-plan", "Write it as '*.up=colwise,*.down=rowwise'."));
    }
    plan.push_back({std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))});
    if (comma == std::string_view::npos) return plan;
    text.remove_prefix(comma + 1);
  }
}

Result<ParameterGroup> ReadParameterGroup(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    return Unexpected(UsageError(fmt::format("\"{}\" is not a pattern and its options", text),
                                 "--group", "Write it as --group '*.bias:weight_decay=0'."));
  }
  ParameterGroup group{.pattern = std::string(text.substr(0, colon))};
  Result<std::vector<OptimizerOption>> options = ReadOptimizerOptions(text.substr(colon + 1));
  if (!options) return Unexpected(Within("--group", std::move(options).error()));
  group.options = *std::move(options);
  const auto chosen = std::ranges::find(group.options, "optimizer", &OptimizerOption::name);
  if (chosen != group.options.end()) {
    group.optimizer = std::move(chosen->value);
    group.options.erase(chosen);
  }
  return group;
}

void TrainFlags::Add(std::vector<Flag>* flags) {
  const std::size_t first = flags->size();
  AddOptimizer(flags);
  AddStep(flags);
  AddProcesses(flags);
  AddParts(flags);
  names_ = NamesBeside(kTrain, std::span(*flags).subspan(first));
}

// What is trained how.
void TrainFlags::AddOptimizer(std::vector<Flag>* flags) {
  flags->insert(
      flags->end(),
      {{.name = kTrain,
        .arg = "OPTIMIZER",
        .help = "weigh a training step that ends with this optimizer",
        .field = &optimizer_,
        .choices = NamesOf(Optimizers())},
       {.name = "--loss",
        .arg = "NAME",
        .help = "append this loss; without it the model returns its own",
        .field = &loss_,
        .choices = NamesOf(Losses())},
       {.name = "--loss-output",
        .arg = "N",
        .help = "the loss is this output of the model, from 0 on; without it the one that is "
                "called \"loss\", or the first that is one number",
        .field = &loss_output_,
        .least = 0,
        .most = std::numeric_limits<int>::max()},
       {.name = "--first-step",
        .help = "the first step, which makes the optimizer's state",
        .field = &first_step_},
       {.name = "--foreach",
        .help = "the optimizer's form that takes lists of tensors",
        .field = &foreach_},
       {.name = "--fused", .help = "the optimizer's fused form", .field = &fused_},
       {.name = "--momentum", .arg = "X", .help = "the optimizer's momentum", .field = &momentum_},
       {.name = "--nesterov", .help = "Nesterov's form of momentum", .field = &nesterov_},
       {.name = "--weight-decay",
        .arg = "X",
        .help = "the optimizer's weight decay",
        .field = &weight_decay_},
       {.name = "--optim-args",
        .arg = "NAME=X,...",
        .help = "other options of the optimizer, such as amsgrad=True",
        .field = &arguments_},
       {.name = "--no-decay",
        .arg = "PATTERN,...",
        .help = "parameters without weight decay, such as '*.bias'; repeatable",
        .field = &no_decay_,
        .takes_list = true},
       {.name = "--group",
        .arg = "PATTERN:NAME=X,...",
        .help = "options of these parameters, and optimizer=NAME; repeatable",
        .field = &groups_}});
}

// What a step does besides.
void TrainFlags::AddStep(std::vector<Flag>* flags) {
  flags->insert(
      flags->end(),
      {{.name = "--freeze",
        .arg = "PATTERN,...",
        .help = "parameters that are not trained; repeatable",
        .field = &freeze_,
        .takes_list = true},
       {.name = "--recompute",
        .arg = "PATTERN,...",
        .help = "modules whose forward pass is run again in the backward pass, as "
                "torch.utils.checkpoint does, such as 'bert.encoder.layer.*'; repeatable",
        .field = &recompute_,
        .takes_list = true},
       {.name = "--recompute-reentrant",
        .help = "with use_reentrant=True",
        .field = &recompute_reentrant_},
       {.name = "--inplace",
        .arg = "PATTERN,...",
        .help = "modules whose activations overwrite what they are given, where autograd "
                "lets them, such as '*act_fn'; repeatable",
        .field = &inplace_,
        .takes_list = true},
       {.name = "--fused-loss",
        .arg = "CHUNKS",
        .help = "compute the last layer and a cross-entropy of it in so many chunks of "
                "tokens, each again in the backward pass; the scores are not returned",
        .field = &fused_loss_,
        .least = 1,
        .most = TrainOptions::kMostLossChunks},
       {.name = "--clip-norm",
        .arg = "X",
        .help = "clip the gradients by their norm before the step; inf only takes the norm",
        .field = &clip_norm_},
       {.name = "--clip-value",
        .arg = "X",
        .help = "clip each element of the gradients before the step",
        .field = &clip_value_},
       {.name = "--accumulate",
        .arg = "N",
        .help = "micro-steps before the step, each of the loss divided by N",
        .field = &accumulate_,
        .least = 1},
       {.name = "--zero-grad",
        .arg = "TO",
        .help = "what zero_grad sets gradients to",
        .field = &zero_grad_,
        .choices = {"none", "zeros"}}});
}

// What several processes do of it.
void TrainFlags::AddProcesses(std::vector<Flag>* flags) {
  flags->insert(
      flags->end(),
      {{.name = "--ranks",
        .arg = "N",
        .help = "processes that run the step on their own inputs and average gradients, in "
                "buckets; `torchrun -m steelyard run` says it by itself",
        .field = &ranks_,
        .least = 1},
       {.name = "--parallel",
        .arg = "WRAPPER",
        .help = "what wraps the model in each of --ranks processes",
        .field = &parallel_,
        .choices = NamesOf(Wrappers())},
       {.name = "--bucket-cap-mb",
        .arg = "N",
        .help = "MiB of gradients that are summed at once; without it 1, and then 25",
        .field = &bucket_cap_mb_,
        .least = 1,
        .most = ParallelOptions::kMostBucketMib},
       {.name = "--bucket-views",
        .help = "gradients are views of what is summed (gradient_as_bucket_view=True)",
        .field = &bucket_views_},
       {.name = "--find-unused-parameters",
        .help = "parameters that no output depends on are looked for in each step "
                "(find_unused_parameters=True)",
        .field = &find_unused_},
       {.name = "--static-graph",
        .help = "which parameters are used is found out in the first step (static_graph=True)",
        .field = &static_graph_}});
}

// What each of them has a part of.
void TrainFlags::AddParts(std::vector<Flag>* flags) {
  flags->insert(
      flags->end(),
      {{.name = "--shard-units",
        .arg = "MODULES",
        .help = "modules whose parameters fsdp gathers at once, as 'encoder.layer.*', besides the "
                "rest; without it the members of the model's lists of like modules",
        .field = &units_},
       {.name = "--keep-gathered",
        .help = "parameters stay gathered from the forward pass to the backward pass "
                "(reshard_after_forward=False)",
        .field = &keep_gathered_},
       {.name = "--mp-policy",
        .arg = "OPTIONS",
        .help = "what fsdp casts, as param_dtype=bfloat16,reduce_dtype=float32: options of "
                "MixedPrecisionPolicy, output_dtype and cast_forward_inputs, too",
        .field = &mp_policy_},
       {.name = "--tp-plan",
        .arg = "PLAN",
        .help = "layers that tp has the processes share, as '*.up=colwise,*.down=rowwise': "
                "patterns of modules, and colwise, rowwise, colwise_gather, which gives the whole, "
                "or PyTorch's styles, as 'norm=SequenceParallel()', with their options; auto: the "
                "plan that transformers has of the model",
        .field = &plan_},
       {.name = "--parameter-views",
        .help = "parameters that a process steps lie in one piece (parameters_as_bucket_view=True)",
        .field = &parameter_views_},
       {.name = "--rank",
        .arg = "N",
        .help = "which process of zero1, deepspeed or tp is told, from 0 on; without it one that "
                "has most",
        .field = &rank_,
        .least = 0,
        .most = std::numeric_limits<int>::max()},
       {.name = "--parallel-args",
        .arg = "NAME=X,...",
        .help = "options of DeepSpeed's JSON, such as reduce_bucket_size=5e7; repeatable",
        .field = &arguments_of_engine_}});
}

Status TrainFlags::AddOptions(TrainOptions* options) const {
  std::vector<OptimizerOption>& list = options->options;
  if (momentum_) list.push_back({"momentum", fmt::format("{}", *momentum_)});
  if (weight_decay_) list.push_back({"weight_decay", fmt::format("{}", *weight_decay_)});
  if (nesterov_) list.push_back({"nesterov", std::string(kOn)});
  if (foreach_) list.push_back({"foreach", std::string(kOn)});
  if (fused_) list.push_back({"fused", std::string(kOn)});
  for (const std::string& text : arguments_) {
    const Result<std::vector<OptimizerOption>> more = ReadOptimizerOptions(text);
    if (!more) return Unexpected(Within("--optim-args", more.error()));
    list.insert(list.end(), more->begin(), more->end());
  }
  return {};
}

Status TrainFlags::AddGroups(TrainOptions* options) const {
  for (const std::string& text : groups_) {
    SY_ASSIGN_OR_RETURN(ParameterGroup group, ReadParameterGroup(text));
    options->groups.push_back(std::move(group));
  }
  for (const std::string& pattern : no_decay_) {
    options->groups.push_back({.pattern = pattern, .options = {{"weight_decay", "0"}}});
  }
  return {};
}

// An optimizer whose momentum is 0 unless it is given has none to be Nesterov's.
Status TrainFlags::CheckNesterov(const std::vector<OptimizerOption>& given) const {
  if (!nesterov_) return {};
  const auto names_momentum = [](const OptimizerOption& one) { return one.name == "momentum"; };
  if (std::ranges::any_of(given, names_momentum)) return {};
  for (const OptimizerInfo& optimizer : Optimizers()) {
    if (optimizer.name != optimizer_) continue;
    const std::vector<OptimizerOption> defaults = OptionsOf(optimizer);
    const auto momentum = std::ranges::find_if(defaults, names_momentum);
    if (momentum == defaults.end() || momentum->value != "0") continue;
    return Unexpected(UsageError("Nesterov's momentum needs a momentum", "--nesterov",
                                 "Give it one: --momentum 0.9."));
  }
  return {};
}

Status TrainFlags::CheckWrapper() const {
  const ParallelOptions wrapper{.wrapper = parallel_};
  const bool shards = Shards(wrapper);
  const bool shares_layers = SharesLayers(wrapper);
  const bool has_engine = ZeroStage(wrapper) > 0;
  const bool sums_in_buckets = !parallel_.empty() && !shards && !shares_layers && !has_engine;
  for (const auto& [given, flag] : {std::pair(bucket_views_, "--bucket-views"),
                                    std::pair(bucket_cap_mb_.has_value(), "--bucket-cap-mb"),
                                    std::pair(find_unused_, "--find-unused-parameters"),
                                    std::pair(static_graph_, "--static-graph")}) {
    if (!given || sums_in_buckets) continue;
    return Unexpected(
        UsageError("no wrapper sums gradients in buckets", flag, "Name one: --parallel ddp."));
  }
  if (!shards && (!units_.empty() || keep_gathered_ || !mp_policy_.empty())) {
    return Unexpected(UsageError("no wrapper gathers parameters",
                                 keep_gathered_        ? "--keep-gathered"
                                 : !mp_policy_.empty() ? "--mp-policy"
                                                       : "--shard-units",
                                 "Name one: --parallel fsdp."));
  }
  if (!has_engine && !arguments_of_engine_.empty()) {
    return Unexpected(UsageError("no wrapper has options of DeepSpeed's JSON", "--parallel-args",
                                 "Name one: --parallel deepspeed2."));
  }
  if (shares_layers == plan_.empty()) {
    return Unexpected(shares_layers
                          ? UsageError("no layer is shared", "--parallel tp",
                                       "Name some: --tp-plan '*.up=colwise,*.down=rowwise'.")
                          : UsageError("no wrapper has processes share layers", "--tp-plan",
                                       "Name one: --parallel tp."));
  }
  const bool has_rank = Partitions(wrapper) || has_engine || shares_layers;
  if ((!has_rank && rank_) || (!Partitions(wrapper) && parameter_views_)) {
    return Unexpected(UsageError("no wrapper shares out what is stepped",
                                 parameter_views_ ? "--parameter-views" : "--rank",
                                 "Name one: --parallel zero1."));
  }
  return {};
}

Status TrainFlags::Check() const {
  SY_RETURN_IF_ERROR(CheckWrapper());
  for (const auto& [name, value] :
       {std::pair("--momentum", momentum_), std::pair("--weight-decay", weight_decay_),
        std::pair("--clip-value", clip_value_)}) {
    if (!value || std::isfinite(*value)) continue;
    return Unexpected(UsageError("an infinite one trains nothing", name,
                                 fmt::format("Give a finite number, as {} 0.5.", name)));
  }
  if (foreach_ && fused_) {
    return Unexpected(
        UsageError("an optimizer runs in one form", "--foreach, --fused", "Leave one away."));
  }
  if (recompute_reentrant_ && recompute_.empty()) {
    return Unexpected(UsageError("no module is run again", "--recompute-reentrant",
                                 "Name modules with --recompute."));
  }
  return {};
}

Result<TrainOptions> TrainFlags::Options(std::span<const std::string_view> given) const {
  std::vector<std::string_view> of_step = names_;
  // A forward pass shares layers, too.
  if (SharesLayers({.wrapper = parallel_})) {
    std::erase_if(of_step, [](std::string_view name) {
      return name == "--ranks" || name == "--parallel" || name == "--tp-plan" || name == "--rank";
    });
  }
  if (const std::string_view flag = FirstOf(given, of_step); optimizer_.empty() && !flag.empty()) {
    return Unexpected(UsageError("it is of a training step, and no optimizer is given",
                                 std::string(flag), "Name one: --train adamw."));
  }
  SY_RETURN_IF_ERROR(Check());
  TrainOptions options{.optimizer = optimizer_,
                       .freeze = freeze_,
                       .loss = loss_,
                       .loss_output = static_cast<int>(loss_output_.value_or(-1)),
                       .accumulate = accumulate_,
                       .clip_norm = clip_norm_,
                       .clip_value = clip_value_,
                       .keep_gradients = zero_grad_ == "zeros",
                       .first_step = first_step_,
                       .recompute = recompute_,
                       .recompute_reentrant = recompute_reentrant_,
                       .inplace = inplace_,
                       .fused_loss = static_cast<int>(fused_loss_.value_or(0)),
                       .ranks = ranks_,
                       .parallel = {.wrapper = parallel_,
                                    .bucket_mib = static_cast<int>(bucket_cap_mb_.value_or(0)),
                                    .bucket_views = bucket_views_,
                                    .find_unused = find_unused_,
                                    .static_graph = static_graph_,
                                    .units = units_,
                                    .keep_gathered = keep_gathered_,
                                    .parameter_views = parameter_views_}};
  if (rank_) options.parallel.rank = static_cast<int>(*rank_);
  if (!mp_policy_.empty()) {
    SY_ASSIGN_OR_RETURN(options.parallel.precision, ReadShardPrecision(mp_policy_));
  }
  for (const std::string& text : arguments_of_engine_) {
    const Result<std::vector<OptimizerOption>> more = ReadOptimizerOptions(text);
    if (!more) return Unexpected(Within("--parallel-args", more.error()));
    std::vector<OptimizerOption>& arguments = options.parallel.arguments;
    arguments.insert(arguments.end(), more->begin(), more->end());
  }
  for (const std::string& text : plan_) {
    SY_ASSIGN_OR_RETURN(const std::vector<LayerPlan> plan, ReadLayerPlan(text));
    options.parallel.plan.insert(options.parallel.plan.end(), plan.begin(), plan.end());
  }
  SY_RETURN_IF_ERROR(AddOptions(&options));
  if (groups_.empty()) SY_RETURN_IF_ERROR(CheckNesterov(options.options));
  SY_RETURN_IF_ERROR(AddGroups(&options));
  return options;
}

}  // namespace steelyard::cli
