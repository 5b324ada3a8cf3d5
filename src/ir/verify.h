// SPDX-License-Identifier: Apache-2.0
//
// The rules that every program obeys, after every pass. Each is a row of verify.cc: a name, what it
// says, and a function that finds the first place where it is broken.
//
//   if (Status status = Verify(program); !status) return status;  // a defect of the last pass
#pragma once

#include <span>
#include <string_view>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

struct VerifyRule {
  std::string_view name;     // "defined_before_use"
  std::string_view summary;  // what holds, as a sentence
};

// The first rule that `program` breaks, with the node and the value. Takes time linear in the
// program.
Status Verify(const Program& program);

// All rules, in the order in which they are checked.
std::span<const VerifyRule> VerifyRules();

}  // namespace steelyard
