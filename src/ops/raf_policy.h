// SPDX-License-Identifier: Apache-2.0
//
// What RAF's autocast says of each operator (raf/amp/type_hints.py): to which dtype the operands of
// a kernel are cast before it runs. Another policy than torch.autocast's, which is the column
// `precision`: it speaks of kernels of the whole step, also of the backward pass and the optimizer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/op_def.h"

namespace steelyard {

enum class RafHint : std::uint8_t {
  kLow,       // the low dtype
  kOriginal,  // the dtype that they have without autocast
  // float32 if more of them have it than have the low dtype, else the low one: a tie is low.
  kMajority,
  // The low dtype if one of two has it and the result would be float32, else the original one.
  kEither,
  kFew,     // of a list: the low dtype if most of at most five have it, else float32
  kFollow,  // the dtype that they have by now
  kCast,    // it is a cast itself
};

struct RafRule {
  std::string_view op;  // an operator with all its overloads
  RafHint hint = RafHint::kFollow;
  int operands = 0;  // so many arguments, from the first, have the hint; others the original dtype
};

// All of them, by name.
std::span<const RafRule> RafRules();
// The rule of an operator; null where RAF has none. Views follow their base.
const RafRule* FindRafRule(const OpDef& def);

// The operator that casts an operand of `def`: one of RAF's own for those, else PyTorch's.
// A null pointer stands for an operator without a row.
std::string_view CastBefore(const OpDef* def);

}  // namespace steelyard
