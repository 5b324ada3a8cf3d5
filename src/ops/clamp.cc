// SPDX-License-Identifier: Apache-2.0
//
// Limits of each element, which are numbers or tensors; one of both may be missing
// (ATen/native/TensorCompare.cpp).

#include "ops/gradients/clamp.h"

#include <array>

#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using pointwise::Binary;
using pointwise::BinaryInPlace;
using pointwise::Call;
using pointwise::kAlu;
using pointwise::RealBinaryInPlace;
using pointwise::UnaryInPlace;
using work::PerElement;

// --- Numbers ------------------------------------------------------------------------------------

void ClampShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const bool to_integer = !IsFloating(self.dtype()) && !IsComplex(self.dtype());
  const Argument max = op.arg_count() > 2 ? op.arg(2) : Argument::None();
  if (!op.given(1) && max.kind == ArgKind::kNone) Refuse("clamp needs a minimum or a maximum");
  const DType common = to_integer ? ResultType(self, {op.arg(1), max}) : self.dtype();
  shape::AddIterated(common, common, {{self}}, out);
}

Work ClampWork(const OpView& op) {
  int bounds = 0;
  for (int i = 1; i < op.arg_count(); ++i) bounds += op.given(i);
  return {.alu = work::Elements(op.output()) * bounds};
}

constexpr OpDef ClampToNumbers(const Words& words, Gradient grad) {
  return Kernel(Family::kElementwise, words,
                {ClampShape, Fusion::kElementwise,
                 DeviceAllocations{pointwise::CastAllocations, pointwise::CastAllocations},
                 ClampWork, grad, precision::kFollow});
}

// --- Tensors ------------------------------------------------------------------------------------

template <ShapeFn kShape>
void BoundsShape(const OpView& op, Outputs& out) {
  bool any = false;
  for (int i = 0; i < op.arg_count(); ++i) {
    any = any || (i > 0 && op.given(i));
    if (op.given(i) && IsComplex(op.tensor(i).dtype())) Refuse("complex numbers have no order");
  }
  if (!any) Refuse("clamp needs a minimum or a maximum");
  kShape(op, out);
}
constexpr Columns kBounds{.shape = BoundsShape<shape::Iterate<Promotion::kCommon, 0, 1, 2>>,
                          .fusion = Fusion::kBroadcast,
                          .allocations = allocations::Iterate<Promotion::kCommon, 0, 1, 2>,
                          .work = work::PerOutput<PerElement{.alu = 2}>,
                          .grad = gradients::kClampByTensors,
                          .precision = precision::kFollow};

// self, min, max: one of both, or none of them
void LimitsShape(const OpView& op, Outputs& out) {
  if (!op.given(1) && !op.given(2)) Refuse("neither a lower nor an upper limit");
  if (op.given(1) && op.given(2)) return shape::Overwrite<Promotion::kCommon, 0, 1, 2>(op, out);
  if (op.given(1)) return shape::Overwrite<Promotion::kCommon, 0, 1>(op, out);
  shape::Overwrite<Promotion::kCommon, 0, 2>(op, out);
}
void LimitsAllocations(const OpView& op, Allocations& memory) {
  if (op.given(1) && op.given(2)) {
    return allocations::Overwrite<Promotion::kCommon, 0, 1, 2>(op, memory);
  }
  if (op.given(1)) return allocations::Overwrite<Promotion::kCommon, 0, 1>(op, memory);
  allocations::Overwrite<Promotion::kCommon, 0, 2>(op, memory);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    ClampToNumbers({"aten::clamp", "Limits to [`min`, `max`].",
                    "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
                    "aten::clamp(i64[2,8], 0.5, 1)"},
                   gradients::kClamp),
    UnaryInPlace({"aten::clamp_", "Limits to [`min`, `max`] in place.",
                  "(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)",
                  "aten::clamp_(f32[2,8], 0, 1)"},
                 pointwise::InPlaceShape, gradients::kClamp, ClampWork),
    ClampToNumbers({"aten::clamp_min", "Limits from below.", "(Tensor self, Scalar min) -> Tensor",
                    "aten::clamp_min(f32[2,8], 1e-06)"},
                   gradients::kClampMin),
    UnaryInPlace({"aten::clamp_min_", "Limits from below in place.",
                  "(Tensor(a!) self, Scalar min) -> Tensor(a!)", "aten::clamp_min_(f32[2,8], 0)"},
                 pointwise::InPlaceShape, gradients::kClampMin, ClampWork),
    ClampToNumbers({"aten::clamp_max", "Limits from above.", "(Tensor self, Scalar max) -> Tensor",
                    "aten::clamp_max(f32[2,8], 4.6)"},
                   gradients::kClampMax),
    UnaryInPlace({"aten::clamp_max_", "Limits from above in place.",
                  "(Tensor(a!) self, Scalar max) -> Tensor(a!)", "aten::clamp_max_(f32[2,8], 0)"},
                 pointwise::InPlaceShape, gradients::kClampMax, ClampWork),
    Kernel(Family::kElementwise,
           {"aten::clamp.Tensor", "Limits to what two tensors say.",
            "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
            "aten::clamp.Tensor(f32[2,8], f32[8], f32[8])"},
           kBounds),
    Kernel(Family::kElementwise,
           {"aten::clamp_.Tensor", "Limits to what two tensors say, in place.",
            "(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)",
            "aten::clamp_.Tensor(f32[2,8], f32[8], f32[8])"},
           {.shape = LimitsShape,
            .fusion = Fusion::kBroadcast,
            .allocations = LimitsAllocations,
            .work = work::PerOutput<PerElement{.alu = 2}>,
            .grad = gradients::kClampByTensors,
            .precision = precision::kFollow},
           Alias::kInPlace),
    Binary<Promotion::kCommon>(
        {"aten::clamp_min.Tensor", "Limits from below to what a tensor says.",
         "(Tensor self, Tensor min) -> Tensor", "aten::clamp_min.Tensor(f32[2,8], f32[8])"},
        gradients::kClampMinByTensor, kAlu, BoundsShape<shape::Iterate<Promotion::kCommon, 0, 1>>),
    BinaryInPlace<Promotion::kCommon>(
        {"aten::clamp_min_.Tensor", "Limits from below to what a tensor says, in place.",
         "(Tensor(a!) self, Tensor min) -> Tensor(a!)",
         "aten::clamp_min_.Tensor(f32[2,8], f32[8])"},
        gradients::kClampMinByTensor, kAlu,
        BoundsShape<shape::Overwrite<Promotion::kCommon, 0, 1>>),
    Binary<Promotion::kCommon>(
        {"aten::clamp_max.Tensor", "Limits from above to what a tensor says.",
         "(Tensor self, Tensor max) -> Tensor", "aten::clamp_max.Tensor(f32[2,8], f32[8])"},
        gradients::kClampMaxByTensor, kAlu, BoundsShape<shape::Iterate<Promotion::kCommon, 0, 1>>),
    RealBinaryInPlace<Promotion::kCommon>(
        {"aten::clamp_max_.Tensor", "Limits from above to what a tensor says, in place.",
         "(Tensor(a!) self, Tensor max) -> Tensor(a!)",
         "aten::clamp_max_.Tensor(f32[2,8], f32[8])"},
        gradients::kClampMaxByTensor),
    Call({"aten::clip", "Limits to two numbers.",
          "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
          "aten::clip(f32[2,8], 0, 1)"},
         decompose::SameAs<"aten::clamp">),
};

}  // namespace

std::span<const OpDef> Clamp() { return kRows; }

}  // namespace steelyard::ops
