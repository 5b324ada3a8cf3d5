// SPDX-License-Identifier: Apache-2.0
//
// A call of an operator as the program makes it: as a number that equal calls share, and as text,
// in the form of ir/text_call.h.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <string>

namespace steelyard::engine {

std::uint64_t HashText(const char* text);

// Of the operator, and sizes, strides and dtypes of tensors, and the other arguments; of real
// numbers only whether they are one of those that operators treat apart. Reads no element.
std::uint64_t HashCall(const at::RecordFunction& function);

// Whether all of its arguments can be written; else it is the operator's name alone.
struct CallText {
  std::string text;
  bool complete = false;
};
CallText TextOfCall(const at::RecordFunction& function);

}  // namespace steelyard::engine
