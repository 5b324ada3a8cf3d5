// SPDX-License-Identifier: Apache-2.0
//
// Copies: contiguous, clone, casts and copies between layouts.

#include <algorithm>
#include <array>
#include <vector>

#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/view.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

void CloneShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  out.Add(self.dtype(), self.sizes(), StridesIn(FormatOf(op, 1, MemoryFormat::kPreserve), self));
}

void CopyBlockTo(const TensorView& to, const TensorView& from, Allocations& memory) {
  allocations::CopyBlock(from, to.strides(), to.dtype(), memory);
}

// Strides that are preserved are given to empty_strided; a format is given to empty.
std::string_view FactoryOf(MemoryFormat format) {
  return format == MemoryFormat::kPreserve ? "aten::empty_strided" : "aten::empty";
}

void CloneAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, FactoryOf(FormatOf(op, 1, MemoryFormat::kPreserve)));
  CopyBlockTo(op.output(), op.self(), memory);
}

void ToCopyShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  out.Add(op.dtype(1).value_or(self.dtype()), self.sizes(),
          StridesIn(FormatOf(op, 6, MemoryFormat::kPreserve), self));
}

void ToCopyAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, FactoryOf(FormatOf(op, 6, MemoryFormat::kPreserve)));
  CopyBlockTo(op.output(), op.self(), memory);
}

void CopyShape(const OpView& op, Outputs& out) {
  shape::Broadcast({op.self(), op.tensor(1)});
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}

void CopyAllocations(const OpView& op, Allocations& memory) {
  const TensorView from = op.tensor(1);
  if (std::ranges::equal(op.self().sizes(), from.sizes())) CopyBlockTo(op.self(), from, memory);
}

// What comes from the host's memory goes through a dense tensor, unless it is copied as it lies.
void CopyOnCuda(const OpView& op, Allocations& memory) {
  const TensorView to = op.self(), from = op.tensor(1);
  if (!from.value().on_host && !from.value().wrapped_number) return;
  if (to.is_contiguous() || to.count() <= 1) return;
  memory.Free(memory.Allocate(allocations::Bytes(to.count(), to.dtype()), "aten::empty"));
}

std::vector<Tensor> Contiguous(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const MemoryFormat format = FormatOf(op, 1, MemoryFormat::kContiguous);
  if (LiesDense(self, format == MemoryFormat::kChannelsLast)) return {d.tensor(op, 0)};
  return {d.Call("aten::clone", d.tensor(op, 0), op.arg(1))};
}

// What all overloads of `to` do: nothing if dtype and layout are as wanted, else one copy. It is
// what the strides suggest that is compared (to_will_alias), not how the elements lie: an image of
// one pixel lies in both formats, and is copied from the one into the other.
std::vector<Tensor> ConvertTo(Dispatcher& d, const OpView& op, DType dtype, bool copy,
                              int format_at) {
  const TensorView self = op.self();
  const MemoryFormat format = FormatOf(op, format_at, MemoryFormat::kPreserve);
  const bool last = SuggestedFormat(self) == kChannelsLastFormat;
  const bool placed =
      format == MemoryFormat::kPreserve || last == (format == MemoryFormat::kChannelsLast);
  if (dtype == self.dtype() && !copy && placed) return {d.tensor(op, 0)};
  return {d.Call("aten::_to_copy", d.tensor(op, 0), dtype, std::nullopt, std::nullopt, std::nullopt,
                 false, op.arg(format_at))};
}

std::vector<Tensor> ToDType(Dispatcher& d, const OpView& op) {
  return ConvertTo(d, op, op.dtype(1).value_or(op.self().dtype()), op.boolean(3), 4);
}
std::vector<Tensor> ToDevice(Dispatcher& d, const OpView& op) {
  return ConvertTo(d, op, op.dtype(2).value_or(op.self().dtype()), op.boolean(4), 5);
}
std::vector<Tensor> ToDTypeLayout(Dispatcher& d, const OpView& op) {
  return ConvertTo(d, op, op.dtype(1).value_or(op.self().dtype()), op.boolean(6), 7);
}
std::vector<Tensor> ToOther(Dispatcher& d, const OpView& op) {
  return ConvertTo(d, op, op.tensor(1).dtype(), op.boolean(3), 4);
}
std::vector<Tensor> TypeAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::to.dtype", d.tensor(op, 0), op.tensor(1).dtype())};
}

std::vector<Tensor> LiftFreshCopy(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::clone", d.tensor(op, 0), kContiguousFormat)};
}

constexpr OpDef MovementComposite(OpName name, std::string_view summary, Signature signature,
                                  std::string_view example, DecomposeFn decompose,
                                  Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kDataMovement, decompose,
                   precision::kFollow, grad);
}

constexpr std::array kRows{
    TakingBits(
        MathBits::kBoth,
        CopyingOut(Knowing(
            contents::Same<0>,
            Kernel(Family::kDataMovement,
                   {"aten::clone",
                    "A copy; dense tensors keep their strides unless a memory format is given.",
                    "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
                    "aten::clone(f32[3,4]{1,3})"},
                   {CloneShape, Fusion::kElementwise, CloneAllocations, work::Move,
                    gradients::kClone, precision::kFollow})))),
    CopyingOut(
        Knowing(contents::Same<0>, OpDef{.name = "aten::_to_copy",
                                         .summary = "A copy in another dtype or layout.",
                                         .signature = "(Tensor self, *, ScalarType? dtype=None, "
                                                      "Layout? layout=None, Device? device=None, "
                                                      "bool? "
                                                      "pin_memory=None, bool non_blocking=False, "
                                                      "MemoryFormat? memory_format=None) -> Tensor",
                                         .example = "aten::_to_copy(f32[3,4], dtype=bf16)",
                                         .family = Family::kDataMovement,
                                         .shape = ToCopyShape,
                                         .alias = Alias::kNone,
                                         .fusion = Fusion::kElementwise,
                                         .decompose = kIsKernel,
                                         .allocations = ToCopyAllocations,
                                         .work = work::Move,
                                         .traffic = traffic::ReadAllWriteAll,
                                         .grad = gradients::kToCopy,
                                         .precision = precision::kFollow})),
    TakingBits(
        MathBits::kBoth,
        Knowing(
            contents::Same<1>,
            Kernel(Family::kDataMovement,
                   {"aten::copy_", "Overwrites a tensor with another, broadcast and cast to it.",
                    "(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
                    "aten::copy_(f32[3,4], f32[4])"},
                   {CopyShape, Fusion::kBroadcast, DeviceAllocations{CopyAllocations, CopyOnCuda},
                    work::Move, gradients::kCopy, precision::kFollow},
                   Alias::kInPlace, traffic::ReadWhatIsWritten))),
    MovementComposite("aten::contiguous",
                      "The tensor itself if it is contiguous, else a copy that is.",
                      "(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
                      "aten::contiguous(f32[3,4]{1,3})", Contiguous),
    MovementComposite("aten::to.dtype",
                      "The tensor itself if it has the dtype, else a copy that has.",
                      "(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool "
                      "copy=False, MemoryFormat? "
                      "memory_format=None) -> Tensor(a)",
                      "aten::to.dtype(f32[3,4], f16)", ToDType),
    MovementComposite(
        "aten::to.device",
        "The tensor itself if it has the dtype, else a copy that has; the device is the target's.",
        "(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool "
        "copy=False, "
        "MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::to.device(f32[3,4], 'cpu', i64)", ToDevice),
    MovementComposite("aten::to.dtype_layout",
                      "The tensor itself if it has the dtype, else a copy that has.",
                      "(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                      "device=None, bool? "
                      "pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
                      "memory_format=None) -> Tensor(a)",
                      "aten::to.dtype_layout(f32[3,4], dtype=bf16)", ToDTypeLayout),
    MovementComposite(
        "aten::to.other", "The tensor itself if it has the dtype of another, else a copy that has.",
        "(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? "
        "memory_format=None) -> Tensor(a)",
        "aten::to.other(f32[3,4], f16[1])", ToOther),
    MovementComposite("aten::type_as", "Cast to the dtype of another tensor.",
                      "(Tensor self, Tensor other) -> Tensor", "aten::type_as(f32[3,4], f16[1])",
                      TypeAs),
    MovementComposite("aten::lift_fresh", "A constant.", "(Tensor(a) self) -> Tensor(a)",
                      "aten::lift_fresh(f32[3])", decompose::Itself),
    CopyingOut(MovementComposite("aten::lift_fresh_copy", "A copy of a constant.",
                                 "(Tensor self) -> Tensor", "aten::lift_fresh_copy(f32[3])",
                                 LiftFreshCopy)),
};

}  // namespace

std::span<const OpDef> DataMovement() { return kRows; }

}  // namespace steelyard::ops
