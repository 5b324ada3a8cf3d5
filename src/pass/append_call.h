// SPDX-License-Identifier: Apache-2.0
//
// How passes append to a program: a call at the end of its main graph.
#pragma once

#include <span>
#include <string_view>

#include "steelyard/program.h"

namespace steelyard {

// Appends `name(args)`, which gives `results`, in a phase.
void AppendCall(Program& program, std::string_view name, std::span<const Argument> args,
                std::span<const ValueId> results, Phase phase);
// A row-major tensor that a call gives.
ValueId AddResult(Program& program, std::string_view name, DType dtype,
                  std::span<const std::int64_t> sizes);
// A list of integers as an argument.
Argument IntsArgument(Program& program, std::span<const std::int64_t> ints);

}  // namespace steelyard
