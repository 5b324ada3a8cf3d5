// SPDX-License-Identifier: Apache-2.0
//
// Exponentials and logarithms of each element.

#include "ops/gradients/exponential.h"

#include <array>

#include "ops/registry.h"
#include "ops/rules/pointwise.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::kSpecial;
using pointwise::MathFunction;
using pointwise::MathFunctionInPlace;

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Casting(precision::kFullOnCuda, MathFunction({"aten::exp", "The exponential.",
                                                  "(Tensor self) -> Tensor", "aten::exp(i64[2,8])"},
                                                 gradients::kExp)),
    MathFunctionInPlace({"aten::exp_", "e to the x, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                         "aten::exp_(f32[2,8])"},
                        gradients::kExp),
    MathFunction(
        {"aten::exp2", "Two to the element.", "(Tensor self) -> Tensor", "aten::exp2(f32[2,8])"},
        gradients::kExp2),
    MathFunctionInPlace({"aten::exp2_", "Two to the element, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::exp2_(f32[2,8])"},
                        gradients::kExp2),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::expm1", "The exponential minus one.", "(Tensor self) -> Tensor",
                          "aten::expm1(f32[2,8])"},
                         gradients::kExpm1)),
    MathFunctionInPlace({"aten::expm1_", "The exponential minus one, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::expm1_(f32[2,8])"},
                        gradients::kExpm1),
    Casting(precision::kFullOnCuda, MathFunction({"aten::log", "The natural logarithm.",
                                                  "(Tensor self) -> Tensor", "aten::log(f32[2,8])"},
                                                 gradients::kLog)),
    MathFunctionInPlace({"aten::log_", "The natural logarithm, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::log_(f32[2,8])"},
                        gradients::kLog),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::log2", "The logarithm to base 2.", "(Tensor self) -> Tensor",
                          "aten::log2(f32[2,8])"},
                         gradients::kLog2)),
    MathFunctionInPlace({"aten::log2_", "The logarithm to base 2, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::log2_(f32[2,8])"},
                        gradients::kLog2),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::log10", "The logarithm to base 10.", "(Tensor self) -> Tensor",
                          "aten::log10(f32[2,8])"},
                         gradients::kLog10)),
    MathFunctionInPlace({"aten::log10_", "The logarithm to base 10, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::log10_(f32[2,8])"},
                        gradients::kLog10),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::log1p", "The logarithm of one plus the element.",
                          "(Tensor self) -> Tensor", "aten::log1p(f32[2,8])"},
                         gradients::kLog1p)),
    MathFunctionInPlace({"aten::log1p_", "The logarithm of one plus x, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::log1p_(f32[2,8])"},
                        gradients::kLog1p),
    Binary<Promotion::kCommon>(
        {"aten::logaddexp", "The logarithm of the sum of two exponentials.",
         "(Tensor self, Tensor other) -> Tensor", "aten::logaddexp(f32[2,8], f32[8])"},
        gradients::kLogAddExp, kSpecial, pointwise::FloatingPairShape),
    Binary<Promotion::kCommon>(
        {"aten::logaddexp2", "The same to base 2.", "(Tensor self, Tensor other) -> Tensor",
         "aten::logaddexp2(f32[2,8], f32[8])"},
        gradients::kLogAddExp2, kSpecial, pointwise::FloatingPairShape),
};

}  // namespace

std::span<const OpDef> Exponential() { return kRows; }

}  // namespace steelyard::ops
