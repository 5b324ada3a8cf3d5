// SPDX-License-Identifier: Apache-2.0
//
// The rules follow PyTorch 2.15: c10/core/Contiguity.h and MemoryFormat.h (contiguous, channels
// last, dense), ATen/TensorIterator.cpp (outputs it allocates), ATen/ExpandUtils.cpp (broadcasting,
// strides of empty_like) and ATen/TensorUtils.cpp (views).
#include "ir/layout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "support/checked.h"

namespace steelyard {
namespace {

std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b) {
  return CheckedMul(a, b).value_or(INT64_MAX);
}

// Dimensions of a channels-last layout, innermost first; empty where there is none of that rank.
std::span<const int> ChannelsLastOrder(std::size_t rank) {
  static constexpr std::array kOrder2d = {1, 3, 2, 0};
  static constexpr std::array kOrder3d = {1, 4, 3, 2, 0};
  if (rank == kOrder2d.size()) return kOrder2d;
  if (rank == kOrder3d.size()) return kOrder3d;
  return {};
}

std::size_t At(int i) { return static_cast<std::size_t>(i); }

bool Equal(Sizes a, Sizes b) { return std::ranges::equal(a, b); }

bool IsEmpty(Sizes sizes) { return std::ranges::find(sizes, 0) != sizes.end(); }

// A permutation of the dimensions, innermost first.
struct Order {
  std::array<int, Dims::kMaxRank> dims;
  int count;
};

// PyTorch's insertion sort of the dimensions from innermost to outermost, whose `compare` may say
// "ambiguous" (0). It is not a strict order, so the very sequence of swaps matters.
template <class Compare>
Order SortDimensions(int rank, Compare compare) {
  Order order{{}, rank};
  for (int i = 0; i < rank; ++i) order.dims[At(i)] = rank - 1 - i;
  for (int i = 1; i < rank; ++i) {
    int at = i;
    for (int k = i - 1; k >= 0; --k) {
      const int c = compare(order.dims[At(k)], order.dims[At(at)]);
      if (c < 0) break;
      if (c == 0) continue;
      std::swap(order.dims[At(k)], order.dims[At(at)]);
      at = k;
    }
  }
  return order;
}

bool IsRowMajor(const Order& order) {
  for (int i = 0; i < order.count; ++i) {
    if (order.dims[At(i)] != order.count - 1 - i) return false;
  }
  return true;
}

// The layout that all operands of one shape share, if they do.
std::optional<Dims> SharedStrides(Sizes shape, std::span<const Layout> operands) {
  if (operands.empty()) return std::nullopt;
  bool contiguous = true;
  bool channels_last = true;
  bool dense = true;
  for (const Layout& o : operands) {
    if (!Equal(o.sizes, shape)) return std::nullopt;
    contiguous = contiguous && IsContiguous(o.sizes, o.strides);
    // TensorIterator knows the two-dimensional format only.
    channels_last =
        channels_last && o.sizes.size() == 4 && IsContiguousChannelsLast(o.sizes, o.strides);
    dense = dense && Equal(o.strides, operands[0].strides) &&
            IsNonOverlappingAndDense(o.sizes, o.strides);
  }
  if (contiguous) return ContiguousStrides(shape);
  if (channels_last) return ChannelsLastStrides(shape);
  if (dense) return Dims(operands[0].strides);
  return std::nullopt;
}

// Stride of an operand in a dimension of the common shape: 0 where it is broadcast.
std::int64_t BroadcastStride(const Layout& o, Sizes shape, int dim) {
  const int own = dim - static_cast<int>(shape.size()) + static_cast<int>(o.sizes.size());
  if (own < 0 || (o.sizes[At(own)] == 1 && shape[At(dim)] != 1)) return 0;
  return o.strides[At(own)];
}

}  // namespace

std::optional<std::int64_t> NumElements(Sizes sizes) {
  CheckedInt count = 1;
  bool negative = false, empty = false;
  for (const std::int64_t s : sizes) {
    negative |= s < 0;
    empty |= s == 0;
    count *= s;
  }
  if (negative) return std::nullopt;
  return empty ? 0 : count.Get();
}

Dims ContiguousStrides(Sizes sizes) {
  Dims out = Dims::Filled(static_cast<int>(sizes.size()), 1);
  for (int i = out.size() - 2; i >= 0; --i) {
    out[i] = SaturatingMultiply(out[i + 1], std::max<std::int64_t>(sizes[At(i + 1)], 1));
  }
  return out;
}

bool IsContiguous(Sizes sizes, Sizes strides) {
  if (IsEmpty(sizes)) return true;
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected = SaturatingMultiply(expected, sizes[i]);
  }
  return true;
}

bool IsChannelsLast(Sizes sizes, Sizes strides) {
  const std::span<const int> order = ChannelsLastOrder(sizes.size());
  if (order.empty() || strides[1] == 0) return false;
  std::int64_t least = 0;
  for (int d : order) {
    const std::int64_t size = sizes[At(d)];
    const std::int64_t stride = strides[At(d)];
    if (size == 0 || stride < least) return false;
    // [N,1,1,1] with equal strides could be either; PyTorch takes it as row-major.
    if (d == 0 && least == strides[1]) return false;
    least = SaturatingMultiply(stride, std::max<std::int64_t>(size, 1));
  }
  return true;
}

bool IsContiguousChannelsLast(Sizes sizes, Sizes strides) {
  const std::span<const int> order = ChannelsLastOrder(sizes.size());
  if (order.empty()) return false;
  std::int64_t expected = 1;
  for (int d : order) {
    if (sizes[At(d)] == 1) continue;
    if (strides[At(d)] != expected) return false;
    expected = SaturatingMultiply(expected, sizes[At(d)]);
  }
  return true;
}

Dims ChannelsLastStrides(Sizes sizes) {
  Dims out = Dims::Filled(static_cast<int>(sizes.size()), 1);
  std::int64_t running = 1;
  for (int d : ChannelsLastOrder(sizes.size())) {
    out[d] = running;
    // No `max(size, 1)` as in ContiguousStrides: PyTorch gives an empty tensor zero strides here.
    running = SaturatingMultiply(running, sizes[At(d)]);
  }
  return out;
}

bool IsNonOverlappingAndDense(Sizes sizes, Sizes strides) {
  if (IsContiguous(sizes, strides)) return true;
  std::array<std::pair<std::int64_t, std::int64_t>, Dims::kMaxRank> by_stride;
  std::size_t count = 0;
  for (std::size_t i = 0; i < sizes.size() && count < by_stride.size(); ++i) {
    if (sizes[i] != 1) by_stride[count++] = {strides[i], sizes[i]};
  }
  std::sort(by_stride.begin(), by_stride.begin() + static_cast<std::ptrdiff_t>(count));
  std::int64_t expected = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (by_stride[i].first != expected) return false;
    expected = SaturatingMultiply(expected, by_stride[i].second);
  }
  return true;
}

Dims IteratorStrides(Sizes shape, std::span<const Layout> operands) {
  if (auto shared = SharedStrides(shape, operands)) return *shared;
  const auto compare = [&](int d0, int d1) {
    for (const Layout& o : operands) {
      const std::int64_t s0 = BroadcastStride(o, shape, d0);
      const std::int64_t s1 = BroadcastStride(o, shape, d1);
      if (s0 == 0 || s1 == 0) continue;
      if (s0 != s1) return s0 < s1 ? -1 : 1;
      if (shape[At(d0)] > shape[At(d1)]) return 1;
    }
    return 0;
  };
  const Order order = SortDimensions(static_cast<int>(shape.size()), compare);
  if (IsRowMajor(order)) return ContiguousStrides(shape);
  Dims out = Dims::Filled(order.count, 1);
  std::int64_t running = 1;
  for (int i = 0; i < order.count; ++i) {
    out[order.dims[At(i)]] = running;
    running = SaturatingMultiply(running, shape[At(order.dims[At(i)])]);
  }
  return out;
}

Dims EmptyLikeStrides(Sizes sizes, Sizes strides) {
  if (IsNonOverlappingAndDense(sizes, strides)) return Dims(strides);
  const auto compare = [&](int d0, int d1) {
    const std::int64_t s0 = strides[At(d0)];
    const std::int64_t s1 = strides[At(d1)];
    if (s0 == 0 || s1 == 0) return 0;
    if (s0 != s1) return s0 < s1 ? -1 : 1;
    return sizes[At(d0)] > sizes[At(d1)] ? 1 : 0;
  };
  const Order order = SortDimensions(static_cast<int>(sizes.size()), compare);
  Dims out = Dims::Filled(order.count, 1);
  std::int64_t running = 1;
  for (int i = 0; i < order.count; ++i) {
    const int d = order.dims[At(i)];
    out[d] = running;
    running = SaturatingMultiply(running, std::max<std::int64_t>(sizes[At(d)], 1));
  }
  return out;
}

std::optional<Dims> ViewStrides(Sizes sizes, Sizes strides, Sizes new_sizes) {
  if (sizes.empty()) return Dims::Filled(static_cast<int>(new_sizes.size()), 1);
  if (IsEmpty(sizes)) {
    return Equal(sizes, new_sizes) ? Dims(strides) : ContiguousStrides(new_sizes);
  }
  Dims out = Dims::Filled(static_cast<int>(new_sizes.size()), 0);
  int d = out.size() - 1;
  std::int64_t base = strides.back();
  std::int64_t old_count = 1;
  std::int64_t new_count = 1;
  // From the innermost dimension out: whenever a run of old dimensions that lie evenly ends, the
  // new dimensions must end there too.
  for (std::size_t i = sizes.size(); i-- > 0;) {
    old_count = SaturatingMultiply(old_count, sizes[i]);
    const bool run_goes_on =
        i > 0 && (sizes[i - 1] == 1 || strides[i - 1] == SaturatingMultiply(old_count, base));
    if (run_goes_on) continue;
    while (d >= 0 && (new_count < old_count || new_sizes[At(d)] == 1)) {
      out[d] = SaturatingMultiply(new_count, base);
      new_count = SaturatingMultiply(new_count, new_sizes[At(d)]);
      --d;
    }
    if (new_count != old_count) return std::nullopt;
    if (i == 0) break;
    base = strides[i - 1];
    old_count = new_count = 1;
  }
  if (d != -1) return std::nullopt;
  return out;
}

std::optional<Dims> InferSize(Sizes shape, std::int64_t count) {
  Dims out(shape);
  int unknown = -1;
  CheckedInt product = 1;
  for (int i = 0; i < out.size(); ++i) {
    if (out[i] == -1 && unknown < 0) {
      unknown = i;
    } else if (out[i] < 0) {
      return std::nullopt;
    } else {
      product *= out[i];
    }
  }
  // A shape with a zero has no elements even if its other sizes multiply to more than 2^63.
  const std::optional<std::int64_t> known = IsEmpty(out) ? 0 : product.Get();
  if (!known) return std::nullopt;
  if (unknown < 0) return *known == count ? std::optional(out) : std::nullopt;
  if (*known == 0 || count % *known != 0) return std::nullopt;
  out[unknown] = count / *known;
  return out;
}

std::optional<Dims> BroadcastShapes(std::span<const Sizes> shapes) {
  std::size_t rank = 0;
  for (Sizes s : shapes) rank = std::max(rank, s.size());
  Dims out = Dims::Filled(static_cast<int>(rank), 1);
  for (Sizes s : shapes) {
    const int shift = static_cast<int>(rank - s.size());
    for (int i = 0; i < static_cast<int>(s.size()); ++i) {
      std::int64_t& common = out[i + shift];
      if (s[At(i)] == 1 || s[At(i)] == common) continue;
      if (common != 1) return std::nullopt;
      common = s[At(i)];
    }
  }
  return out;
}

std::optional<Dims> BroadcastShapes(Sizes a, Sizes b) {
  const std::array shapes = {a, b};
  return BroadcastShapes(shapes);
}

}  // namespace steelyard
