// SPDX-License-Identifier: Apache-2.0
//
// Logic on each element: whether it is zero is its truth. Its work is arithmetic.

#include <array>
#include <optional>

#include "ops/contents/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::kAlu;

constexpr OpDef Logic(const Words& words) {
  return Binary<Promotion::kCompare>(words, kNoGradient, kAlu);
}

// The operator that writes into an argument runs: one of a dtype that is not bool gets the result
// through a buffer of the common dtype.
template <Label kOperator>
void LogicInPlaceAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), other = op.tensor(1);
  const DType common = ResultType({self, other});
  std::optional<Allocations::Scratch> buffer;
  if (self.dtype() != DType::kBool && self.dtype() != common) {
    buffer = memory.Allocate(allocations::Bytes(self.count(), common), "aten::empty");
  }
  const auto first = allocations::Cast(self, common, memory);
  const auto second = allocations::Cast(other, common, memory);
  for (const auto& scratch : {buffer, second, first}) {
    if (scratch) memory.Free(*scratch, kOperator.view());
  }
}

constexpr OpDef LogicInPlace(const Words& words, ShapeFn shape, AllocationsFn allocations) {
  return Kernel(Family::kElementwise, words,
                {shape, Fusion::kBroadcast, allocations, kAlu, kNoGradient, precision::kFollow},
                Alias::kInPlace);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(
        contents::Pointwise<segments::And>,
        Logic({"aten::logical_and", "Whether both are not zero.",
               "(Tensor self, Tensor other) -> Tensor", "aten::logical_and(f32[2,8], i64[8])"})),
    Knowing(contents::Pointwise<segments::And>,
            LogicInPlace({"aten::logical_and_", "Whether both are not zero, in place.",
                          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                          "aten::logical_and_(bool[2,8], bool[8])"},
                         shape::Overwrite<Promotion::kCompare, 0, 1>,
                         LogicInPlaceAllocations<"aten::logical_and">)),
    Knowing(contents::Pointwise<segments::Or>,
            Logic({"aten::logical_or", "Whether one is not zero.",
                   "(Tensor self, Tensor other) -> Tensor", "aten::logical_or(f32[2,8], f32[8])"})),
    Knowing(contents::Pointwise<segments::Or>,
            LogicInPlace({"aten::logical_or_", "Whether one is not zero, in place.",
                          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                          "aten::logical_or_(bool[2,8], bool[8])"},
                         shape::Overwrite<Promotion::kCompare, 0, 1>,
                         LogicInPlaceAllocations<"aten::logical_or">)),
    Logic({"aten::logical_xor", "Whether exactly one is not zero.",
           "(Tensor self, Tensor other) -> Tensor", "aten::logical_xor(bool[2,8], bool[8])"}),
    LogicInPlace(
        {"aten::logical_xor_", "Whether exactly one is not zero, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::logical_xor_(bool[2,8], bool[8])"},
        shape::Overwrite<Promotion::kCompare, 0, 1>, LogicInPlaceAllocations<"aten::logical_xor">),
    Knowing(contents::Pointwise<segments::Not, 1>,
            Kernel(Family::kElementwise,
                   {"aten::logical_not", "Whether an element is zero.", "(Tensor self) -> Tensor",
                    "aten::logical_not(f32[2,8])"},
                   {.shape = shape::Iterate<Promotion::kCompare, 0>,
                    .fusion = Fusion::kElementwise,
                    .allocations = allocations::OutputsOnly,
                    .work = kAlu,
                    .grad = kNoGradient,
                    .precision = precision::kFollow})),
    Knowing(contents::Pointwise<segments::Not, 1>,
            LogicInPlace({"aten::logical_not_", "Whether an element is zero, in place.",
                          "(Tensor(a!) self) -> Tensor(a!)", "aten::logical_not_(bool[2,8])"},
                         shape::Overwrite<Promotion::kCompare, 0>, allocations::None)),
};

}  // namespace

std::span<const OpDef> Logical() { return kRows; }

}  // namespace steelyard::ops
