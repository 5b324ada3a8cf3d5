// SPDX-License-Identifier: Apache-2.0
//
// Rows of operators that only call others, and the decompositions many of them share.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/op_def.h"
#include "ops/rules/kernel.h"
#include "ops/rules/label.h"

namespace steelyard {

// The row of a composite: everything but its parts follows from them.
constexpr OpDef Composite(OpName name, std::string_view summary, Signature signature,
                          std::string_view example, Family family, DecomposeFn decompose,
                          Precision precision, Gradient grad = kGradientFromParts,
                          Alias alias = Alias::kNone) {
  return OpDef{.name = name,
               .summary = summary,
               .signature = signature,
               .example = example,
               .family = family,
               .shape = kShapeFromParts,
               .alias = alias,
               .fusion = kFusionFromParts,
               .decompose = decompose,
               .allocations = kAllocationsFromParts,
               .work = kWorkFromParts,
               .traffic = kTrafficFromParts,
               .grad = grad,
               .precision = precision};
}
constexpr OpDef Composite(Family family, const Words& words, DecomposeFn decompose,
                          Gradient grad = kGradientFromParts,
                          Precision precision = precision::kFollow) {
  return Composite(words.name, words.summary, words.signature, words.example, family, decompose,
                   precision, grad);
}

namespace decompose {

// Calls `target` with the arguments of `op`, the one at `boxed` (if not negative) made a tensor.
std::vector<Tensor> CallWith(Dispatcher& d, const OpView& op, OpName target, int boxed);

// The tensor itself.
std::vector<Tensor> Itself(Dispatcher& d, const OpView& op);

// Compares a tensor with one that is true, as at::is_scalar_tensor_true does.
void RequireTrue(Dispatcher& d, const Tensor& condition);

// Another name of the same operator.
template <Label kTarget>
std::vector<Tensor> SameAs(Dispatcher& d, const OpView& op) {
  return CallWith(d, op, kOpNamed<kTarget>, -1);
}

// The overload for a Python number: boxes argument kBoxed and calls the overload for tensors.
template <Label kTarget, int kBoxed>
std::vector<Tensor> BoxAndCall(Dispatcher& d, const OpView& op) {
  return CallWith(d, op, kOpNamed<kTarget>, kBoxed);
}

}  // namespace decompose
}  // namespace steelyard
