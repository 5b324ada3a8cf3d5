// SPDX-License-Identifier: Apache-2.0
//
// The pass `bind`: makes every symbolic size of a program a number, from the shapes the user gives
// and, where none is given, the sizes the file was exported with.
//
//   Result<Program> bound = Bind(std::move(program), {.inputs = {{"input_ids", {2, 128}}}});
#pragma once

#include "steelyard/error.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"

namespace steelyard {

// After it no value, argument or result has an expression, integers that were values of known
// number are arguments, and the tables of symbols and expressions are empty. Every size of the file
// that was taken for want of another is a note of the program. Returns an error when the shapes
// contradict each other or the file, or a tensor would have more than 2^63 bytes.
Result<Program> Bind(Program program, const BindOptions& options);

}  // namespace steelyard
