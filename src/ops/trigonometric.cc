// SPDX-License-Identifier: Apache-2.0
//
// Trigonometric and hyperbolic functions of each element, their inverses, and angles. The
// hyperbolic tangent is among the activation functions.

#include "ops/gradients/trigonometric.h"

#include <array>
#include <string_view>

#include "ops/gradients/words.h"
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
using pointwise::kSpecial;
using pointwise::MathFunction;
using pointwise::MathFunctionInPlace;
using pointwise::RealBinaryInPlace;

// PyTorch has a derivative of these only where they do not overwrite their operand.
constexpr Gradient WithoutDerivative(std::string_view node) {
  return Gradient(node, {GradientOf(0, {}, gradients::NotImplemented)});
}

// Angles are scaled into a tensor that is made first.
void AngleShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype())) Refuse("it is not defined for complex numbers");
  shape::Like(op.self(), FloatOf(op.self().dtype()), out);
}
void AngleAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty_strided");
  const DType computed = op.output().dtype();
  const auto box = memory.Allocate(BitsOf(DType::kFloat64) / 8);
  const auto cast = allocations::Cast(op.self(), computed, memory);
  if (computed != DType::kFloat64) {
    memory.Free(memory.Allocate(BitsOf(computed) / 8, "aten::empty_strided"), "aten::mul");
  }
  if (cast) memory.Free(*cast, "aten::mul");
  memory.Free(box);
}

constexpr OpDef Angle(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {.shape = AngleShape,
                 .fusion = Fusion::kElementwise,
                 .allocations = AngleAllocations,
                 .work = kAlu,
                 .grad = grad,
                 .precision = precision::kFollow});
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    MathFunction({"aten::sin", "The sine.", "(Tensor self) -> Tensor", "aten::sin(f32[2,8])"},
                 gradients::kSin),
    MathFunctionInPlace({"aten::sin_", "The sine, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                         "aten::sin_(f32[2,8])"},
                        gradients::kSin),
    MathFunction(
        {"aten::cos", "The cosine.", "(Tensor self) -> Tensor", "aten::cos(f32[8,2]{1,8})"},
        gradients::kCos),
    MathFunctionInPlace({"aten::cos_", "The cosine, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                         "aten::cos_(f32[2,8])"},
                        gradients::kCos),
    Casting(precision::kFullOnCuda, MathFunction({"aten::tan", "The tangent.",
                                                  "(Tensor self) -> Tensor", "aten::tan(f32[2,8])"},
                                                 gradients::kTan)),
    MathFunctionInPlace({"aten::tan_", "The tangent, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                         "aten::tan_(f32[2,8])"},
                        gradients::kTan),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::asin", "The inverse sine.", "(Tensor self) -> Tensor",
                          "aten::asin(f32[2,8])"},
                         gradients::kAsin)),
    MathFunctionInPlace({"aten::asin_", "The inverse sine, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::asin_(f32[2,8])"},
                        gradients::kAsin),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::acos", "The inverse cosine.", "(Tensor self) -> Tensor",
                          "aten::acos(f32[2,8])"},
                         gradients::kAcos)),
    MathFunctionInPlace({"aten::acos_", "The inverse cosine, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::acos_(f32[2,8])"},
                        gradients::kAcos),
    MathFunction(
        {"aten::atan", "The inverse tangent.", "(Tensor self) -> Tensor", "aten::atan(f32[2,8])"},
        gradients::kAtan),
    MathFunctionInPlace({"aten::atan_", "The inverse tangent, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::atan_(f32[2,8])"},
                        gradients::kAtan),
    Casting(precision::kPromoteOnCuda,
            Binary<Promotion::kFloat>(
                {"aten::atan2", "The angle of a point.", "(Tensor self, Tensor other) -> Tensor",
                 "aten::atan2(f32[2,8], f32[8])"},
                gradients::kAtan2, kSpecial)),
    RealBinaryInPlace<Promotion::kFloat>(
        {"aten::atan2_", "The angle of a point, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::atan2_(f32[2,8], f32[8])"},
        gradients::kAtan2),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::sinh", "The hyperbolic sine.", "(Tensor self) -> Tensor",
                          "aten::sinh(f32[2,8])"},
                         gradients::kSinh)),
    MathFunctionInPlace({"aten::sinh_", "The hyperbolic sine, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::sinh_(f32[2,8])"},
                        gradients::kSinh),
    Casting(precision::kFullOnCuda,
            MathFunction({"aten::cosh", "The hyperbolic cosine.", "(Tensor self) -> Tensor",
                          "aten::cosh(i64[2,8])"},
                         gradients::kCosh)),
    MathFunctionInPlace({"aten::cosh_", "The hyperbolic cosine, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::cosh_(f32[2,8])"},
                        gradients::kCosh),
    MathFunction({"aten::asinh", "The inverse hyperbolic sine.", "(Tensor self) -> Tensor",
                  "aten::asinh(f32[2,8])"},
                 gradients::kAsinh),
    MathFunctionInPlace({"aten::asinh_", "The inverse hyperbolic sine, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::asinh_(f32[2,8])"},
                        WithoutDerivative("AsinhBackward1")),
    MathFunction({"aten::acosh", "The inverse hyperbolic cosine.", "(Tensor self) -> Tensor",
                  "aten::acosh(f32[2,8])"},
                 gradients::kAcosh),
    MathFunctionInPlace({"aten::acosh_", "The inverse hyperbolic cosine, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::acosh_(f32[2,8])"},
                        WithoutDerivative("AcoshBackward1")),
    MathFunction({"aten::atanh", "The inverse hyperbolic tangent.", "(Tensor self) -> Tensor",
                  "aten::atanh(f32[2,8])"},
                 gradients::kAtanh),
    MathFunctionInPlace({"aten::atanh_", "The inverse hyperbolic tangent, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::atanh_(f32[2,8])"},
                        WithoutDerivative("AtanhBackward1")),
    MathFunction({"aten::sinc", "The sine of pi x over pi x.", "(Tensor self) -> Tensor",
                  "aten::sinc(f32[2,8])"},
                 gradients::kSinc),
    MathFunctionInPlace({"aten::sinc_", "The sine of pi x over pi x, in place.",
                         "(Tensor(a!) self) -> Tensor(a!)", "aten::sinc_(f32[2,8])"},
                        gradients::kSinc),
    Binary<Promotion::kCommon>(
        {"aten::hypot", "The length of a vector of two.", "(Tensor self, Tensor other) -> Tensor",
         "aten::hypot(f32[2,8], f32[8])"},
        gradients::kHypot, kSpecial, pointwise::FloatingPairShape),
    RealBinaryInPlace<Promotion::kCommon>(
        {"aten::hypot_", "The length of a vector of two, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::hypot_(f32[2,8], f32[8])"},
        gradients::kHypot),
    Angle({"aten::deg2rad", "Degrees as radians.", "(Tensor self) -> Tensor",
           "aten::deg2rad(f32[2,8])"},
          gradients::kDeg2Rad),
    Angle({"aten::rad2deg", "Radians as degrees.", "(Tensor self) -> Tensor",
           "aten::rad2deg(f32[2,8])"},
          gradients::kRad2Deg),
};

}  // namespace

std::span<const OpDef> Trigonometric() { return kRows; }

}  // namespace steelyard::ops
