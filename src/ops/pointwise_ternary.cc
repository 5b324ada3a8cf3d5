// SPDX-License-Identifier: Apache-2.0
//
// Kernels of three operands that multiply and add: products and quotients added to a tensor, and
// linear interpolation. Optimizers are made of those in place (ATen/native/PointwiseOps.cpp,
// Lerp.cpp).

#include "ops/gradients/pointwise_ternary.h"

#include <array>

#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

constexpr WorkFn kMultiplyAndAdd = work::PerOutput<PerElement{.alu = 3}>;

void QuotientShape(const OpView& op, Outputs& out) {
  const auto whole = [&](int i) {
    const DType dtype = op.tensor(i).dtype();
    return !IsFloating(dtype) && !IsComplex(dtype);
  };
  if (whole(1) && whole(2)) Refuse("addcdiv does not divide integers", "Use add and div.");
  shape::Iterate<Promotion::kCommon, 0, 1, 2>(op, out);
}

constexpr OpDef AddedInPlace(const Words& words, ShapeFn shape, AllocationsFn allocations,
                             Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {shape, Fusion::kBroadcast, allocations, kMultiplyAndAdd, grad, precision::kFollow},
                Alias::kInPlace);
}

// --- lerp ---------------------------------------------------------------------------------------

// Ends and weights are of the tensor's dtype; only a 0-dim weight may be of another.
void LerpShape(const OpView& op, Outputs& out) {
  const DType own = op.self().dtype();
  if (op.tensor(1).dtype() != own) Refuse("both ends must be of one dtype");
  if (!IsFloating(own) && !IsComplex(own)) Refuse("ends must be floating-point");
  shape::Iterate<Promotion::kCommon, 0, 1>(op, out);
}
void LerpByTensorShape(const OpView& op, Outputs& out) {
  const DType own = op.self().dtype();
  if (op.tensor(1).dtype() != own) Refuse("both ends must be of one dtype");
  if (op.tensor(2).dtype() != own && op.tensor(2).rank() > 0) {
    Refuse("ends and weights must be of one dtype");
  }
  if (!IsFloating(own) && !IsComplex(own)) Refuse("ends must be floating-point");
  shape::Iterate<Promotion::kCommon, 0, 1, 2>(op, out);
}

// The end broadcasts to what is overwritten, and is of its dtype.
void LerpInPlaceShape(const OpView& op, Outputs& out) {
  if (op.self().dtype() != op.tensor(1).dtype()) {
    Refuse("lerp needs tensors of one dtype: " + shape::Text(op.self()) + " and " +
           shape::Text(op.tensor(1)));
  }
  shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
}
void LerpByTensorInPlaceShape(const OpView& op, Outputs& out) {
  const DType own = op.self().dtype();
  if (!IsFloating(own) && !IsComplex(own)) Refuse("ends must be floating-point");
  if (op.tensor(1).dtype() != own) Refuse("both ends must be of one dtype");
  if (op.tensor(2).dtype() != own && op.tensor(2).rank() > 0) {
    Refuse("ends and weights must be of one dtype");
  }
  shape::Overwrite<Promotion::kCommon, 0, 1, 2>(op, out);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Casting(precision::kPromoteOnCuda,
            Kernel(Family::kElementwise,
                   {"aten::addcmul", "Adds a product of two tensors and a number.",
                    "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                    "aten::addcmul(f32[2,8], f32[2,1], f32[8])"},
                   {.shape = shape::Iterate<Promotion::kCommon, 0, 1, 2>,
                    .fusion = Fusion::kBroadcast,
                    .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
                    .work = kMultiplyAndAdd,
                    .grad = gradients::kAddcmul,
                    .precision = precision::kFollow})),
    AddedInPlace({"aten::addcmul_", "Adds a product of two tensors and a number, in place.",
                  "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
                  "Tensor(a!)",
                  "aten::addcmul_(f32[2,8], f32[2,8], f32[8])"},
                 shape::Overwrite<Promotion::kCommon, 0, 1, 2>,
                 allocations::Overwrite<Promotion::kCommon, 0, 1, 2>, gradients::kAddcmul),
    Casting(precision::kPromoteOnCuda,
            Kernel(Family::kElementwise,
                   {"aten::addcdiv", "Adds a quotient of two tensors times a number.",
                    "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                    "aten::addcdiv(f32[2,8], f32[2,1], f32[8])"},
                   {.shape = QuotientShape,
                    .fusion = Fusion::kBroadcast,
                    .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
                    .work = kMultiplyAndAdd,
                    .grad = gradients::kAddcdiv,
                    .precision = precision::kFollow})),
    AddedInPlace({"aten::addcdiv_", "Adds a quotient of two tensors times a number, in place.",
                  "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
                  "Tensor(a!)",
                  "aten::addcdiv_(f32[2,8], f32[2,8], f32[8])"},
                 shape::Overwrite<Promotion::kCommon, 0, 1, 2>,
                 allocations::Overwrite<Promotion::kCommon, 0, 1, 2>, gradients::kAddcdiv),
    Kernel(Family::kElementwise,
           {"aten::lerp.Scalar", "Goes a part of the way to `end`.",
            "(Tensor self, Tensor end, Scalar weight) -> Tensor",
            "aten::lerp.Scalar(f32[2,8], f32[8], 0.1)"},
           {.shape = LerpShape,
            .fusion = Fusion::kBroadcast,
            .allocations = allocations::OutputsOnly,
            .work = kMultiplyAndAdd,
            .grad = gradients::kLerp,
            .precision = precision::kFollow}),
    AddedInPlace({"aten::lerp_.Scalar", "Goes a part of the way to `end`, in place.",
                  "(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)",
                  "aten::lerp_.Scalar(f32[2,8], f32[2,8], 0.1)"},
                 LerpInPlaceShape, allocations::None, gradients::kLerp),
    Kernel(Family::kElementwise,
           {"aten::lerp.Tensor", "Goes parts of the way to `end`.",
            "(Tensor self, Tensor end, Tensor weight) -> Tensor",
            "aten::lerp.Tensor(f32[2,8], f32[8], f32[2,1])"},
           {.shape = LerpByTensorShape,
            .fusion = Fusion::kBroadcast,
            .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
            .work = kMultiplyAndAdd,
            .grad = gradients::kLerpByTensor,
            .precision = precision::kFollow}),
    Kernel(Family::kElementwise,
           {"aten::lerp_.Tensor", "Goes parts of the way to `end`, in place.",
            "(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)",
            "aten::lerp_.Tensor(f32[2,8], f32[8], f32[2,1])"},
           {.shape = LerpByTensorInPlaceShape,
            .fusion = Fusion::kBroadcast,
            .allocations = allocations::Overwrite<Promotion::kCommon, 0, 1, 2>,
            .work = kMultiplyAndAdd,
            .grad = gradients::kLerpByTensor,
            .precision = precision::kFollow},
           Alias::kInPlace),
};

}  // namespace

std::span<const OpDef> PointwiseTernary() { return kRows; }

}  // namespace steelyard::ops
