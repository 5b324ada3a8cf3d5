// SPDX-License-Identifier: Apache-2.0
//
// One call as text, the form of the `example` column of the operator table:
//
//   aten::linear(f32[2,3,8], f32[5,8], bias=f32[5])
//   aten::cat([f32[2,3], f32[1,3]{1,1}], -2)
//
// `dtype[sizes]` is a tensor the caller passes, contiguous unless {strides} follow; otherwise as in
// the text form of programs, without expressions. Strings stand in '' or "".
#pragma once

#include <string_view>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// What a call may return of a list whose length only the operator's rule knows.
inline constexpr int kMaxCallOutputs = 256;

// The program that makes this one call: its tensors are the inputs, in the order in which they are
// written. It returns kMaxCallOutputs results without sizes; those that the operator does not have
// are None once the program is decomposed.
Result<Program> ProgramOfCall(std::string_view call);

}  // namespace steelyard
