// SPDX-License-Identifier: Apache-2.0
//
// The form of floating-point numbers: infinities and what is no number, signs that zeros have, too,
// and the next number that there is.

#include "ops/gradients/floating_point.h"

#include <array>
#include <limits>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::Call;
using pointwise::kAlu;
using pointwise::kCompare;
using pointwise::kSpecial;
using pointwise::RealBinary;
using pointwise::RealBinaryInPlace;
using pointwise::UnaryInPlace;

void TestShape(const OpView& op, Outputs& out) {
  pointwise::RequireReal(op);
  shape::AddIterated(DType::kBool, op.self().dtype(), {{op.self()}}, out);
}
constexpr Columns kTest{.shape = TestShape,
                        .fusion = Fusion::kElementwise,
                        .allocations = allocations::OutputsOnly,
                        .work = kCompare,
                        .grad = kNoGradient,
                        .precision = precision::kFollow};

constexpr Columns kNumbersForNan{.shape = shape::Like<0>,
                                 .fusion = Fusion::kElementwise,
                                 .allocations = allocations::Via<"aten::empty_strided">,
                                 .work = kCompare,
                                 .grad = gradients::kNanToNum,
                                 .precision = precision::kFollow};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Tensor> IsInf(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (IsComplex(self.dtype())) {
    const Tensor out = d.Call("aten::isinf", d.Call("aten::real", self));
    const Tensor other = d.Call("aten::isinf", d.Call("aten::imag", self));
    return {d.Call("aten::__ior__.Tensor", out, other)};
  }
  if (!IsFloating(self.dtype())) return {d.Call("aten::zeros_like", self, DType::kBool)};
  return {d.Call("aten::eq.Scalar", d.Call("aten::abs", self), kInfinity)};
}

std::vector<Tensor> IsFinite(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (IsComplex(self.dtype())) {
    const Tensor out = d.Call("aten::isfinite", d.Call("aten::real", self));
    const Tensor other = d.Call("aten::isfinite", d.Call("aten::imag", self));
    return {d.Call("aten::__iand__.Tensor", out, other)};
  }
  if (!IsFloating(self.dtype())) return {d.Call("aten::ones_like", self, DType::kBool)};
  const Tensor magnitude = d.Call("aten::abs", self);
  const Tensor bounded = d.Call("aten::ne.Scalar", magnitude, kInfinity);
  const Tensor number = d.Call("aten::eq.Tensor", self, self);
  return {d.Call("aten::mul.Tensor", number, bounded)};
}

std::vector<Tensor> IsReal(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  if (!IsComplex(self.dtype())) return {d.Call("aten::ones_like", self, DType::kBool)};
  return {d.Call("aten::eq.Scalar", d.Call("aten::imag", self), 0)};
}
std::vector<Tensor> IsNan(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::ne.Tensor", op.arg(0), op.arg(0))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    CopyingOut(Call({"aten::isnan", "Whether an element is not a number.",
                     "(Tensor self) -> Tensor", "aten::isnan(f32[2,8])"},
                    IsNan)),
    CopyingOut(Call({"aten::isinf", "Whether an element is infinite.", "(Tensor self) -> Tensor",
                     "aten::isinf(f32[2,8])"},
                    IsInf, kNoGradient)),
    Kernel(Family::kElementwise,
           {"aten::isposinf", "Whether an element is infinite and positive.",
            "(Tensor self) -> Tensor", "aten::isposinf(f32[2,8])"},
           kTest),
    Kernel(Family::kElementwise,
           {"aten::isneginf", "Whether an element is minus infinity.", "(Tensor self) -> Tensor",
            "aten::isneginf(f32[2,8])"},
           {.shape = shape::Iterate<Promotion::kCompare, 0>,
            .fusion = Fusion::kElementwise,
            .allocations = allocations::OutputsOnly,
            .work = kAlu,
            .grad = kNoGradient,
            .precision = precision::kFollow}),
    Call({"aten::isfinite", "Whether an element is a number and not infinite.",
          "(Tensor self) -> Tensor", "aten::isfinite(f32[2,8])"},
         IsFinite),
    Call({"aten::isreal", "Whether an element is no complex number.", "(Tensor self) -> Tensor",
          "aten::isreal(f32[2,8])"},
         IsReal),
    Kernel(Family::kElementwise,
           {"aten::nan_to_num", "Numbers for infinities and what is no number.",
            "(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
            "aten::nan_to_num(f32[2,8])"},
           kNumbersForNan),
    UnaryInPlace(
        {"aten::nan_to_num_", "Numbers for infinities and what is no number, in place.",
         "(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)",
         "aten::nan_to_num_(f32[2,8])"},
        pointwise::InPlaceShape, gradients::kNanToNum, kSpecial),
    Kernel(Family::kElementwise,
           {"aten::signbit", "Whether the sign is minus.", "(Tensor self) -> Tensor",
            "aten::signbit(f32[2,8])"},
           kTest),
    Binary<Promotion::kFloat>(
        {"aten::copysign.Tensor", "The first with the sign of the second.",
         "(Tensor self, Tensor other) -> Tensor", "aten::copysign.Tensor(i64[2,8], i64[8])"},
        gradients::kCopysign),
    RealBinaryInPlace<Promotion::kFloat>(
        {"aten::copysign_.Tensor", "The sign of another number, in place.",
         "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
         "aten::copysign_.Tensor(f32[2,8], f32[8])"},
        gradients::kCopysign),
    Call({"aten::copysign.Scalar", "The tensor with the sign of a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::copysign.Scalar(f32[2,8], -1.0)"},
         decompose::BoxAndCall<"aten::copysign.Tensor", 1>, gradients::kCopysignNumber),
    Call(
        {"aten::copysign_.Scalar", "The sign of a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::copysign_.Scalar(f32[2,8], -1.0)"},
        decompose::BoxAndCall<"aten::copysign_.Tensor", 1>, gradients::kCopysignNumber),
    RealBinary<Promotion::kCommon>(
        {"aten::nextafter", "The next number towards another one.",
         "(Tensor self, Tensor other) -> Tensor", "aten::nextafter(f32[2,8], f32[8])"},
        gradients::kNextafter),
};

}  // namespace

std::span<const OpDef> FloatingPoint() { return kRows; }

}  // namespace steelyard::ops
