// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/nonzero.h"

#include "ops/cuda/cub.h"
#include "ops/rules/allocations.h"
#include "ops/rules/work.h"

namespace steelyard::cuda {
namespace {

constexpr std::int64_t kNumberBytes = 4;

void Use(std::int64_t bytes, Allocations& memory) { memory.Free(memory.Allocate(bytes)); }

}  // namespace

Searched SearchedIn(const TensorView& tensor) {
  const Count elements = work::Elements(tensor);
  return {.elements = elements,
          .rank = tensor.rank(),
          .copied = tensor.is_contiguous() ? 0 : allocations::Bytes(elements, tensor.dtype())};
}

Search BeginSearch(const Searched& in, const Target& target, Allocations& memory) {
  Search search;
  if (in.copied > 0) search.copy = memory.Allocate(in.copied);
  search.number = memory.Allocate(kNumberBytes);
  Use(SumBytes(in.elements.value(), target), memory);
  return search;
}

void EndSearch(const Search& search, const Searched& in, const Target& target,
               Allocations& memory) {
  if (in.rank > 0) Use(SelectBytes(in.elements.value(), target), memory);
  memory.Free(search.number);
  allocations::Free(search.copy, memory);
}

}  // namespace steelyard::cuda
