// SPDX-License-Identifier: Apache-2.0
//
// A call of an operator as the program makes it: as a number that equal calls share, and as text,
// in the form of ir/text_call.h.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <string>

namespace steelyard::engine {

// Of the operator alone.
std::uint64_t HashOperator(const at::RecordFunction& function);

// Of the operator, and sizes, strides and dtypes of tensors, and the other arguments. Reads no
// element.
struct CallHash {
  std::uint64_t call = 0;    // of real numbers only whether operators treat them apart
  std::uint64_t inputs = 0;  // of which numbers they are, too; where there are none `call`
};
CallHash HashCall(const at::RecordFunction& function);

// Whether all of its arguments can be written; else it is the operator's name alone, with its
// overload.
struct CallText {
  std::string text;
  bool complete = false;
};
CallText TextOfCall(const at::RecordFunction& function);
std::string TextOfOperator(const at::RecordFunction& function);

}  // namespace steelyard::engine
