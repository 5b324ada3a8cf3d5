// SPDX-License-Identifier: Apache-2.0
//
// Region and overrides are calls in the program, so that its text says them and `decompose` finds
// them in their place. What has "::" in it names an operator, with or without its overload,
// anything else is a pattern of modules. That no parameter is in float32 is noted, since autocast
// then casts little.

#include "pass/autocast.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op_def.h"
#include "pass/append_call.h"
#include "pass/parameter_pattern.h"

namespace steelyard {
namespace {

constexpr std::string_view kFlag = "--cast";

// An operator is named as it is, or by what its overloads have in common.
std::vector<const OpDef*> OperatorsNamed(std::string_view name) {
  std::vector<const OpDef*> out;
  for (const OpDef* def : AllOps()) {
    if (def->name->text() == name || def->label() == name) out.push_back(def);
  }
  return out;
}

std::vector<std::int64_t> ModulesNamed(const Program& program, std::string_view pattern) {
  std::vector<std::int64_t> out;
  for (std::size_t m = 0; m < program.modules.size(); ++m) {
    if (MatchesParameter(pattern, program.text(program.modules[m].path))) {
      out.push_back(static_cast<std::int64_t>(m));
    }
  }
  return out;
}

Status AppendOverride(Program& program, const CastOverride& cast) {
  const Argument dtype = Argument::OfDType(cast.dtype);
  if (cast.of.find("::") != std::string::npos) {
    const std::vector<const OpDef*> operators = OperatorsNamed(cast.of);
    for (const OpDef* def : operators) {
      const StringId name = program.strings.Intern(def->name->text());
      const std::array args{Argument::OfString(name), dtype};
      AppendCall(program, "steelyard::cast_operator", args, {}, Phase::kForward);
    }
    if (!operators.empty()) return {};
    return Unexpected(NotFound(fmt::format("no operator is called \"{}\"", cast.of),
                               std::string(kFlag), "`steelyard ops` lists them."));
  }
  const std::vector<std::int64_t> modules = ModulesNamed(program, cast.of);
  if (modules.empty()) {
    return Unexpected(NotFound(fmt::format("no module is called \"{}\"", cast.of),
                               std::string(kFlag),
                               "A pattern is the path of a module, with * and ?; an operator is "
                               "named like aten::softmax."));
  }
  const std::array args{IntsArgument(program, modules), dtype};
  AppendCall(program, "steelyard::cast_modules", args, {}, Phase::kForward);
  return {};
}

// Whether autocast finds a weight to cast. A model without parameters has none to miss.
bool HasWideParameter(const Program& program) {
  return program.parameters.empty() ||
         std::ranges::any_of(program.parameters, [&](const NamedTensor& parameter) {
           return program.values[parameter.value].dtype == DType::kFloat32;
         });
}

}  // namespace

Result<Program> InsertAutocast(Program program, const AmpOptions& options) {
  if (!options.dtype) {
    if (options.casts.empty()) return program;
    return Unexpected(UsageError("nothing is cast without autocast", std::string(kFlag),
                                 "Switch it on with --amp bf16."));
  }
  if (*options.dtype != DType::kBFloat16 && *options.dtype != DType::kFloat16) {
    return Unexpected(UsageError("autocast has no such dtype", "--amp", "It has bf16 and fp16."));
  }
  if (!HasWideParameter(program)) {
    program.notes.push_back(program.strings.Intern(
        "no parameter is in float32, so there is little that autocast casts"));
  }
  std::vector<Node> body = std::exchange(program.main().nodes, {});
  for (const CastOverride& cast : options.casts) {
    SY_RETURN_IF_ERROR(AppendOverride(program, cast));
  }
  const std::array args{Argument::OfDType(*options.dtype)};
  AppendCall(program, "steelyard::enter_autocast", args, {}, Phase::kForward);
  std::vector<Node>& nodes = program.main().nodes;
  nodes.insert(nodes.end(), body.begin(), body.end());
  AppendCall(program, "steelyard::leave_autocast", {}, {}, nodes.back().phase);
  return program;
}

}  // namespace steelyard
