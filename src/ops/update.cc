// SPDX-License-Identifier: Apache-2.0
//
// Updates in place of several operands, which optimizers are made of.

#include <array>

#include "ops/gradients/activation.h"
#include "ops/gradients/arithmetic.h"
#include "ops/gradients/clamp.h"
#include "ops/gradients/comparison.h"
#include "ops/gradients/complex.h"
#include "ops/gradients/exponential.h"
#include "ops/gradients/floating_point.h"
#include "ops/gradients/masking.h"
#include "ops/gradients/pointwise_ternary.h"
#include "ops/gradients/power.h"
#include "ops/gradients/rounding.h"
#include "ops/gradients/special_functions.h"
#include "ops/gradients/trigonometric.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

// The end broadcasts to what is overwritten, and is of its dtype.
void LerpShape(const OpView& op, Outputs& out) {
  if (op.self().dtype() != op.tensor(1).dtype()) {
    Refuse("lerp needs tensors of one dtype: " + shape::Text(op.self()) + " and " +
           shape::Text(op.tensor(1)));
  }
  shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
}

void OwnShape(const OpView& op, Outputs& out) {
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}

// `mul_` of a number calls `mul` with itself as the output, which frees the cast number.
void MultiplyAllocations(const OpView& op, Allocations& memory) {
  const auto cast = allocations::Cast(op.tensor(1), op.self().dtype(), memory);
  if (cast) memory.Free(*cast, "aten::mul");
}

constexpr OpDef UpdateKernel(OpName name, std::string_view summary, Signature signature,
                             std::string_view example, Gradient grad, ShapeFn shape,
                             AllocationsFn allocations,
                             WorkFn work = work::PerOutput<PerElement{.alu = 3}>) {
  return Kernel(Family::kElementwise, {name, summary, signature, example},
                {shape, Fusion::kBroadcast, allocations, work, grad, precision::kFollow},
                Alias::kInPlace);
}

constexpr std::array kRows{
    UpdateKernel("aten::sgn_", "-1, 0 or 1, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::sgn_(f32[2,8])", gradients::kSgn, OwnShape, allocations::None,
                 work::PerOutput<PerElement{.compare = 1}>),
    UpdateKernel(
        "steelyard::mul_into", "Multiplies by a boxed number in place, as aten::mul_.Scalar does.",
        "(Tensor(a!) self, Tensor other) -> Tensor(a!)", "steelyard::mul_into(f32[2,8], f32[])",
        kNoGradient, shape::Overwrite<Promotion::kCommon, 0, 1>, MultiplyAllocations,
        work::PerOutput<PerElement{.alu = 1}>),
    Kernel(Family::kBookkeeping,
           {"steelyard::put",
            "A tensor in which a result has been computed, as overloads with `out` give it back.",
            "(Tensor(a!) out, Tensor result) -> Tensor(a!)", "steelyard::put(f32[2,8], f32[2,8])"},
           {OwnShape, Fusion::kElementwise, allocations::None, work::None, kNoGradient,
            precision::kFollow},
           Alias::kInPlace, traffic::None),
    UpdateKernel("aten::lerp_.Scalar", "Goes a part of the way to `end`, in place.",
                 "(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)",
                 "aten::lerp_.Scalar(f32[2,8], f32[2,8], 0.1)", gradients::kLerp, LerpShape,
                 allocations::None),
    UpdateKernel("aten::addcmul_", "Adds a product of two tensors and a number, in place.",
                 "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
                 "Tensor(a!)",
                 "aten::addcmul_(f32[2,8], f32[2,8], f32[8])", gradients::kAddcmul,
                 shape::Overwrite<Promotion::kCommon, 0, 1, 2>,
                 allocations::Overwrite<Promotion::kCommon, 0, 1, 2>),
    UpdateKernel("aten::addcdiv_", "Adds a quotient of two tensors times a number, in place.",
                 "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
                 "Tensor(a!)",
                 "aten::addcdiv_(f32[2,8], f32[2,8], f32[8])", gradients::kAddcdiv,
                 shape::Overwrite<Promotion::kCommon, 0, 1, 2>,
                 allocations::Overwrite<Promotion::kCommon, 0, 1, 2>),
};

}  // namespace

std::span<const OpDef> Update() { return kRows; }

}  // namespace steelyard::ops
