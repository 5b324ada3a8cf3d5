// SPDX-License-Identifier: Apache-2.0
//
// The order of TensorIterator (aten/src/ATen/TensorIterator.cpp): `compute_types` casts, then the
// outputs are made; a buffer for an overwritten output is dropped by `cast_outputs`, the casts of
// the operands when the iterator's operands are destroyed, last first.

#include "ops/rules/allocations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "ir/layout.h"
#include "ops/rules/given.h"
#include "ops/rules/promote.h"
#include "ops/rules/work.h"

namespace steelyard::allocations {
namespace {

constexpr std::string_view kEmptyLabel = "aten::empty";
constexpr std::string_view kStridedLabel = "aten::empty_strided";

// copy_transpose_valid and its block in aten/src/ATen/native/Copy.cpp.
constexpr std::int64_t kBlockElements = std::int64_t{60} * 60;
constexpr std::int64_t kByteBlockElements = std::int64_t{120} * 120;  // of uint8

bool CopiesByBlocks(const TensorView& from, std::span<const std::int64_t> strides, DType dtype) {
  return from.rank() == 2 && from.stride(0) == 1 && from.stride(1) == from.size(0) &&
         from.dtype() == dtype && !from.is_contiguous() && IsContiguous(from.sizes(), strides) &&
         from.count() >= kBlockElements;
}

// The operands in a common dtype, as long as the kernel runs.
class Casts {
 public:
  Casts(const GivenTensors& operands, DType dtype, Allocations& memory) : count_(operands.size()) {
    std::size_t next = 0;
    for (const TensorView& operand : operands) scratches_[next++] = Cast(operand, dtype, memory);
  }
  void FreeLastFirst(Allocations& memory, std::string_view label = {}) const {
    for (std::size_t i = count_; i-- > 0;) Free(scratches_[i], memory, label);
  }

 private:
  std::array<std::optional<Allocations::Scratch>, GivenTensors::kMost> scratches_;
  std::size_t count_;
};

bool EmptyMakes(const TensorView& t) {
  // The strides themselves: those of dimensions of size 1 tell the order of the dimensions too.
  return std::ranges::equal(t.strides(),
                            std::span<const std::int64_t>(ContiguousStrides(t.sizes()))) ||
         (t.rank() == 4 && IsContiguousChannelsLast(t.sizes(), t.strides()));
}

void IterateLabelled(const OpView& op, Promotion promotion, std::span<const int> operands,
                     std::string_view label, Allocations& memory) {
  const GivenTensors given(op, operands);
  const Casts casts(given, shape::ComputeType(promotion, given), memory);
  memory.Output(0, label);
  casts.FreeLastFirst(memory);
}

}  // namespace

void None(const OpView&, Allocations&) {}

void OutputsOnly(const OpView& op, Allocations& memory) {
  for (int i = 0; i < op.output_count(); ++i) {
    if (op.output(i).defined()) memory.Output(i);
  }
}

void IterateOver(const OpView& op, Promotion promotion, std::span<const int> operands,
                 Allocations& memory) {
  IterateLabelled(op, promotion, operands, {}, memory);
}

void IterateByFactoryOver(const OpView& op, Promotion promotion, std::span<const int> operands,
                          Allocations& memory) {
  const bool plain = EmptyMakes(op.output());
  IterateLabelled(op, promotion, operands, plain ? kEmptyLabel : kStridedLabel, memory);
}

void OverwriteFrom(const OpView& op, Promotion promotion, std::span<const int> operands,
                   Allocations& memory, std::string_view label) {
  const GivenTensors given(op, operands);
  const DType common = shape::ComputeType(promotion, given);
  const bool buffered = op.self().dtype() != common;
  Allocations::Scratch buffer = 0;
  if (buffered) buffer = memory.Allocate(Bytes(op.self().count(), common), kEmptyLabel);
  const Casts casts(given, common, memory);
  if (buffered) memory.Free(buffer, label);
  casts.FreeLastFirst(memory, label);
}

std::int64_t Bytes(Count count, DType dtype) {
  const Count bits = count * BitsOf(dtype);
  if (bits.overflowed()) Contradict("a temporary is larger than 2^63 bits");
  return bits.value() / 8 + (bits.value() % 8 != 0);
}

std::int64_t BoxBytes(const Argument& number) { return BitsOf(BoxedType(number)) / 8; }

std::optional<Allocations::Scratch> Cast(const TensorView& tensor, DType dtype,
                                         Allocations& memory) {
  if (tensor.dtype() == dtype) return std::nullopt;
  const Dims strides = EmptyLikeStrides(tensor.sizes(), tensor.strides());
  return memory.Allocate(StorageBytes(dtype, tensor.sizes(), strides), kStridedLabel);
}

std::optional<Allocations::Scratch> Contiguous(const TensorView& tensor, Allocations& memory) {
  if (tensor.is_contiguous()) return std::nullopt;
  const Dims strides = ContiguousStrides(tensor.sizes());
  const Allocations::Scratch copy =
      memory.Allocate(StorageBytes(tensor.dtype(), tensor.sizes(), strides), kEmptyLabel);
  CopyBlock(tensor, strides, tensor.dtype(), memory);
  return copy;
}

void CopyBlock(const TensorView& from, std::span<const std::int64_t> strides, DType dtype,
               Allocations& memory) {
  if (!CopiesByBlocks(from, strides, dtype)) return;
  const std::int64_t elements = dtype == DType::kUInt8 ? kByteBlockElements : kBlockElements;
  memory.Free(memory.Allocate(Bytes(elements, dtype), kEmptyLabel), "aten::copy_");
}

void SumScratch(const TensorView& of, Count sums, Allocations& memory) {
  if (of.dtype() != DType::kBFloat16 && of.dtype() != DType::kFloat16) return;
  const Allocations::Scratch wide = memory.Allocate(Bytes(sums, DType::kFloat32), "aten::empty");
  memory.Free(memory.Allocate(Bytes(work::Elements(of), DType::kFloat32), "aten::empty_strided"),
              "aten::sum");
  memory.Free(wide, "aten::sum");
}

void Free(std::optional<Allocations::Scratch> scratch, Allocations& memory,
          std::string_view label) {
  if (scratch) memory.Free(*scratch, label);
}

}  // namespace steelyard::allocations
