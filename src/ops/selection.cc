// SPDX-License-Identifier: Apache-2.0
//
// Operators whose results are as large as their data say: positions of what is not zero, elements
// that a mask chooses, distinct elements, boxes that suppress no other (ATen/native/
// TensorAdvancedIndexing.cpp, Unique.cpp; torchvision/csrc/ops/cpu/nms_kernel.cpp).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- nonzero ------------------------------------------------------------------------------------

// One row for each element that is not zero, written column by column.
void NonzeroShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const std::int64_t count = out.FromData(0, 0, self.count());
  out.Add(DType::kInt64, Dims{count, self.rank()}, Dims{1, count});
}

Work NonzeroWork(const OpView& op) {
  return {.compare = work::Elements(op.self()), .move = work::Elements(op.output())};
}

std::vector<Tensor> Argwhere(Dispatcher& d, const OpView& op) {
  const Dispatcher::WithSize size(d, d.SizeInFile(0, 0));
  return {d.Call("aten::nonzero", op.arg(0))};
}

// A number is a vector of one element here.
std::vector<Tensor> NonzeroNumpy(Dispatcher& d, const OpView& op) {
  const Dispatcher::WithSize size(d, d.SizeInFile(0, 0));
  Tensor self = d.tensor(op, 0);
  if (self.rank() == 0) self = d.Call("aten::unsqueeze", self, 0);
  return d.CallMany("aten::unbind.int", d.Call("aten::nonzero", self), 1);
}

std::vector<Tensor> Where(Dispatcher& d, const OpView& op) {
  const Dispatcher::WithSize size(d, d.SizeInFile(0, 0));
  return NonzeroNumpy(d, op);
}

// --- masked_select ------------------------------------------------------------------------------

Count Candidates(const OpView& op) {
  return work::Elements(shape::Broadcast({op.self(), op.tensor(1)}));
}

void SelectedShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), mask = op.tensor(1);
  if (mask.dtype() != DType::kBool) Refuse("a mask must be bool, not " + shape::Text(mask));
  const Count count = Candidates(op);
  if (count.overflowed()) Contradict("the mask has more than 2^63 elements");
  out.Add(self.dtype(), Dims{out.FromData(0, 0, count.value())});
}

// The selected are counted first, in an int64 copy of the mask; operands in another order than the
// result's are walked by two lists of positions.
void SelectedAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), mask = op.tensor(1);
  const std::int64_t positions = allocations::Bytes(Candidates(op), DType::kInt64);
  const Allocations::Scratch count = memory.Allocate(BitsOf(DType::kInt64) / 8, "aten::sum");
  memory.Free(memory.Allocate(positions, "aten::empty_strided"), "aten::sum");
  memory.Free(count);
  memory.Output(0);
  // Equal counts: expanding either adds dimensions of size 1 at most.
  const bool in_order =
      self.is_contiguous() && mask.is_contiguous() && self.count() == mask.count();
  if (in_order) return;
  const Allocations::Scratch first = memory.Allocate(positions, "aten::empty");
  memory.Free(memory.Allocate(positions, "aten::empty"));
  memory.Free(first);
}

Work SelectedWork(const OpView& op) {
  return {.compare = Candidates(op), .move = work::Elements(op.output())};
}

// What the mask chose, filled up with zeros.
std::vector<Tensor> MaskedScatterBackward(Dispatcher& d, const OpView& op) {
  const Dims sizes = op.ints(2);
  const std::int64_t count = work::Elements(sizes).value();
  Tensor chosen = d.Call("aten::masked_select", op.arg(0), op.arg(1));
  if (count > chosen.count()) {
    Tensor rest = d.Call("aten::zeros", Dims{count - chosen.count()}, chosen.dtype());
    Tensor both = d.Call("aten::cat", std::vector<Tensor>{chosen, rest}, 0);
    rest.reset();  // the elements of a braced list end last first
    chosen = std::move(both);
  }
  return {d.Call("aten::view", chosen, sizes)};
}

// Zeros as large as the mask and the tensor broadcast to.
std::vector<Tensor> MaskedSelectBackward(Dispatcher& d, const OpView& op) {
  const Dims sizes = shape::Broadcast({op.tensor(1), op.tensor(2)});
  Tensor whole = d.Call("aten::expand", op.arg(1), sizes);
  const Tensor zeros = d.Call("aten::zeros_like", whole);
  whole.reset();
  d.Call("aten::masked_scatter_", zeros, op.arg(2), op.arg(0));
  return {zeros};
}

// --- unique: self, sorted, return_inverse[, return_counts] --------------------------------------

constexpr int kInverse = 2;
constexpr int kCounts = 3;

// As many as there are values of the dtype, where those are few.
std::int64_t MostDistinct(const TensorView& self) {
  constexpr std::int64_t kBools = 2, kBytes = 256;
  if (self.dtype() == DType::kBool) return std::min(self.count(), kBools);
  if (BitsOf(self.dtype()) == 8) return std::min(self.count(), kBytes);
  return self.count();
}

// What is not asked for is given empty.
template <bool kWithCounts>
void UniqueShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const std::int64_t distinct = out.FromData(0, 0, MostDistinct(self));
  out.Add(self.dtype(), Dims{distinct});
  out.Add(DType::kInt64, op.boolean(kInverse) ? Dims(self.sizes()) : Dims{0});
  if (kWithCounts) out.Add(DType::kInt64, Dims{op.boolean(kCounts) ? distinct : 0});
}

// Elements are sorted, and where runs of equal ones begin is noted to be counted; booleans are
// counted at once.
template <bool kWithCounts>
void UniqueAllocations(const OpView& op, Allocations& memory) {
  constexpr std::string_view kResize = "aten::resize_";
  const TensorView self = op.self();
  const bool counts = kWithCounts && op.boolean(kCounts) && self.count() > 0;
  if (self.dtype() == DType::kBool) {
    memory.Output(0, kResize);
    if (kWithCounts) memory.Output(2, kResize);
    memory.Output(1, kResize);
    return;
  }
  const auto copy = allocations::Contiguous(self, memory);
  const std::int64_t positions = allocations::Bytes(self.count(), DType::kInt64);
  const Allocations::Scratch values =
      memory.Allocate(allocations::Bytes(self.count(), self.dtype()), "aten::sort");
  const Allocations::Scratch order = memory.Allocate(positions, "aten::sort");
  memory.Free(memory.Allocate(positions, kResize), "aten::sort");
  memory.Output(0, kResize);
  memory.Output(1, kResize);
  std::optional<Allocations::Scratch> begins;
  if (kWithCounts) memory.Output(2, kResize);
  if (counts) {
    const Count ends = Count(op.output().count()) + 1;
    begins = memory.Allocate(allocations::Bytes(ends, DType::kInt64), kResize);
  }
  memory.Free(values);
  memory.Free(order);
  allocations::Free(begins, memory);
  allocations::Free(copy, memory);
}

Work UniqueWork(const OpView& op) {
  const Count elements = work::Elements(op.self());
  return {.compare = elements, .move = elements};
}

// --- nms(dets, scores, iou_threshold) -----------------------------------------------------------

void KeptShape(const OpView& op, Outputs& out) {
  const TensorView boxes = op.self(), scores = op.tensor(1);
  shape::RequireRank("the boxes", boxes, 2);
  shape::RequireRank("the scores", scores, 1);
  shape::RequireEqual("coordinates of a box", boxes.size(1), 4);
  shape::RequireEqual("numbers of boxes and scores", boxes.size(0), scores.size(0));
  out.Add(DType::kInt64, Dims{boxes.size(0)});
}

// Columns of coordinates, the boxes in order of their scores, which of them are suppressed, which
// are kept, and their areas.
void KeptAllocations(const OpView& op, Allocations& memory) {
  constexpr std::string_view kLabel = Allocations::kCaller;
  const TensorView boxes = op.self();
  const std::int64_t count = boxes.size(0);
  if (count == 0) return memory.Output(0, "aten::empty");
  const std::int64_t numbers = allocations::Bytes(count, boxes.dtype());
  const std::int64_t positions = allocations::Bytes(count, DType::kInt64);
  std::vector<Allocations::Scratch> columns;
  if (count > 1) {
    for (int i = 0; i < 4; ++i) columns.push_back(memory.Allocate(numbers, "aten::empty"));
  }
  const Allocations::Scratch scores =
      memory.Allocate(allocations::Bytes(count, op.tensor(1).dtype()), "aten::sort");
  const Allocations::Scratch order = memory.Allocate(positions, "aten::sort");
  memory.Free(memory.Allocate(positions, "aten::resize_"), "aten::sort");
  memory.Free(scores, kLabel);
  const Allocations::Scratch suppressed =
      memory.Allocate(allocations::Bytes(count, DType::kUInt8), "aten::empty");
  memory.Output(0, "aten::empty");
  const Allocations::Scratch areas = memory.Allocate(numbers, "aten::empty");
  memory.Free(areas, kLabel);
  memory.Free(suppressed, kLabel);
  memory.Free(order, kLabel);
  for (std::size_t i = columns.size(); i-- > 0;) memory.Free(columns[i], kLabel);
}

// Each box is compared with those of lower score.
Work KeptWork(const OpView& op) {
  const Count boxes = op.self().size(0);
  return {.compare = boxes * boxes};
}

// The kept are the first of a list that has room for all.
std::vector<Tensor> Nms(Dispatcher& d, const OpView& op) {
  const Tensor kept = d.Call("steelyard::keep_boxes", op.arg(0), op.arg(1));
  const std::optional<std::int64_t> count = d.SizeInFile(0, 0);
  if (!count) d.Note("torchvision::nms is weighed as if it kept every box");
  if (count.value_or(0) > kept.size(0)) {
    Contradict(fmt::format("{} of {} boxes are kept", *count, kept.size(0)));
  }
  return {d.Call("aten::narrow", kept, 0, 0, count.value_or(kept.size(0)))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Chosen(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, ShapeFn shape, AllocationsFn allocations,
                       WorkFn work, Gradient grad) {
  return Kernel(Family::kIndexing, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, work, grad, precision::kFollow});
}

constexpr std::array kRows{
    Chosen("aten::nonzero", "Positions of the elements that are not zero.",
           "(Tensor self) -> Tensor", "aten::nonzero(bool[4,6])", NonzeroShape,
           allocations::OutputsOnly, NonzeroWork, kNoGradient),
    Composite("aten::argwhere", "Positions of the elements that are not zero.",
              "(Tensor self) -> Tensor", "aten::argwhere(bool[4,6])", Family::kIndexing, Argwhere,
              precision::kFollow),
    Composite("aten::nonzero_numpy",
              "Positions of the elements that are not zero, a list for each dimension.",
              "(Tensor self) -> Tensor[]", "aten::nonzero_numpy(bool[4,6])", Family::kIndexing,
              NonzeroNumpy, precision::kFollow),
    Composite("aten::where",
              "Positions of the elements that are not zero, a list for each dimension.",
              "(Tensor condition) -> Tensor[]", "aten::where(bool[4,6])", Family::kIndexing, Where,
              precision::kFollow),
    Chosen("aten::masked_select", "Elements chosen by a mask.",
           "(Tensor self, Tensor mask) -> Tensor", "aten::masked_select(f32[4,6], bool[4,6])",
           SelectedShape, SelectedAllocations, SelectedWork, gradients::kMaskedSelect),
    Composite("aten::masked_select_backward", "The gradient of elements chosen by a mask.",
              "(Tensor grad, Tensor input, Tensor mask) -> Tensor",
              "aten::masked_select_backward(f32[24], f32[4,6], bool[4,6])", Family::kIndexing,
              MaskedSelectBackward, precision::kFollow, gradients::kMaskedScatter),
    Composite("aten::masked_scatter_backward",
              "The gradient of elements written where a mask holds.",
              "(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
              "aten::masked_scatter_backward(f32[4,6], bool[4,6], [30])", Family::kIndexing,
              MaskedScatterBackward, precision::kFollow, kGradientUnknown),
    Chosen("aten::_unique2", "Distinct elements, where each stands among them, and how often.",
           "(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
           "-> (Tensor, Tensor, Tensor)",
           "aten::_unique2(i64[1], True, True, True)", UniqueShape<true>, UniqueAllocations<true>,
           UniqueWork, gradients::kNotImplemented),
    Chosen("aten::_unique", "Distinct elements, and where each stands among them.",
           "(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
           "aten::_unique(i64[1], True, True)", UniqueShape<false>, UniqueAllocations<false>,
           UniqueWork, gradients::kNotImplemented),
    Composite("torchvision::nms", "Boxes that overlap with none of a higher score.",
              "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
              "torchvision::nms(f32[20,4], f32[20], 0.5)", Family::kIndexing, Nms,
              precision::kFollow),
    Chosen("steelyard::keep_boxes", "Room for all boxes that `nms` may keep, and how it is filled.",
           "(Tensor dets, Tensor scores) -> Tensor", "steelyard::keep_boxes(f32[20,4], f32[20])",
           KeptShape, KeptAllocations, KeptWork, kNoGradient),
};

}  // namespace

std::span<const OpDef> Selection() { return kRows; }

}  // namespace steelyard::ops
