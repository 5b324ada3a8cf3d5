// SPDX-License-Identifier: Apache-2.0
//
// Options of DeepSpeed's JSON are parameters of `steelyard::enter_deepspeed`, written as they stand
// there, so that a new one needs nothing here.

#include "pass/deepspeed.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/layout.h"
#include "ops/op_def.h"
#include "ops/parallel/deepspeed.h"
#include "pass/accumulate.h"
#include "pass/append_call.h"
#include "support/choices.h"

namespace steelyard {
namespace {

constexpr std::string_view kEnter = "steelyard::enter_deepspeed";
constexpr std::string_view kFlag = "--parallel-args";
// Arguments of the row that are no options of the JSON.
constexpr std::ptrdiff_t kOwnArguments = 7;

auto NotModelled(std::string what, std::string where, std::string hint) {
  return Unexpected(Unsupported(std::move(what) + " is not modelled under DeepSpeed",
                                std::move(where), std::move(hint)));
}

Status Check(const PassOptions& options) {
  const TrainOptions& train = options.train;
  if (options.amp.dtype) {
    return NotModelled("torch.autocast", "--amp, --parallel",
                       "Leave --amp away; DeepSpeed's bf16 trains a model whose parameters are in "
                       "bfloat16.");
  }
  if (train.clip_norm || train.clip_value) {
    return Unexpected(UsageError("DeepSpeed's engine clips gradients itself",
                                 train.clip_norm ? "--clip-norm" : "--clip-value",
                                 "Say how: --parallel-args gradient_clipping=1.0."));
  }
  if (train.recompute_reentrant) {
    return NotModelled("checkpointing with use_reentrant=True", "--recompute-reentrant, --parallel",
                       "Leave --recompute-reentrant away.");
  }
  return {};
}

// "5e8", "True"
std::optional<Argument> ReadValue(const Param& param, std::string_view text) {
  if (param.type == ParamType::kBool) {
    if (text == "True" || text == "true") return Argument::OfBool(true);
    if (text == "False" || text == "false") return Argument::OfBool(false);
    return std::nullopt;
  }
  double real = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, real);
  if (problem != std::errc() || stopped != end || !std::isfinite(real) || real < 0) {
    return std::nullopt;
  }
  if (param.type == ParamType::kFloat) return Argument::OfFloat(real);
  constexpr double kMost = 1e15;
  if (real != std::floor(real) || real < 1 || real > kMost) return std::nullopt;
  return Argument::OfInt(static_cast<std::int64_t>(real));
}

std::string_view ExpectedOf(const Param& param) {
  if (param.type == ParamType::kBool) return "Write True or False.";
  return param.type == ParamType::kFloat ? "Write a number from 0 on."
                                         : "Write a whole number from 1 on.";
}

Status AddOptions(Program& program, const ParallelOptions& parallel, std::vector<Argument>* args) {
  std::vector<Param> options;
  for (const Param& param : FindOp(OpName::FromRuntime(kEnter))->signature->params()) {
    options.push_back(param);
  }
  options.erase(options.begin(), options.begin() + kOwnArguments);
  for (const OptimizerOption& given : parallel.arguments) {
    const auto param = std::ranges::find(options, given.name, &Param::name);
    if (param == options.end()) {
      return Unexpected(UsageError(
          fmt::format("of DeepSpeed's options \"{}\" is not one that is modelled", given.name),
          std::string(kFlag), fmt::format("There are: {}.", fmt::join(NamesOf(options), ", "))));
    }
    if (std::ranges::count(parallel.arguments, given.name, &OptimizerOption::name) > 1) {
      return Unexpected(UsageError(fmt::format("{} is given twice", given.name), std::string(kFlag),
                                   "Leave one of them out."));
    }
    std::optional<Argument> value = ReadValue(*param, given.value);
    if (!value) {
      return Unexpected(UsageError(fmt::format("\"{}\" is no value of {}", given.value, given.name),
                                   std::string(kFlag), std::string(ExpectedOf(*param))));
    }
    value->name = program.strings.Intern(param->name);
    args->push_back(*value);
  }
  return {};
}

// The engine casts or refuses others.
Status CheckDTypes(const Program& program, std::span<const std::vector<Argument>> groups) {
  const ValueId first = groups[0][0].value;
  const DType dtype = program.values[first].dtype;
  for (const std::vector<Argument>& group : groups) {
    for (const Argument& parameter : group) {
      const Value& value = program.values[parameter.value];
      if (value.dtype == dtype) continue;
      return NotModelled(
          fmt::format(R"("{}", which is of another dtype than "{}",)", program.text(value.name),
                      program.text(program.values[first].name)),
          "--parallel", "The engine casts all parameters to one: export the model so.");
    }
  }
  if (dtype == DType::kFloat32 || dtype == DType::kBFloat16) return {};
  return NotModelled(fmt::format("a model in {}", NameOf(dtype)), "--parallel",
                     "Export it in float32 or bfloat16.");
}

std::int64_t ElementsOf(const Program& program, std::span<const Argument> group) {
  std::int64_t elements = 0;
  for (const Argument& parameter : group) {
    elements += NumElements(program.sizes(parameter.value)).value_or(0);
  }
  return elements;
}

}  // namespace

Result<Program> BackwardInEngine(Program program, const PassOptions& options) {
  SY_RETURN_IF_ERROR(Check(options));
  const DType dtype = program.values[program.loss].dtype;
  const std::vector<std::int64_t> sizes(program.sizes(program.loss).begin(),
                                        program.sizes(program.loss).end());
  const std::array scaled{AddResult(program, "mean_loss", dtype, sizes),
                          AddResult(program, "scaled_loss", dtype, sizes)};
  const std::array loss{Argument::OfValue(program.loss),
                        Argument::OfInt(std::int64_t{options.train.accumulate})};
  AppendCall(program, "steelyard::scale_engine_loss", loss, scaled, Phase::kLoss);
  const std::array root{Argument::OfValue(scaled[1]), Argument::None(), Argument::OfBool(false)};
  AppendCall(program, kBackwardOp, root, {}, Phase::kBackward);
  const std::array last{Argument::OfValue(scaled[1]), Argument::OfValue(scaled[0])};
  AppendCall(program, "steelyard::end_engine_backward", last, {}, Phase::kBackward);
  return program;
}

Result<std::vector<ValueId>> EnterEngine(Program& program,
                                         std::span<const std::vector<Argument>> groups,
                                         const TrainOptions& options) {
  SY_RETURN_IF_ERROR(CheckDTypes(program, groups));
  std::vector<Argument> parameters;
  std::vector<std::int64_t> counts;
  std::vector<ValueId> masters;
  const int rank = options.parallel.rank.value_or(0);
  std::int64_t stepped = 0;
  for (const std::vector<Argument>& group : groups) {
    parameters.insert(parameters.end(), group.begin(), group.end());
    counts.push_back(static_cast<std::int64_t>(group.size()));
    const std::array sizes{ops::PartitionOf(ElementsOf(program, group), options.ranks)};
    masters.push_back(AddResult(program, "master", DType::kFloat32, sizes));
    stepped += sizes[0];
  }
  std::vector<Argument> args{Argument::OfList(program.AddArguments(parameters)),
                             IntsArgument(program, counts),
                             Argument::OfInt(std::int64_t{ZeroStage(options.parallel)}),
                             Argument::OfInt(std::int64_t{options.ranks}),
                             Argument::OfInt(std::int64_t{rank}),
                             Argument::OfBool(options.first_step),
                             Argument::OfInt(std::int64_t{WrittenMicroSteps(options)})};
  SY_RETURN_IF_ERROR(AddOptions(program, options.parallel, &args));
  AppendCall(program, kEnter, args, masters, Phase::kForward);
  std::vector<Node>& nodes = program.main().nodes;
  std::ranges::rotate(nodes, nodes.end() - 1);
  if (program.repeat.times > 1) ++program.repeat.first;
  program.notes.push_back(program.strings.Intern(
      fmt::format("DeepSpeed: told is process {} of 0 to {}, which steps {} elements", rank,
                  options.ranks - 1, stepped)));
  return masters;
}

}  // namespace steelyard
