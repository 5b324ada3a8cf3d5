// SPDX-License-Identifier: Apache-2.0
//
// Options are read as the row's signature types them: True or False, whole numbers, numbers, none
// of which is negative.
#include "pass/engine_options.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "ops/op_def.h"
#include "support/choices.h"

namespace steelyard {
namespace {

constexpr std::string_view kFlag = "--parallel-args";
// Arguments of both rows that are no options of the JSON.
constexpr std::ptrdiff_t kOwnArguments = 7;

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
  if (real != std::floor(real) || real > kMost) return std::nullopt;
  return Argument::OfInt(static_cast<std::int64_t>(real));
}

std::string_view ExpectedOf(const Param& param) {
  if (param.type == ParamType::kBool) return "Write True or False.";
  return param.type == ParamType::kFloat ? "Write a number from 0 on."
                                         : "Write a whole number from 0 on.";
}

std::vector<Param> OptionParams(std::string_view enter) {
  std::vector<Param> options;
  for (const Param& param : FindOp(OpName::FromRuntime(enter))->signature->params()) {
    options.push_back(param);
  }
  options.erase(options.begin(), options.begin() + kOwnArguments);
  return options;
}

}  // namespace

std::string_view EnterOf(const TrainOptions& options) {
  return ZeroStage(options.parallel) == kGatheringStage ? "steelyard::enter_partitioned_engine"
                                                        : "steelyard::enter_deepspeed";
}

Result<EngineOptions> ReadEngineOptions(Program& program, const TrainOptions& train) {
  const ParallelOptions& parallel = train.parallel;
  EngineOptions read{.params = OptionParams(EnterOf(train))};
  const std::vector<Param>& options = read.params;
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
    read.given.push_back(*value);
    read.names.push_back(param->name);
  }
  return read;
}

Argument EngineOptions::Named(std::string_view name) const {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (names[i] == name) return given[i];
  }
  const auto param = std::ranges::find(params, name, &Param::name);
  if (param == params.end()) return Argument::None();
  return *ReadValue(*param, param->default_text);
}

}  // namespace steelyard
