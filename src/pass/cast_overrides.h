// SPDX-License-Identifier: Apache-2.0
//
// What an override of autocast names: operators, or modules of a program.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op_def.h"
#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

struct NamedCast {
  std::vector<const OpDef*> operators;
  std::vector<std::int64_t> modules;  // their ids, in order
  DType dtype = DType::kFloat32;
};

// What has "::" in it names an operator, with or without its overload, anything else is a pattern
// of modules. A not-found error where it names nothing.
Result<NamedCast> FindNamed(const Program& program, const CastOverride& cast);

// A usage error where there are overrides and no dtype, or autocast has no such dtype.
Status CheckAmp(const AmpOptions& options);

}  // namespace steelyard
