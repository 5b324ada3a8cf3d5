// SPDX-License-Identifier: Apache-2.0
//
// Logic on the bits of each element, and their shifts (ATen/native/BinaryOps.cpp). Python's
// operators are other names of the same; those that shift without a function of torch make their
// output by a factory.

#include <array>

#include "ops/contents/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::BinaryInPlace;
using pointwise::Call;
using pointwise::kAlu;
using pointwise::kSpecial;
using pointwise::UnaryInPlace;

void BitwiseShape(const OpView& op, Outputs& out) {
  shape::RequireIntegral({{op.tensor(0), op.tensor(1)}});
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
constexpr OpDef Bits(const Words& words) {
  return Binary<Promotion::kCommon>(words, kNoGradient, kAlu, BitwiseShape);
}
constexpr OpDef BitsInPlace(const Words& words) {
  return BinaryInPlace<Promotion::kCommon>(words, kNoGradient, kAlu,
                                           pointwise::IntegralPairInPlaceShape);
}

void BitwiseNotShape(const OpView& op, Outputs& out) {
  shape::RequireIntegral({{op.self()}});
  shape::Iterate<Promotion::kCommon, 0>(op, out);
}
void NotInPlaceShape(const OpView& op, Outputs& out) {
  shape::RequireIntegral({{op.self()}});
  pointwise::InPlaceShape(op, out);
}

// --- Shifts -------------------------------------------------------------------------------------

void ShiftShape(const OpView& op, Outputs& out) {
  const std::array<TensorView, 2> pair{op.tensor(0), op.tensor(1)};
  shape::RequireIntegral(pair);
  if (ResultType(pair) == DType::kBool) Refuse("bits of bool cannot be shifted");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
constexpr Columns kShiftByFactory{
    .shape = ShiftShape,
    .fusion = Fusion::kBroadcast,
    .allocations = allocations::IterateByFactory<Promotion::kCommon, 0, 1>,
    .work = kAlu,
    .grad = kNoGradient,
    .precision = precision::kFollow};

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(contents::Pointwise<segments::And>,
            Bits({"aten::bitwise_and.Tensor", "And of the bits.",
                  "(Tensor self, Tensor other) -> Tensor",
                  "aten::bitwise_and.Tensor(i64[2,8], bool[8])"})),
    Knowing(contents::Pointwise<segments::And>,
            BitsInPlace({"aten::bitwise_and_.Tensor", "Bits of both, in place.",
                         "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                         "aten::bitwise_and_.Tensor(bool[2,8], bool[8])"})),
    Call({"aten::bitwise_and.Scalar", "Bits of a tensor and a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::bitwise_and.Scalar(u8[2,8], 15)"},
         decompose::BoxAndCall<"aten::bitwise_and.Tensor", 1>, kNoGradient),
    Call(
        {"aten::bitwise_and_.Scalar", "Bits of a tensor and a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::bitwise_and_.Scalar(i64[2,8], 3)"},
        decompose::BoxAndCall<"aten::bitwise_and_.Tensor", 1>, kNoGradient),
    CopyingOut(Call(
        {"aten::bitwise_and.Scalar_Tensor", "Bits of a number and a tensor.",
         "(Scalar self, Tensor other) -> Tensor", "aten::bitwise_and.Scalar_Tensor(15, u8[2,8])"},
        decompose::BoxAndCall<"aten::bitwise_and.Tensor", 0>, kNoGradient)),
    Call({"aten::__and__.Tensor", "And of the bits.", "(Tensor self, Tensor other) -> Tensor",
          "aten::__and__.Tensor(bool[2,8], bool[8])"},
         decompose::SameAs<"aten::bitwise_and.Tensor">),
    Call({"aten::__iand__.Tensor", "Bits of both, in place.",
          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          "aten::__iand__.Tensor(bool[2,8], bool[8])"},
         decompose::SameAs<"aten::bitwise_and_.Tensor">),
    Call({"aten::__and__.Scalar", "Bits of a tensor and a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::__and__.Scalar(u8[2,8], 15)"},
         decompose::SameAs<"aten::bitwise_and.Scalar">),
    Call({"aten::__iand__.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__iand__.Scalar(i64[2,8], 3)"},
         decompose::SameAs<"aten::bitwise_and_.Scalar">),
    Knowing(
        contents::Pointwise<segments::Or>,
        Bits({"aten::bitwise_or.Tensor", "Or of the bits.", "(Tensor self, Tensor other) -> Tensor",
              "aten::bitwise_or.Tensor(bool[2,8], bool[8])"})),
    Knowing(contents::Pointwise<segments::Or>,
            BitsInPlace({"aten::bitwise_or_.Tensor", "Bits of either, in place.",
                         "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                         "aten::bitwise_or_.Tensor(bool[2,8], bool[8])"})),
    Call({"aten::bitwise_or.Scalar", "Bits of a tensor or a number.",
          "(Tensor self, Scalar other) -> Tensor", "aten::bitwise_or.Scalar(u8[2,8], 15)"},
         decompose::BoxAndCall<"aten::bitwise_or.Tensor", 1>, kNoGradient),
    Call({"aten::bitwise_or_.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::bitwise_or_.Scalar(i64[2,8], 3)"},
         decompose::BoxAndCall<"aten::bitwise_or_.Tensor", 1>, kNoGradient),
    CopyingOut(Call(
        {"aten::bitwise_or.Scalar_Tensor", "Bits of a number or a tensor.",
         "(Scalar self, Tensor other) -> Tensor", "aten::bitwise_or.Scalar_Tensor(15, u8[2,8])"},
        decompose::BoxAndCall<"aten::bitwise_or.Tensor", 0>, kNoGradient)),
    Call({"aten::__or__.Tensor", "Or of the bits.", "(Tensor self, Tensor other) -> Tensor",
          "aten::__or__.Tensor(bool[2,8], bool[8])"},
         decompose::SameAs<"aten::bitwise_or.Tensor">),
    Call({"aten::__ior__.Tensor", "Bits of either, in place.",
          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          "aten::__ior__.Tensor(bool[2,8], bool[8])"},
         decompose::SameAs<"aten::bitwise_or_.Tensor">),
    Call({"aten::__ior__.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__ior__.Scalar(i64[2,8], 3)"},
         decompose::SameAs<"aten::bitwise_or_.Scalar">),
    Bits({"aten::bitwise_xor.Tensor", "Exclusive or of the bits.",
          "(Tensor self, Tensor other) -> Tensor", "aten::bitwise_xor.Tensor(bool[2,8], bool[8])"}),
    BitsInPlace({"aten::bitwise_xor_.Tensor", "Bits in which two differ, in place.",
                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                 "aten::bitwise_xor_.Tensor(i64[2,8], i64[8])"}),
    Call({"aten::bitwise_xor.Scalar", "Bits in which a tensor and a number differ.",
          "(Tensor self, Scalar other) -> Tensor", "aten::bitwise_xor.Scalar(u8[2,8], 15)"},
         decompose::BoxAndCall<"aten::bitwise_xor.Tensor", 1>, kNoGradient),
    Call(
        {"aten::bitwise_xor_.Scalar", "Bits of a tensor and a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::bitwise_xor_.Scalar(i64[2,8], 3)"},
        decompose::BoxAndCall<"aten::bitwise_xor_.Tensor", 1>, kNoGradient),
    CopyingOut(Call(
        {"aten::bitwise_xor.Scalar_Tensor", "Bits in which a number and a tensor differ.",
         "(Scalar self, Tensor other) -> Tensor", "aten::bitwise_xor.Scalar_Tensor(15, u8[2,8])"},
        decompose::BoxAndCall<"aten::bitwise_xor.Tensor", 0>, kNoGradient)),
    Call({"aten::__xor__.Tensor", "Exclusive or of the bits.",
          "(Tensor self, Tensor other) -> Tensor", "aten::__xor__.Tensor(bool[2,8], bool[8])"},
         decompose::SameAs<"aten::bitwise_xor.Tensor">),
    Call({"aten::__ixor__.Tensor", "Bits in which two differ, in place.",
          "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          "aten::__ixor__.Tensor(i64[2,8], i64[8])"},
         decompose::SameAs<"aten::bitwise_xor_.Tensor">),
    Call({"aten::__ixor__.Scalar", "Bits of a tensor and a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__ixor__.Scalar(i64[2,8], 3)"},
         decompose::SameAs<"aten::bitwise_xor_.Scalar">),
    Knowing(contents::Pointwise<segments::Not, 1>,
            Kernel(Family::kElementwise,
                   {"aten::bitwise_not", "The other bits.", "(Tensor self) -> Tensor",
                    "aten::bitwise_not(bool[2,8])"},
                   {.shape = BitwiseNotShape,
                    .fusion = Fusion::kElementwise,
                    .allocations = allocations::OutputsOnly,
                    .work = kAlu,
                    .grad = kNoGradient,
                    .precision = precision::kFollow})),
    UnaryInPlace({"aten::bitwise_not_", "The other bits, in place.",
                  "(Tensor(a!) self) -> Tensor(a!)", "aten::bitwise_not_(i64[2,8])"},
                 NotInPlaceShape, kNoGradient, kSpecial),
    Binary<Promotion::kCommon>({"aten::bitwise_left_shift.Tensor", "Bits moved to the left.",
                                "(Tensor self, Tensor other) -> Tensor",
                                "aten::bitwise_left_shift.Tensor(i64[2,8], i32[8])"},
                               kNoGradient, kAlu, ShiftShape),
    BitsInPlace({"aten::bitwise_left_shift_.Tensor", "Bits moved to the left, in place.",
                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                 "aten::bitwise_left_shift_.Tensor(i64[2,8], i64[8])"}),
    Call({"aten::bitwise_left_shift.Tensor_Scalar", "Bits moved to the left by a number.",
          "(Tensor self, Scalar other) -> Tensor",
          "aten::bitwise_left_shift.Tensor_Scalar(i64[2,8], 2)"},
         decompose::BoxAndCall<"aten::bitwise_left_shift.Tensor", 1>, kNoGradient),
    CopyingOut(Call({"aten::bitwise_left_shift.Scalar_Tensor",
                     "Bits of a number moved to the left.", "(Scalar self, Tensor other) -> Tensor",
                     "aten::bitwise_left_shift.Scalar_Tensor(1, i64[2,8])"},
                    decompose::BoxAndCall<"aten::bitwise_left_shift.Tensor", 0>, kNoGradient)),
    CopyingOut(Kernel(
        Family::kElementwise,
        {"aten::__lshift__.Tensor", "Bits moved to the left.",
         "(Tensor self, Tensor other) -> Tensor", "aten::__lshift__.Tensor(i64[2,8], i64[8])"},
        kShiftByFactory)),
    CopyingOut(
        Call({"aten::__lshift__.Scalar", "Bits moved to the left by a number.",
              "(Tensor self, Scalar other) -> Tensor", "aten::__lshift__.Scalar(i64[2,8], 2)"},
             decompose::BoxAndCall<"aten::__lshift__.Tensor", 1>, kNoGradient)),
    BitsInPlace({"aten::__ilshift__.Tensor", "Bits moved to the left, in place.",
                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                 "aten::__ilshift__.Tensor(i64[2,8], i64[8])"}),
    Call({"aten::__ilshift__.Scalar", "Bits moved to the left by a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__ilshift__.Scalar(i64[2,8], 2)"},
         decompose::BoxAndCall<"aten::__ilshift__.Tensor", 1>, kNoGradient),
    Binary<Promotion::kCommon>({"aten::bitwise_right_shift.Tensor", "Bits moved to the right.",
                                "(Tensor self, Tensor other) -> Tensor",
                                "aten::bitwise_right_shift.Tensor(i64[2,8], i32[8])"},
                               kNoGradient, kAlu, ShiftShape),
    BitsInPlace({"aten::bitwise_right_shift_.Tensor", "Bits moved to the right, in place.",
                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                 "aten::bitwise_right_shift_.Tensor(i64[2,8], i64[8])"}),
    Call({"aten::bitwise_right_shift.Tensor_Scalar", "Bits moved to the right by a number.",
          "(Tensor self, Scalar other) -> Tensor",
          "aten::bitwise_right_shift.Tensor_Scalar(u8[2,8], 4)"},
         decompose::BoxAndCall<"aten::bitwise_right_shift.Tensor", 1>, kNoGradient),
    CopyingOut(
        Call({"aten::bitwise_right_shift.Scalar_Tensor", "Bits of a number moved to the right.",
              "(Scalar self, Tensor other) -> Tensor",
              "aten::bitwise_right_shift.Scalar_Tensor(64, i64[2,8])"},
             decompose::BoxAndCall<"aten::bitwise_right_shift.Tensor", 0>, kNoGradient)),
    CopyingOut(Kernel(
        Family::kElementwise,
        {"aten::__rshift__.Tensor", "Bits moved to the right.",
         "(Tensor self, Tensor other) -> Tensor", "aten::__rshift__.Tensor(i64[2,8], i64[8])"},
        kShiftByFactory)),
    CopyingOut(
        Call({"aten::__rshift__.Scalar", "Bits moved to the right by a number.",
              "(Tensor self, Scalar other) -> Tensor", "aten::__rshift__.Scalar(i64[2,8], 2)"},
             decompose::BoxAndCall<"aten::__rshift__.Tensor", 1>, kNoGradient)),
    BitsInPlace({"aten::__irshift__.Tensor", "Bits moved to the right, in place.",
                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                 "aten::__irshift__.Tensor(i64[2,8], i64[8])"}),
    Call({"aten::__irshift__.Scalar", "Bits moved to the right by a number, in place.",
          "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::__irshift__.Scalar(i64[2,8], 2)"},
         decompose::BoxAndCall<"aten::__irshift__.Tensor", 1>, kNoGradient),
};

}  // namespace

std::span<const OpDef> Bitwise() { return kRows; }

}  // namespace steelyard::ops
