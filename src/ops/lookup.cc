// SPDX-License-Identifier: Apache-2.0
//
// Where values stand: searching in sorted sequences, one-hot vectors, and numbers that leave the
// tensors (ATen/native/Bucketization.cpp, Onehot.cpp).

#include <fmt/core.h>

#include <array>
#include <bit>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- embedding_renorm_(self, indices, max_norm, norm_type) ---------------------------------------

// The norm of one row after the other (ATen/native/Embedding.cpp).
void RenormAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), indices = op.tensor(1);
  shape::RequireRank("the table", self, 2);
  if (op.real(2) < 0) Refuse("rows of a negative norm");
  const auto dense = allocations::Contiguous(indices, memory);
  if (indices.count() > 0) {
    memory.Free(memory.Allocate(allocations::Bytes(1, RealOf(self.dtype())), "aten::norm"));
  }
  allocations::Free(dense, memory);
}
Work RenormWork(const OpView& op) {
  return {.alu = 2 * Count(op.tensor(1).count()) * op.self().size(1),
          .special = op.tensor(1).count()};
}

// --- searchsorted(sorted_sequence, self, ...), bucketize(self, boundaries, ...) -----------------

void AddPlaces(const TensorView& values, const TensorView& sorted, bool narrow, Outputs& out) {
  if (sorted.rank() != 1) {
    if (sorted.rank() != values.rank() || sorted.rank() == 0) {
      Refuse(fmt::format("{} cannot be searched in {}", shape::Text(values), shape::Text(sorted)));
    }
    for (int i = 0; i + 1 < sorted.rank(); ++i) {
      shape::RequireEqual("sizes of sequences and values", sorted.size(i), values.size(i));
    }
  }
  if (IsComplex(values.dtype()) || IsComplex(sorted.dtype()))
    Refuse("complex numbers have no order");
  out.Add(narrow ? DType::kInt32 : DType::kInt64, values.sizes());
}
void SearchShape(const OpView& op, Outputs& out) {
  if (op.given(5)) Refuse("searching by a sorter is not modelled");
  AddPlaces(op.tensor(1), op.tensor(0), op.boolean(2), out);
}
void BucketShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the boundaries", op.tensor(1), 1);
  AddPlaces(op.tensor(0), op.tensor(1), op.boolean(2), out);
}

// Both in one dtype, values before boundaries as they are trimmed (searchsorted_maybe_trim_...).
template <int kValues, int kSorted>
void SearchAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView values = op.tensor(kValues), sorted = op.tensor(kSorted);
  if (values.count() == 0) return;
  auto values_copy = allocations::Contiguous(values, memory);
  auto sorted_copy = allocations::Contiguous(sorted, memory);
  const std::array<TensorView, 2> pair{sorted, values};
  const DType common = ResultType(pair);
  // A cast takes the place of the contiguous copy.
  const auto cast = [&](const TensorView& t, std::optional<Allocations::Scratch>& copy) {
    if (values.dtype() == sorted.dtype() || t.dtype() == common) return;
    const auto wide = memory.Allocate(allocations::Bytes(t.count(), common), "aten::empty_strided");
    allocations::Free(copy, memory);
    copy = wide;
  };
  cast(sorted, sorted_copy);
  cast(values, values_copy);
  allocations::Free(sorted_copy, memory);
  allocations::Free(values_copy, memory);
}

// One number, which becomes a tensor.
template <int kNumber, int kSorted>
void SearchNumberShape(const OpView& op, Outputs& out) {
  const TensorView sorted = op.tensor(kSorted);
  shape::RequireRank("the boundaries", sorted, 1);
  if (kSorted == 0 && op.given(5)) Refuse("searching by a sorter is not modelled");
  if (IsComplex(sorted.dtype()) || IsComplex(BoxedType(op.arg(kNumber))))
    Refuse("complex numbers have no order");
  out.Add(op.boolean(2) ? DType::kInt32 : DType::kInt64, Dims());
}
template <int kNumber, int kSorted>
void SearchNumberAllocations(const OpView& op, Allocations& memory) {
  const TensorView sorted = op.tensor(kSorted);
  const DType common = ResultType(sorted, {op.arg(kNumber)});
  const auto box = memory.Allocate(allocations::BoxBytes(op.arg(kNumber)));
  memory.Output(0);
  const auto copy = allocations::Contiguous(sorted, memory);
  if (sorted.dtype() != common) {
    const auto wide =
        memory.Allocate(allocations::Bytes(sorted.count(), common), "aten::empty_strided");
    allocations::Free(copy, memory);
    memory.Free(wide);
  } else if (BoxedType(op.arg(kNumber)) != common) {
    const auto number = memory.Allocate(BitsOf(common) / 8, "aten::empty_strided");
    allocations::Free(copy, memory);
    memory.Free(number);
  } else {
    allocations::Free(copy, memory);
  }
  memory.Free(box);
}

template <int kSorted>
Work SearchWork(const OpView& op) {
  const TensorView sorted = op.tensor(kSorted);
  const auto size = static_cast<std::uint64_t>(sorted.rank() > 0 ? sorted.size(-1) : 1);
  return {.compare =
              work::Elements(op.output()) * (static_cast<std::int64_t>(std::bit_width(size)) + 1)};
}

// --- one_hot(self, num_classes) ------------------------------------------------------------------

std::vector<Tensor> OneHot(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.dtype() != DType::kInt64) Refuse("classes are int64, not " + shape::Text(self));
  const std::int64_t classes = op.integer(1, -1);
  if (classes < 1) Refuse("the number of classes must be given", "It depends on values otherwise.");
  if (self.rank() >= Dims::kMaxRank) Refuse("too many dimensions");
  Dims sizes(self.sizes());
  sizes.push_back(classes);
  if (self.count() == 0) return {d.Call("aten::empty.memory_format", sizes, DType::kInt64)};
  if (d.target().device == Device::kCpu) {  // elsewhere they are not looked at
    std::vector<Tensor> limits = d.CallMany("aten::aminmax", d.tensor(op, 0));
    limits[1].reset();
    limits[0].reset();
  }
  const Tensor out = d.Call("aten::zeros", sizes, DType::kInt64);
  const Tensor places = d.Call("aten::unsqueeze", d.tensor(op, 0), -1);
  return {d.Call("aten::scatter_.value", out, -1, places, 1)};
}

// --- Numbers that leave the tensors --------------------------------------------------------------

void NoResult(const OpView&, Outputs&) {}

std::vector<Tensor> IsAllTrue(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() != DType::kBool) Refuse("truth is bool, not " + shape::Text(op.self()));
  return {d.Call("aten::all", d.tensor(op, 0))};
}
std::vector<Tensor> IsAnyTrue(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() != DType::kBool) Refuse("truth is bool, not " + shape::Text(op.self()));
  return {d.Call("aten::any", d.tensor(op, 0))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Found(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work) {
  return OpaqueKernel(Family::kSelection, words, shape, allocations, work, kNoGradient);
}
constexpr OpDef Call(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kSelection, words, decompose, kNoGradient);
}
constexpr OpDef Bookkeeping(const Words& words) {
  return Kernel(Family::kBookkeeping, words,
                {.shape = NoResult,
                 .fusion = Fusion::kOpaque,
                 .allocations = allocations::None,
                 .work = work::None,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::None);
}

constexpr std::array kRows{
    OpaqueKernel(
        Family::kIndexing,
        {"aten::embedding_renorm_", "Rows of a table, scaled to norms of at most a number.",
         "(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> "
         "Tensor(a!)",
         "aten::embedding_renorm_(f32[20,8], i64[5], 1.0, 2.0)"},
        shape::SameAs<0>, RenormAllocations, RenormWork, gradients::kNotImplemented,
        precision::kFollow, Alias::kInPlace),
    Found({"aten::searchsorted.Tensor", "Where values would stand in a sorted sequence.",
           "(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
           "side=None, Tensor? sorter=None) -> Tensor",
           "aten::searchsorted.Tensor(f32[5], f32[2,3])"},
          SearchShape, SearchAllocations<1, 0>, SearchWork<0>),
    Found({"aten::bucketize.Tensor", "Between which boundaries values lie.",
           "(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
           "aten::bucketize.Tensor(f32[2,3], f32[5])"},
          BucketShape, SearchAllocations<0, 1>, SearchWork<1>),
    Found({"aten::searchsorted.Scalar", "Where a number would stand in a sorted sequence.",
           "(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? "
           "side=None, Tensor? sorter=None) -> Tensor",
           "aten::searchsorted.Scalar(f32[5], 3)"},
          SearchNumberShape<1, 0>, SearchNumberAllocations<1, 0>, SearchWork<0>),
    Found({"aten::bucketize.Scalar", "Between which boundaries a number lies.",
           "(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
           "aten::bucketize.Scalar(3, f32[5])"},
          SearchNumberShape<0, 1>, SearchNumberAllocations<0, 1>, SearchWork<1>),
    Call({"aten::one_hot", "A 1 at the place of each class.",
          "(Tensor self, int num_classes=-1) -> Tensor", "aten::one_hot(i64[2,4], 5)"},
         OneHot),
    Call({"aten::_is_all_true", "Whether all are true.", "(Tensor self) -> Tensor",
          "aten::_is_all_true(bool[8])"},
         IsAllTrue),
    Call({"aten::_is_any_true", "Whether one is true.", "(Tensor self) -> Tensor",
          "aten::_is_any_true(bool[8])"},
         IsAnyTrue),
    Bookkeeping(
        {"aten::item", "The number in a tensor.", "(Tensor self) -> Scalar", "aten::item(f32[1])"}),
    Bookkeeping({"aten::_local_scalar_dense", "The number in a tensor.", "(Tensor self) -> Scalar",
                 "aten::_local_scalar_dense(f32[])"}),
    Bookkeeping({"aten::sym_size.int", "A size of a tensor.", "(Tensor self, int dim) -> SymInt",
                 "aten::sym_size.int(f32[2], 0)"}),
    Bookkeeping({"aten::sym_stride.int", "A stride of a tensor.",
                 "(Tensor self, int dim) -> SymInt", "aten::sym_stride.int(f32[2], 0)"}),
    Bookkeeping({"aten::sym_storage_offset", "Where in its storage a tensor begins.",
                 "(Tensor self) -> SymInt", "aten::sym_storage_offset(f32[2])"}),
    Bookkeeping({"aten::sym_is_contiguous", "Whether a tensor lies in a memory format.",
                 "(Tensor self, MemoryFormat memory_format=0) -> SymBool",
                 "aten::sym_is_contiguous(f32[2])"}),
    Bookkeeping({"aten::sym_numel", "The number of elements.", "(Tensor self) -> SymInt",
                 "aten::sym_numel(f32[2])"}),
    Bookkeeping({"aten::_assert_async.msg", "Checks a condition.",
                 "(Tensor self, str assert_msg) -> ()", "aten::_assert_async.msg(bool[], 'no')"}),
};

}  // namespace

std::span<const OpDef> Lookup() { return kRows; }

}  // namespace steelyard::ops
