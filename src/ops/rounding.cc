// SPDX-License-Identifier: Apache-2.0
//
// What rounds each element, and what is then behind the point.

#include "ops/gradients/rounding.h"

#include <array>

#include "ops/registry.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using pointwise::FloatingUnary;
using pointwise::kCompare;
using pointwise::kMove;
using pointwise::kSpecial;
using pointwise::RealFunctionInPlace;
using pointwise::Unary;
using pointwise::UnaryInPlace;
using work::PerElement;

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Unary<Promotion::kCommon>(
        {"aten::floor", "Rounds down.", "(Tensor self) -> Tensor", "aten::floor(f32[2,8])"},
        gradients::kFloor, kMove),
    UnaryInPlace({"aten::floor_", "Rounds down, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                  "aten::floor_(f32[2,8])"},
                 pointwise::RealInPlaceShape, gradients::kFloor, kMove),
    Unary<Promotion::kCommon>(
        {"aten::ceil", "Rounds up.", "(Tensor self) -> Tensor", "aten::ceil(f32[2,8])"},
        gradients::kCeil, kMove),
    UnaryInPlace({"aten::ceil_", "Rounds up, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                  "aten::ceil_(f32[2,8])"},
                 pointwise::RealInPlaceShape, gradients::kCeil, kMove),
    Unary<Promotion::kCommon>(
        {"aten::round", "Rounds to even.", "(Tensor self) -> Tensor", "aten::round(f32[2,8])"},
        gradients::kRound, kMove),
    UnaryInPlace({"aten::round_", "Rounds to even, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                  "aten::round_(f32[2,8])"},
                 pointwise::RealInPlaceShape, gradients::kRound, kMove),
    FloatingUnary(
        {"aten::round.decimals", "Rounds behind the point.",
         "(Tensor self, *, int decimals) -> Tensor", "aten::round.decimals(f32[2,8], decimals=2)"},
        gradients::kRoundToDecimals, work::PerOutput<PerElement{.alu = 3}>),
    RealFunctionInPlace({"aten::round_.decimals", "Rounds to a number of decimals, in place.",
                         "(Tensor(a!) self, *, int decimals) -> Tensor(a!)",
                         "aten::round_.decimals(f32[2,8], decimals=2)"},
                        gradients::kRoundToDecimals),
    Unary<Promotion::kCommon>(
        {"aten::trunc", "Rounds to zero.", "(Tensor self) -> Tensor", "aten::trunc(f32[2,8])"},
        gradients::kTrunc, kMove),
    UnaryInPlace({"aten::trunc_", "Rounds to zero, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                  "aten::trunc_(f32[2,8])"},
                 pointwise::RealInPlaceShape, gradients::kTrunc, kSpecial),
    FloatingUnary({"aten::frac", "What is behind the point.", "(Tensor self) -> Tensor",
                   "aten::frac(f32[2,8])"},
                  gradients::kFrac, kCompare),
    RealFunctionInPlace({"aten::frac_", "What is behind the point, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::frac_(f32[2,8])"},
                        gradients::kFrac),
};

}  // namespace

std::span<const OpDef> Rounding() { return kRows; }

}  // namespace steelyard::ops
