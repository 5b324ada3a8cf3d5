// SPDX-License-Identifier: Apache-2.0
//
// Where values would stand in sorted sequences, and between which boundaries they lie
// (ATen/native/Bucketization.cpp). Values and sequence are made dense and of one dtype, and
// searched in binary steps.

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "ops/cuda/copies.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

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

std::optional<Allocations::Scratch> Dense(const OpView& op, const TensorView& tensor,
                                          Allocations& memory) {
  if (op.target().device == Device::kCuda) return cuda::Contiguous(tensor, memory);
  return allocations::Contiguous(tensor, memory);
}

// Both in one dtype, values before boundaries as they are trimmed (searchsorted_maybe_trim_...).
template <int kValues, int kSorted>
void SearchAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView values = op.tensor(kValues), sorted = op.tensor(kSorted);
  if (values.count() == 0) return;
  auto values_copy = Dense(op, values, memory);
  auto sorted_copy = Dense(op, sorted, memory);
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
  const auto copy = Dense(op, sorted, memory);
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

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Found(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work) {
  return OpaqueKernel(Family::kSelection, words, shape, {allocations, allocations}, work,
                      kNoGradient);
}

constexpr std::array kRows{
    Found({"aten::searchsorted.Tensor", "Where values would stand in a sorted sequence.",
           "(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
           "side=None, Tensor? sorter=None) -> Tensor",
           "aten::searchsorted.Tensor(f32[5], f32[2,3])"},
          SearchShape, SearchAllocations<1, 0>, SearchWork<0>),
    Found({"aten::searchsorted.Scalar", "Where a number would stand in a sorted sequence.",
           "(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? "
           "side=None, Tensor? sorter=None) -> Tensor",
           "aten::searchsorted.Scalar(f32[5], 3)"},
          SearchNumberShape<1, 0>, SearchNumberAllocations<1, 0>, SearchWork<0>),
    Found({"aten::bucketize.Tensor", "Between which boundaries values lie.",
           "(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
           "aten::bucketize.Tensor(f32[2,3], f32[5])"},
          BucketShape, SearchAllocations<0, 1>, SearchWork<1>),
    CopyingOut(Found(
        {"aten::bucketize.Scalar", "Between which boundaries a number lies.",
         "(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
         "aten::bucketize.Scalar(3, f32[5])"},
        SearchNumberShape<0, 1>, SearchNumberAllocations<0, 1>, SearchWork<1>)),
};

}  // namespace

std::span<const OpDef> SearchSorted() { return kRows; }

}  // namespace steelyard::ops
