// SPDX-License-Identifier: Apache-2.0
//
// Finding the elements that are not zero on CUDA (ATen/native/cuda/Nonzero.cu): they are counted,
// the host reads how many there are, and their positions are written into room for so many.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/op_def.h"

namespace steelyard::cuda {

// Where the elements are looked for: a tensor, or what one is expanded to.
struct Searched {
  Count elements;
  int rank = 1;
  std::int64_t copied = 0;  // bytes of a dense copy, where it does not lie so
};
Searched SearchedIn(const TensorView& tensor);

// What is taken until the room is there, and after it.
struct Search {
  std::optional<Allocations::Scratch> copy;
  Allocations::Scratch number = 0;
};
Search BeginSearch(const Searched& in, const Target& target, Allocations& memory);
void EndSearch(const Search& search, const Searched& in, const Target& target, Allocations& memory);

}  // namespace steelyard::cuda
