// SPDX-License-Identifier: Apache-2.0
//
// The least, the largest, the middle, the k-th and the most frequent elements
// (ATen/native/Sorting.cpp, ReduceOps.cpp, TensorCompare.cpp).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/layout.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/determinism.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/sort.h"
#include "ops/gradients/indexing.h"
#include "ops/gradients/reduction.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

void RequireElements(const OpView& op, const Dims& left) {
  const bool any = op.self().count() > 0 || work::Elements(left) == Count(0);
  if (!any) Refuse("there is no element to choose in " + shape::Text(op.self()));
}

// The copy in which the kernel looks for the middle of each row, of the tensor with the dimension
// moved to the end; where it is of size 1, that lies densely if the tensor does.
void MedianOfDimAllocations(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  if (self.count() == 0 || self.rank() == 0) return;
  if (self.stride(dim) <= 1 || (self.size(dim) == 1 && self.is_contiguous())) return;
  memory.Free(memory.Allocate(allocations::Bytes(self.count(), self.dtype()), "aten::empty"));
}

void LeastAndLargestShape(const OpView& op, Outputs& out) {
  Dims left;
  if (op.given(1)) {
    left = shape::ReducedSizes(op, 1, 2);
    const int dim = op.dim(1, op.self().rank());
    if (op.self().rank() > 0 && op.self().size(dim) == 0) {
      Refuse("there is no element to choose in " + shape::Text(op.self()));
    }
  } else {
    if (op.boolean(2)) left = Dims::Filled(op.self().rank(), 1);
    if (op.self().count() == 0)
      Refuse("there is no element to choose in " + shape::Text(op.self()));
  }
  if (IsComplex(op.self().dtype())) Refuse("complex numbers have no order");
  out.Add(op.self().dtype(), left);
  out.Add(op.self().dtype(), left);
}
// Over all dimensions the operand is made contiguous.
void LeastAndLargestAllocations(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  if (!op.given(1)) allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}

void LeastAndLargestOnCuda(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  if (!op.given(1)) return cuda::StageLimits(op, self, memory);
  // A thread keeps both.
  cuda::Stage(op, self, shape::DimSet{1} << op.dim(1, self.rank()),
              {.bytes = 2 * allocations::Bytes(1, self.dtype()), .fits_result = false}, memory);
}

void RunningBestShape(const OpView& op, Outputs& out) {
  op.dim(1, op.self().rank());
  if (IsComplex(op.self().dtype())) Refuse("complex numbers have no order");
  out.Add(op.self().dtype(), op.self().sizes());
  out.Add(DType::kInt64, op.self().sizes());
}

void MedianOfDimShape(const OpView& op, Outputs& out) {
  const Dims left = shape::ReducedSizes(op, 1, 2);
  const TensorView self = op.self();
  if (IsComplex(self.dtype()) || self.dtype() == DType::kBool) {
    Refuse("no median of " + shape::Text(self));
  }
  if (self.rank() > 0 && self.size(op.dim(1, self.rank())) == 0) RequireElements(op, Dims{1});
  out.Add(self.dtype(), left);
  out.Add(DType::kInt64, left);
}
// The k-th smallest of each row and the most frequent one.
void KthShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int dim = op.dim(2, self.rank());
  const std::int64_t size = self.rank() > 0 ? self.size(dim) : 1;
  if (op.integer(1) < 1 || op.integer(1) > size) Refuse("there is no element of that rank");
  if (IsComplex(self.dtype()) || self.dtype() == DType::kBool) {
    Refuse("no order of " + shape::Text(self));
  }
  out.Add(self.dtype(), shape::ReducedSizes(op, 2, 3));
  out.Add(DType::kInt64, shape::ReducedSizes(op, 2, 3));
}
// In copies of the elements and of where they stand.
void KthAllocations(const OpView& op, Allocations& memory) {
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  if (self.rank() == 0 || self.count() == 0) return;
  const auto values =
      memory.Allocate(allocations::Bytes(self.count(), self.dtype()), "aten::empty");
  const auto places =
      memory.Allocate(allocations::Bytes(self.count(), DType::kInt64), "aten::empty");
  memory.Free(places);
  memory.Free(values);
}
void ModeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() > 0 && self.size(op.dim(1, self.rank())) == 0) {
    Refuse("there is no element to choose in " + shape::Text(self));
  }
  if (IsComplex(self.dtype())) Refuse("no order of " + shape::Text(self));
  out.Add(self.dtype(), shape::ReducedSizes(op, 1, 2));
  out.Add(DType::kInt64, shape::ReducedSizes(op, 1, 2));
}
// A number is the result itself: it is resized, and filled with it.
void ModeAllocations(const OpView& op, Allocations& memory) {
  if (op.self().rank() > 0) return allocations::OutputsOnly(op, memory);
  memory.Output(0, "aten::resize_");
  memory.Output(1, "aten::resize_");
}

// The most frequent element of a row is found in a dense copy: by a block of threads in a short
// row, by putting a long one in order, for which the copy is the kernel's own
// (cuda/TensorModeKernel.cpp). How many different elements it then counts, only the data tell.
void ModeOnCuda(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kShort = 2048;
  allocations::OutputsOnly(op, memory);
  const TensorView self = op.self();
  if (self.rank() == 0 || self.count() == 0) return;
  const int dim = op.dim(1, self.rank());
  const std::int64_t size = self.size(dim);
  if (size == 1) return;
  Dims sizes(self.sizes()), strides(self.strides());
  std::swap(sizes[dim], sizes[self.rank() - 1]);
  std::swap(strides[dim], strides[self.rank() - 1]);
  if (size > kShort || !IsContiguous(sizes, strides)) {
    memory.Free(memory.Allocate(allocations::Bytes(self.count(), self.dtype()), "aten::empty"));
  }
}

// A copy in which the elements are put in order.
void MedianShape(const OpView& op, Outputs& out) {
  const bool is_bool = op.self().dtype() == DType::kBool && op.target().device == Device::kCpu;
  if (IsComplex(op.self().dtype()) || is_bool) {
    Refuse("no median of " + shape::Text(op.self()));
  }
  out.Add(op.self().dtype(), Dims());
}
void MedianAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  const Dims strides = EmptyLikeStrides(self.sizes(), self.strides());
  const auto copy =
      memory.Allocate(StorageBytes(self.dtype(), self.sizes(), strides), "aten::empty_strided");
  memory.Output(0, "aten::empty");
  memory.Free(copy);
}

// cuda/Sorting.cpp: all are sorted, and the middle is picked with what tells whether there is one.
void PickMiddle(const OpView& /*op*/, Allocations& memory) {
  const auto missing = memory.Allocate(1, "aten::isnan");
  memory.Output(0, "aten::where");
  memory.Free(missing);
}
// Those that are no numbers are last and are counted; half of what is left is a float32.
void PickMiddleOfNumbers(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kCountBytes = 8;
  const std::int64_t count = op.self().count();
  const auto missing = memory.Allocate(count, "aten::isnan");
  const auto sum = memory.Allocate(kCountBytes, "aten::sum");
  const auto wide = memory.Allocate(count * kCountBytes, "aten::empty_strided");
  const Dims sizes{count}, strides{1};
  cuda::Stage(op, {sizes, strides}, DType::kInt64, shape::DimSet{1}, cuda::SumOf(DType::kInt64),
              memory);
  memory.Free(wide);
  const auto last = memory.Allocate(kCountBytes, "aten::rsub");
  const auto half = memory.Allocate(BitsOf(DType::kFloat32) / 8, "aten::div");
  const auto place = memory.Allocate(kCountBytes, "aten::empty_strided");
  for (const auto& scratch : {half, last, sum, missing}) memory.Free(scratch);
  memory.Output(0, "aten::index");
  memory.Free(place);
}

template <AllocationsFn kPick>
void MedianOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  const std::int64_t count = self.count();
  if (count == 0) return memory.Output(0, "aten::full");
  const Dims sizes{count}, strides{1};
  const auto strided = ViewStrides(self.sizes(), self.strides(), sizes);
  const auto flat = strided ? std::nullopt : cuda::Contiguous(self, memory);
  const auto sorted = memory.Allocate(allocations::Bytes(count, self.dtype()), "aten::sort");
  const auto places = memory.Allocate(allocations::Bytes(count, DType::kInt64), "aten::sort");
  cuda::SortRows(op, {sizes, strided.value_or(strides)}, self.dtype(), 0, memory);
  memory.Free(places);
  allocations::Free(flat, memory);
  kPick(op, memory);
  memory.Free(sorted);
}

constexpr OpDef Chosen(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, ShapeFn shape, DeviceAllocations allocations,
                       Gradient grad) {
  return Kernel(Family::kReduction, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, work::PerInput<PerElement{.compare = 1}>,
                 grad, precision::kFollow});
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Chosen("aten::aminmax", "The smallest and the largest elements.",
           "(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
           "aten::aminmax(f32[2,8], dim=1)", LeastAndLargestShape,
           {LeastAndLargestAllocations, LeastAndLargestOnCuda}, gradients::kAminmax),
    Chosen("aten::cummax", "The largest of all elements up to each, and where it stands.",
           "(Tensor self, int dim) -> (Tensor values, Tensor indices)", "aten::cummax(f32[2,8], 1)",
           RunningBestShape, {allocations::Via<"aten::empty">, cuda::OutputsThenCopies<0>},
           gradients::kCummax),
    Chosen("aten::cummin", "The smallest of all elements up to each, and where it stands.",
           "(Tensor self, int dim) -> (Tensor values, Tensor indices)", "aten::cummin(f32[2,8], 1)",
           RunningBestShape, {allocations::Via<"aten::empty">, cuda::OutputsThenCopies<0>},
           gradients::kCummin),
    CopyingOut(Chosen("aten::median", "The middle of all elements.", "(Tensor self) -> Tensor",
                      "aten::median(f32[2,8])", MedianShape,
                      {MedianAllocations, MedianOnCuda<PickMiddle>}, gradients::kMedianAll)),
    Chosen("aten::median.dim", "The middle elements of a dimension, and where they stand.",
           "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
           "aten::median.dim(f32[2,8], 1)", cuda::Unordered<MedianOfDimShape>,
           {MedianOfDimAllocations, cuda::CopiesThenOutputs<0>}, gradients::kMedianDim),
    CopyingOut(Chosen("aten::nanmedian", "The middle of all elements that are numbers.",
                      "(Tensor self) -> Tensor", "aten::nanmedian(f32[2,8])", MedianShape,
                      {MedianAllocations, MedianOnCuda<PickMiddleOfNumbers>},
                      gradients::kNanMedianAll)),
    Chosen("aten::nanmedian.dim", "The middle of a dimension's numbers, and where they stand.",
           "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
           "aten::nanmedian.dim(f32[2,8], 1)", cuda::Unordered<MedianOfDimShape>,
           {MedianOfDimAllocations, cuda::CopiesThenOutputs<0>}, gradients::kNanMedianDim),
    Chosen("aten::kthvalue", "The k-th smallest elements of a dimension, and where they stand.",
           "(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
           "indices)",
           "aten::kthvalue(f32[2,8], 3)", KthShape, {KthAllocations, cuda::CopiesThenOutputs<0>},
           gradients::kKthvalue),
    Chosen("aten::mode", "The most frequent elements of a dimension, and where they stand.",
           "(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
           "aten::mode(f32[2,8])", ModeShape, {ModeAllocations, ModeOnCuda}, gradients::kMode),
};

}  // namespace

std::span<const OpDef> OrderStatistics() { return kRows; }

}  // namespace steelyard::ops
