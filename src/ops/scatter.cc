// SPDX-License-Identifier: Apache-2.0
//
// Elements written or added to places that an index or a mask says: one place for each element, or
// one for each slice of a dimension (ATen/native/TensorAdvancedIndexing.cpp,
// cpu/ScatterGatherKernel.cpp). Half-precision results are computed in a float32 buffer, of their
// size or of one row a thread.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/cuda/determinism.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/gradients/words.h"
#include "ops/indices.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- scatter, scatter_add, index_add(self, dim, index, ...) -------------------------------------

void RequireDTypeOf(const TensorView& self, const TensorView& source) {
  if (source.dtype() != self.dtype()) Refuse("what is written must be of the tensor's dtype");
}

// self, dim, index, and the source where it is no number.
void RequireScatter(const OpView& op) {
  const bool multiplies = op.arg_count() > 4 && op.text(4) == "multiply";
  if (multiplies) cuda::RefuseWhereDeterministic(op);
  op.dim(1, op.self().rank());
  RequireIndex(op.tensor(2));
  if (op.arg(3).kind == ArgKind::kValue) RequireDTypeOf(op.self(), op.tensor(3));
}

void RowMajorCopyShape(const OpView& op, Outputs& out) {
  RequireScatter(op);
  out.Add(op.self().dtype(), op.self().sizes());
}

void ScatterInPlaceShape(const OpView& op, Outputs& out) {
  shape::RequireWritable(op.self());
  RequireScatter(op);
  out.AddLike(op.self());
}

void ScatterAllocations(const OpView& op, Allocations& memory) {
  if (*op.def().alias == Alias::kNone) memory.Output(0);
  if (op.tensor(2).count() > 0) CastIndexAndBuffer(op.tensor(2), op.output(), memory);
}

void FloatBuffer(const TensorView& result, std::string_view freed_by, Allocations& memory) {
  const std::int64_t bytes = allocations::Bytes(result.count(), DType::kFloat32);
  memory.Free(memory.Allocate(bytes, "aten::empty"), freed_by);
}

// Rows at least this long are added one after the other, through one float32 row per thread.
constexpr std::int64_t kLongRow = 16;

void AddRows(const OpView& op, bool by_rows, std::string_view freed_by, Allocations& memory) {
  const TensorView source = op.tensor(3);
  if (source.count() == 0 || !IsHalf(op.output().dtype())) return;
  const std::int64_t row = source.count() / (source.rank() == 0 ? 1 : source.size(0));
  if (!by_rows || row < kLongRow) return FloatBuffer(op.output(), freed_by, memory);
  const Count elements = Count(row) * op.target().threads;
  memory.Free(memory.Allocate(allocations::Bytes(elements, DType::kFloat32), "aten::empty"),
              freed_by);
}

void ScatterAddAllocations(const OpView& op, Allocations& memory) {
  const bool by_rows = op.dim(1, op.self().rank()) == 0 && op.self().is_contiguous() &&
                       op.tensor(3).is_contiguous() && IsRepeatedInRows(op.tensor(2)) &&
                       HaveEqualRows(op.self(), op.tensor(3));
  if (*op.def().alias == Alias::kNone) memory.Output(0);
  const auto cast = op.tensor(2).count() > 0
                        ? allocations::Cast(op.tensor(2), DType::kInt64, memory)
                        : std::nullopt;
  AddRows(op, by_rows, {}, memory);
  allocations::Free(cast, memory);
}

// A scatter_add_ with the index repeated in rows, where the index is int64 and nothing is scaled,
// along the first or last dimension; else row after row.
void IndexAddAllocations(const OpView& op, Allocations& memory) {
  if (*op.def().alias == Alias::kNone) memory.Output(0);
  const auto index = allocations::Contiguous(op.tensor(2), memory);
  const bool by_rows = op.dim(1, op.self().rank()) == 0 && op.output().is_contiguous() &&
                       op.tensor(3).is_contiguous();
  const int rank = op.self().rank(), dim = op.dim(1, rank);
  const bool scattered = op.tensor(2).dtype() == DType::kInt64 && op.real(4, 1.0) == 1.0 &&
                         (dim == 0 || dim == rank - 1);
  if (scattered) AddRows(op, by_rows, "aten::scatter_add_", memory);
  allocations::Free(index, memory);
}

Work MoveByIndex(const OpView& op) { return {.move = work::Elements(op.tensor(2))}; }

Work AddByIndex(const OpView& op) { return {.alu = work::Elements(op.tensor(3))}; }

// --- index_fill, index_copy(self, dim, index, ...) ----------------------------------------------

void FillShape(const OpView& op, Outputs& out) {
  op.dim(1, op.self().rank());
  RequireLong(op.tensor(2));
  if (op.tensor(2).rank() > 1) Refuse("the index has more than one dimension");
  out.AddLike(op.self());
}

Work FillWork(const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() == 0) return {.move = 1};
  const int dim = op.dim(1, self.rank());
  Dims sizes(self.sizes());
  sizes[dim] = op.tensor(2).count();
  return {.move = work::Elements(sizes)};
}

std::vector<Tensor> IndexFill(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::clone", d.tensor(op, 0));
  return {d.Call("aten::index_fill_.int_Scalar", out, op.arg(1), d.tensor(op, 2), op.arg(3))};
}

// The number in the tensor is not known here.
Tensor FillByTensor(Dispatcher& d, const Tensor& self, const OpView& op) {
  d.CallWith("steelyard::stand_in", {});
  return d.Call("aten::index_fill_.int_Scalar", self, op.arg(1), d.tensor(op, 2), 0);
}

std::vector<Tensor> IndexFillByTensor(Dispatcher& d, const OpView& op) {
  if (op.tensor(3).rank() != 0) Refuse("the value has no dimensions");
  const Tensor out = d.Call("aten::clone", d.tensor(op, 0));
  return {FillByTensor(d, out, op)};
}

std::vector<Tensor> IndexFillByTensorInPlace(Dispatcher& d, const OpView& op) {
  if (op.tensor(3).rank() != 0) Refuse("the value has no dimensions");
  return {FillByTensor(d, d.tensor(op, 0), op)};
}

void CopySlicesShape(const OpView& op, Outputs& out) {
  RequireSlices(op);
  RequireLong(op.tensor(2));
  out.Add(op.self().dtype(), op.self().sizes());
}

void CopySlicesInPlaceShape(const OpView& op, Outputs& out) {
  RequireSlices(op);
  RequireLong(op.tensor(2));
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}

// --- put(self, index, source, accumulate) -------------------------------------------------------

void PutShape(const OpView& op, Outputs& out) {
  RequireLong(op.tensor(1));
  if (op.tensor(1).count() != op.tensor(2).count()) Refuse("a position for each element is needed");
  RequireDTypeOf(op.self(), op.tensor(2));
  if (op.self().count() == 0 && op.tensor(1).count() > 0) Refuse("there is nowhere to put it");
  shape::RequireWritable(op.self());
  out.AddLike(op.self());
}

Work PutWork(const OpView& op) {
  const Count elements = work::Elements(op.tensor(2));
  return op.boolean(3) ? Work{.alu = elements} : Work{.move = elements};
}

std::vector<Tensor> Put(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::clone", d.tensor(op, 0));
  return {d.Call("aten::put_", out, d.tensor(op, 1), d.tensor(op, 2), op.arg(3))};
}

// --- masked_scatter(self, mask, source) ---------------------------------------------------------

void MaskedScatterShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self(), mask = op.tensor(1), source = op.tensor(2);
  if (mask.dtype() != DType::kBool) Refuse("a mask must be bool, not " + shape::Text(mask));
  RequireDTypeOf(self, source);
  const Dims sizes = shape::Broadcast({self, mask});
  if (!std::ranges::equal(std::span<const std::int64_t>(sizes), self.sizes())) {
    Refuse("the mask is larger than the tensor");
  }
  shape::RequireWritable(self);
  out.AddLike(self);
}

void MaskedScatterAllocations(const OpView& op, Allocations& memory) {
  allocations::Free(allocations::Contiguous(op.tensor(2), memory), memory);
}

// Where each element goes is found by adding up the mask.
void MaskedScatterOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), mask = op.tensor(1);
  if (self.count() == 0) return;
  const std::int64_t count = self.count();
  const auto places = memory.Allocate(allocations::Bytes(count, DType::kInt64));
  const bool lies = mask.is_contiguous() && mask.count() == count;
  const auto copy = memory.Allocate(lies ? 0 : allocations::Bytes(count, DType::kBool));
  memory.Free(memory.Allocate(cuda::ScanBytes(count)));
  const auto source = cuda::Contiguous(op.tensor(2), memory);
  allocations::Free(source, memory);
  memory.Free(copy);
  memory.Free(places);
}

std::vector<Tensor> MaskedScatter(Dispatcher& d, const OpView& op) {
  const Dims sizes = shape::Broadcast({op.self(), op.tensor(1)});
  const Tensor self = d.Call("aten::expand", d.tensor(op, 0), sizes);
  const Tensor mask = d.Call("aten::expand", d.tensor(op, 1), sizes);
  const Tensor out = d.Call("aten::clone", self, kContiguousFormat);
  return {d.Call("aten::masked_scatter_", out, mask, d.tensor(op, 2))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr Gradient kNotOfSource{
    "NotImplemented",
    {GradientOf(3, {}, gradients::NotImplemented), GradientOf(0, {}, gradients::NotImplemented)}};

constexpr OpDef Scatter(OpName name, std::string_view summary, Signature signature,
                        std::string_view example, Gradient grad, WorkFn work,
                        AllocationsFn allocations) {
  const bool in_place = signature.params()[0].written;
  return Kernel(Family::kIndexing, {name, summary, signature, example},
                {in_place ? ScatterInPlaceShape : RowMajorCopyShape, Fusion::kOpaque, allocations,
                 work, grad, precision::kFollow},
                in_place ? Alias::kInPlace : Alias::kNone);
}

Work MoveSource(const OpView& op) { return {.move = work::Elements(op.tensor(3))}; }

constexpr WorkFn kMask = work::PerOutput<work::PerElement{.compare = 1}>;

constexpr std::array kRows{
    Scatter("aten::scatter.src", "A copy in which elements of `src` go where the index says.",
            "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
            "aten::scatter.src(f32[4,6], 0, i64[2,6], f32[2,6])", gradients::kScatter, MoveByIndex,
            ScatterAllocations),
    Scatter("aten::scatter_.src", "Elements of `src` go where the index says.",
            "(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
            "aten::scatter_.src(f32[4,6], 0, i64[2,6], f32[2,6])", gradients::kScatter, MoveByIndex,
            ScatterAllocations),
    Scatter("aten::scatter.value", "A copy in which a number goes where the index says.",
            "(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
            "aten::scatter.value(f32[4,6], 0, i64[2,6], 1)", gradients::kScatterNumber, MoveByIndex,
            ScatterAllocations),
    Scatter("aten::scatter_.value", "A number goes where the index says.",
            "(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
            "aten::scatter_.value(f32[4,6], 0, i64[2,6], 1)", gradients::kScatterNumber,
            MoveByIndex, ScatterAllocations),
    Scatter("aten::scatter.reduce", "A copy in which `src` is added or multiplied by an index.",
            "(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
            "aten::scatter.reduce(f32[4,6], 0, i64[2,6], f32[2,6], reduce='add')", kNotOfSource,
            AddByIndex, ScatterAllocations),
    Scatter("aten::scatter_.reduce", "`src` is added or multiplied where the index says.",
            "(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)",
            "aten::scatter_.reduce(f32[4,6], 0, i64[2,6], f32[2,6], reduce='multiply')",
            kNotOfSource, AddByIndex, ScatterAllocations),
    Scatter("aten::scatter.value_reduce", "A copy to which a number is added by an index.",
            "(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
            "aten::scatter.value_reduce(f32[4,6], 0, i64[2,6], 2, reduce='add')",
            gradients::kNotImplemented, MoveByIndex, ScatterAllocations),
    Scatter("aten::scatter_.value_reduce", "A number is added where the index says.",
            "(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)",
            "aten::scatter_.value_reduce(f32[4,6], 0, i64[2,6], 2, reduce='add')",
            gradients::kNotImplemented, MoveByIndex, ScatterAllocations),
    Casting(precision::kPromoteOnCuda,
            Scatter("aten::scatter_add", "A copy to which `src` is added where the index says.",
                    "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
                    "aten::scatter_add(f32[4,6], 0, i64[2,6], f32[2,6])", gradients::kScatterAdd,
                    AddByIndex, ScatterAddAllocations)),
    Scatter("aten::scatter_add_", "Adds `src` where the index says.",
            "(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
            "aten::scatter_add_(f32[4,6], 0, i64[2,6], f32[2,6])", gradients::kScatterAdd,
            AddByIndex, ScatterAddAllocations),
    Scatter("aten::index_add", "A copy to rows of which `source` is added.",
            "(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
            "aten::index_add(f32[4,6], 0, i64[2], f32[2,6])", gradients::kIndexAdd, AddByIndex,
            IndexAddAllocations),
    Scatter(
        "aten::index_add_", "Adds `source` to rows chosen by an index.",
        "(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)",
        "aten::index_add_(f32[4,6], 0, i64[2], f32[2,6])", gradients::kIndexAdd, AddByIndex,
        IndexAddAllocations),
    Written({"aten::index_fill_.int_Scalar", "A number written into slices.",
             "(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
             "aten::index_fill_.int_Scalar(f32[4,3], 0, i64[2], 1.0)"},
            FillShape, allocations::None, FillWork, gradients::kIndexFill),
    CopyingOut(Composite(Family::kIndexing,
                         {"aten::index_fill.int_Scalar", "A copy with a number in some slices.",
                          "(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                          "aten::index_fill.int_Scalar(f32[4,3], 0, i64[2], 1.0)"},
                         IndexFill, gradients::kIndexFill)),
    Composite("aten::index_fill_.int_Tensor", "A number in a tensor written into slices.",
              "(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)",
              "aten::index_fill_.int_Tensor(f32[4,3], 0, i64[2], f32[])", Family::kIndexing,
              IndexFillByTensorInPlace, precision::kFollow, gradients::kIndexFillTensor,
              Alias::kInPlace),
    CopyingOut(Composite(Family::kIndexing,
                         {"aten::index_fill.int_Tensor", "A copy with a number in some slices.",
                          "(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
                          "aten::index_fill.int_Tensor(f32[4,3], 0, i64[2], f32[])"},
                         IndexFillByTensor, gradients::kIndexFillTensor)),
    Written({"aten::index_copy_", "Slices written to places.",
             "(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)",
             "aten::index_copy_(f32[4,3], 0, i64[2], f32[2,3])"},
            CopySlicesInPlaceShape, allocations::None, MoveSource, gradients::kIndexCopy),
    Casting(precision::kPromoteOnCpu,
            Kernel(Family::kIndexing,
                   {"aten::index_copy", "A copy with slices written to places.",
                    "(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
                    "aten::index_copy(f32[4,3], 0, i64[2], f32[2,3])"},
                   {.shape = CopySlicesShape,
                    .fusion = Fusion::kOpaque,
                    .allocations = allocations::OutputsOnly,
                    .work = work::Move,
                    .grad = gradients::kIndexCopy,
                    .precision = precision::kFollow})),
    Written({"aten::masked_scatter_", "Elements written one after the other where a mask is true.",
             "(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)",
             "aten::masked_scatter_(f32[4,3], bool[4,3], f32[12])"},
            MaskedScatterShape, {MaskedScatterAllocations, MaskedScatterOnCuda}, kMask,
            gradients::kMaskedScatter),
    CopyingOut(
        Composite(Family::kIndexing,
                  {"aten::masked_scatter", "A copy with elements written where a mask is true.",
                   "(Tensor self, Tensor mask, Tensor source) -> Tensor",
                   "aten::masked_scatter(f32[4,3], bool[4,3], f32[12])"},
                  MaskedScatter, gradients::kMaskedScatter)),
    Written({"aten::put_", "Elements written to positions in the flattened tensor.",
             "(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)",
             "aten::put_(f32[4,3], i64[2], f32[2])"},
            cuda::Unordered<PutShape>, allocations::None, PutWork, gradients::kPut),
    CopyingOut(Composite(
        Family::kIndexing,
        {"aten::put", "A copy with elements written to positions in the flattened tensor.",
         "(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
         "aten::put(f32[4,3], i64[2], f32[2])"},
        Put, gradients::kPut)),
};

}  // namespace

std::span<const OpDef> Scatter() { return kRows; }

}  // namespace steelyard::ops
