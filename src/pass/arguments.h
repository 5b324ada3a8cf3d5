// SPDX-License-Identifier: Apache-2.0
//
// Where the arguments of a call stand.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard {

// Where among the arguments of `node`, a call of `def`, the parameter of this name stands, given by
// position or by name. Nothing where it is left to its default, or where `def` has none of it.
[[nodiscard]] std::optional<std::size_t> ArgumentNamed(const Program& program, const Node& node,
                                                       const OpDef& def, std::string_view name);

}  // namespace steelyard
