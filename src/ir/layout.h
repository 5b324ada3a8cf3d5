// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's arithmetic of sizes and strides: what is contiguous, what a view or a fresh output
// gets. Pure functions on numbers; all strides are in elements.
//
//   Dims strides = ContiguousStrides(sizes);
//   if (auto view = ViewStrides(sizes, strides, new_sizes)) ...  // no copy needed
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "steelyard/tables.h"

namespace steelyard {

using Sizes = std::span<const std::int64_t>;

// Sizes and strides of one operand.
struct Layout {
  Sizes sizes;
  Sizes strides;
};

// The number of elements; nullopt when it does not fit or a size is negative.
std::optional<std::int64_t> NumElements(Sizes sizes);

// Strides of a row-major tensor. Strides that do not fit stop at INT64_MAX, which CheckLayout
// refuses.
Dims ContiguousStrides(Sizes sizes);
bool IsContiguous(Sizes sizes, Sizes strides);

// Whether PyTorch takes the strides to suggest channels-last (rank 4 or 5); ambiguous ones do not.
bool IsChannelsLast(Sizes sizes, Sizes strides);
// Whether the elements lie densely in channels-last order (rank 4 or 5).
bool IsContiguousChannelsLast(Sizes sizes, Sizes strides);
// Channels-last strides. Requires: rank 4 or 5.
Dims ChannelsLastStrides(Sizes sizes);

// Whether the elements fill a storage, in some order of the dimensions, each once.
bool IsNonOverlappingAndDense(Sizes sizes, Sizes strides);

// Strides of an output of `shape` that TensorIterator allocates for `operands`. Requires: the
// operands broadcast to `shape`.
Dims IteratorStrides(Sizes shape, std::span<const Layout> operands);

// Strides of `empty_like` and `clone` with the memory format preserved.
Dims EmptyLikeStrides(Sizes sizes, Sizes strides);

// Strides of a view with `new_sizes`; nullopt when it needs a copy. Requires: equal counts.
std::optional<Dims> ViewStrides(Sizes sizes, Sizes strides, Sizes new_sizes);

// `shape` with its one -1 replaced so that it has `count` elements; nullopt when it cannot have.
std::optional<Dims> InferSize(Sizes shape, std::int64_t count);

// The shape all operands broadcast to; nullopt when they do not.
std::optional<Dims> BroadcastShapes(std::span<const Sizes> shapes);
std::optional<Dims> BroadcastShapes(Sizes a, Sizes b);

}  // namespace steelyard
