// SPDX-License-Identifier: Apache-2.0
//
// What a mask chooses between: two operands, or a tensor and what it is filled with
// (ATen/native/TensorCompare.cpp, TensorAdvancedIndexing.cpp).

#include "ops/gradients/masking.h"

#include <array>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using pointwise::Call;
using pointwise::kCompare;

// --- where --------------------------------------------------------------------------------------

// self and other are promoted; the condition is bool or, to be cast, uint8.
void WhereShape(const OpView& op, Outputs& out) {
  const TensorView condition = op.tensor(0);
  if (condition.dtype() != DType::kBool && condition.dtype() != DType::kUInt8) {
    Refuse("the condition must be bool, not " + shape::Text(condition));
  }
  const DType common = ResultType({op.tensor(1), op.tensor(2)});
  const Dims a = shape::CastStrides(condition, DType::kBool);
  const Dims b = shape::CastStrides(op.tensor(1), common);
  const Dims c = shape::CastStrides(op.tensor(2), common);
  const std::array operands{Layout{condition.sizes(), a}, Layout{op.tensor(1).sizes(), b},
                            Layout{op.tensor(2).sizes(), c}};
  shape::AddIterated(common, operands, out);
}

void WhereAllocations(const OpView& op, Allocations& memory) {
  const DType common = op.output().dtype();
  const auto self = allocations::Cast(op.tensor(1), common, memory);
  const auto other = allocations::Cast(op.tensor(2), common, memory);
  const auto condition = allocations::Cast(op.tensor(0), DType::kBool, memory);
  memory.Output(0);
  allocations::Free(condition, memory);
  allocations::Free(other, memory);
  allocations::Free(self, memory);
}

// The number becomes a 0-dim tensor of the common dtype, the other operand is cast to it.
std::vector<Tensor> WhereScalarOther(Dispatcher& d, const OpView& op) {
  const DType common = ResultType(op.tensor(1), {op.arg(2)});
  const Tensor other = d.Call("aten::scalar_tensor", op.arg(2), common);
  const Tensor self = d.Call("aten::to.dtype", d.tensor(op, 1), common);
  return {d.Call("aten::where.self", d.tensor(op, 0), self, other)};
}
std::vector<Tensor> WhereScalarSelf(Dispatcher& d, const OpView& op) {
  const DType common = ResultType(op.tensor(2), {op.arg(1)});
  const Tensor self = d.Call("aten::scalar_tensor", op.arg(1), common);
  const Tensor other = d.Call("aten::to.dtype", d.tensor(op, 2), common);
  return {d.Call("aten::where.self", d.tensor(op, 0), self, other)};
}

// Both numbers become 0-dim tensors.
std::vector<Tensor> WhereScalar(Dispatcher& d, const OpView& op) {
  const auto either = [&](ArgKind kind) {
    return op.arg(1).kind == kind || op.arg(2).kind == kind;
  };
  const DType common = either(ArgKind::kComplex) ? DType::kComplex64
                       : either(ArgKind::kFloat) ? DType::kFloat32
                       : either(ArgKind::kInt)   ? DType::kInt64
                                                 : DType::kBool;
  const Tensor self = d.Call("aten::scalar_tensor", op.arg(1), common);
  const Tensor other = d.Call("aten::scalar_tensor", op.arg(2), common);
  return {d.Call("aten::where.self", d.tensor(op, 0), self, other)};
}

// --- masked_fill --------------------------------------------------------------------------------

void MaskedFillInPlaceShape(const OpView& op, Outputs& out) {
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  if (sizes.size() != op.self().rank()) Refuse("the mask has more dimensions than the tensor");
  out.AddLike(op.self());
}

// masked_fill: a row-major copy of the tensor, expanded to the mask, that is then filled.
template <Label kInPlace>
std::vector<Tensor> MaskedFill(Dispatcher& d, const OpView& op) {
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  const Tensor self = d.Call("aten::expand", d.tensor(op, 0), sizes);
  const Tensor result = d.Call("aten::clone", self, kContiguousFormat);
  return {d.Call(kOpNamed<kInPlace>, result, d.tensor(op, 1), op.arg(2))};
}

constexpr OpDef MaskedFillInPlace(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {MaskedFillInPlaceShape, Fusion::kBroadcast, allocations::None, kCompare, grad,
                 precision::kFollow},
                Alias::kInPlace);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(contents::Pointwise<segments::Select, 3>,
            Kernel(Family::kElementwise,
                   {"aten::where.self", "Where the condition holds `self`, elsewhere `other`.",
                    "(Tensor condition, Tensor self, Tensor other) -> Tensor",
                    "aten::where.self(bool[2,8], f32[8], i64[])"},
                   {WhereShape, Fusion::kBroadcast,
                    DeviceAllocations{WhereAllocations, WhereAllocations}, kCompare,
                    gradients::kWhere, precision::kFollow})),
    Call({"aten::where.ScalarOther", "Where the condition holds `self`, elsewhere a number.",
          "(Tensor condition, Tensor self, Scalar other) -> Tensor",
          "aten::where.ScalarOther(bool[2,8], i64[2,8], 0.0)"},
         WhereScalarOther),
    Call({"aten::where.ScalarSelf", "Where the condition holds a number, elsewhere `other`.",
          "(Tensor condition, Scalar self, Tensor other) -> Tensor",
          "aten::where.ScalarSelf(bool[2,8], 1.0, f16[2,8])"},
         WhereScalarSelf),
    Call({"aten::where.Scalar", "Where the condition holds one number, elsewhere another.",
          "(Tensor condition, Scalar self, Scalar other) -> Tensor",
          "aten::where.Scalar(bool[2,8], 1.0, 0)"},
         WhereScalar),
    CopyingOut(Call({"aten::masked_fill.Scalar", "A copy with a number where the mask holds.",
                     "(Tensor self, Tensor mask, Scalar value) -> Tensor",
                     "aten::masked_fill.Scalar(f32[8], bool[2,8], 0)"},
                    MaskedFill<"aten::masked_fill_.Scalar">, gradients::kMaskedFill)),
    Knowing(contents::Pointwise<segments::Replace, 3>,
            MaskedFillInPlace({"aten::masked_fill_.Scalar", "Writes a number where the mask holds.",
                               "(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
                               "aten::masked_fill_.Scalar(f32[2,8], bool[8], 0)"},
                              gradients::kMaskedFill)),
    CopyingOut(Call({"aten::masked_fill.Tensor", "A copy with a 0-dim tensor where the mask holds.",
                     "(Tensor self, Tensor mask, Tensor value) -> Tensor",
                     "aten::masked_fill.Tensor(f32[2,8], bool[2,8], f32[])"},
                    MaskedFill<"aten::masked_fill_.Tensor">, gradients::kMaskedFillTensor)),
    Knowing(contents::Pointwise<segments::Replace, 3>,
            MaskedFillInPlace(
                {"aten::masked_fill_.Tensor", "Writes a 0-dim tensor where the mask holds.",
                 "(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)",
                 "aten::masked_fill_.Tensor(f32[2,8], bool[8], f32[])"},
                gradients::kMaskedFillTensor)),
};

}  // namespace

std::span<const OpDef> Masking() { return kRows; }

}  // namespace steelyard::ops
