// SPDX-License-Identifier: Apache-2.0
//
// Region and overrides are calls in the program, so that its text says them and `decompose` finds
// them in their place. That no parameter is in float32 is noted, since autocast then casts little.

#include "pass/autocast.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op_def.h"
#include "pass/append_call.h"
#include "pass/cast_overrides.h"

namespace steelyard {
namespace {

Status AppendOverride(Program& program, const CastOverride& cast) {
  SY_ASSIGN_OR_RETURN(const NamedCast named, FindNamed(program, cast));
  const Argument dtype = Argument::OfDType(named.dtype);
  for (const OpDef* def : named.operators) {
    const StringId name = program.strings.Intern(def->name->text());
    const std::array args{Argument::OfString(name), dtype};
    AppendCall(program, "steelyard::cast_operator", args, {}, Phase::kForward);
  }
  if (named.modules.empty()) return {};
  const std::array args{IntsArgument(program, named.modules), dtype};
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
  SY_RETURN_IF_ERROR(CheckAmp(options));
  if (!options.dtype) return program;
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
