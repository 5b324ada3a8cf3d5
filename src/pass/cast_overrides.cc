// SPDX-License-Identifier: Apache-2.0
#include "pass/cast_overrides.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>

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

}  // namespace

Status CheckAmp(const AmpOptions& options) {
  if (!options.dtype) {
    if (options.casts.empty()) return {};
    return Unexpected(UsageError("nothing is cast without autocast", std::string(kFlag),
                                 "Switch it on with --amp bf16."));
  }
  if (*options.dtype == DType::kBFloat16 || *options.dtype == DType::kFloat16) return {};
  return Unexpected(UsageError("autocast has no such dtype", "--amp", "It has bf16 and fp16."));
}

Result<NamedCast> FindNamed(const Program& program, const CastOverride& cast) {
  NamedCast named{.operators = {}, .modules = {}, .dtype = cast.dtype};
  if (cast.of.find("::") != std::string::npos) {
    named.operators = OperatorsNamed(cast.of);
    if (!named.operators.empty()) return named;
    return Unexpected(NotFound(fmt::format("no operator is called \"{}\"", cast.of),
                               std::string(kFlag), "`steelyard ops` lists them."));
  }
  named.modules = ModulesNamed(program, cast.of);
  if (!named.modules.empty()) return named;
  return Unexpected(NotFound(fmt::format("no module is called \"{}\"", cast.of), std::string(kFlag),
                             "A pattern is the path of a module, with * and ?; an operator is "
                             "named like aten::softmax."));
}

}  // namespace steelyard
