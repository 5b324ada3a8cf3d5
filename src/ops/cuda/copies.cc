// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/copies.h"

#include <vector>

#include "ir/layout.h"
#include "ops/rules/allocations.h"
#include "ops/rules/work.h"

namespace steelyard::cuda {

std::optional<Allocations::Scratch> Contiguous(const TensorView& tensor, Allocations& memory) {
  if (tensor.is_contiguous()) return std::nullopt;
  return memory.Allocate(allocations::Bytes(work::Elements(tensor), tensor.dtype()), "aten::empty");
}

namespace {

using Copies = std::vector<std::optional<Allocations::Scratch>>;

void FreeLastFirst(const Copies& copies, Allocations& memory) {
  for (std::size_t i = copies.size(); i-- > 0;) allocations::Free(copies[i], memory);
}

}  // namespace

void AllocateDense(const OpView& op, First first, std::span<const int> operands,
                   Allocations& memory) {
  if (first == First::kOutputs) allocations::OutputsOnly(op, memory);
  Copies copies;
  for (const int i : operands) {
    if (op.given(i)) copies.push_back(Contiguous(op.tensor(i), memory));
  }
  if (first == First::kCopies) allocations::OutputsOnly(op, memory);
  FreeLastFirst(copies, memory);
}

void AllocateImages(const OpView& op, std::int64_t least, Allocations& memory) {
  const TensorView image = op.self(), result = op.output();
  memory.Output(0);
  const bool last = IsChannelsLast(image.sizes(), image.strides());
  if (last && image.rank() == 4 && image.size(1) >= least) {
    if (IsContiguousChannelsLast(image.sizes(), image.strides())) return;
    memory.Free(memory.Allocate(image.bytes(), "aten::empty"));
    return;
  }
  Copies copies{Contiguous(result, memory)};
  copies.push_back(Contiguous(image, memory));
  FreeLastFirst(copies, memory);
}

}  // namespace steelyard::cuda
