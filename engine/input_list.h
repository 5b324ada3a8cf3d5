// SPDX-License-Identifier: Apache-2.0
//
// What a call of an operator or a node of autograd is given, as PyTorch's traces tell of it.
#pragma once

#include <ATen/record_function.h>

#include <string>

namespace steelyard::engine {

// A line for each input, as SY_INPUT_LIST has them. Reads no element.
std::string TextOfInputs(const at::RecordFunction& function);

}  // namespace steelyard::engine
