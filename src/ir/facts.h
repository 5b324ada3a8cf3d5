// SPDX-License-Identifier: Apache-2.0
//
// Names of facts that readers write down and others go by.
#pragma once

#include <algorithm>
#include <string_view>

#include "steelyard/program.h"

namespace steelyard {

// What a model was built from that a file describes without its graph. Its sizes are then nobody's
// example.
inline constexpr std::string_view kBuiltFrom = "built_from";

// How a caller passes an argument of the model, where that is not as its parameters are named:
// "mask = args[1][\"mask\"]".
inline constexpr std::string_view kArgument = "argument";
inline constexpr std::string_view kArgumentIs = " = ";

// Whether the program has a fact of that name.
inline bool HasFact(const Program& program, std::string_view name) {
  return std::ranges::any_of(program.facts,
                             [&](const Fact& fact) { return program.text(fact.name) == name; });
}

}  // namespace steelyard
