// SPDX-License-Identifier: Apache-2.0
//
// The shape of the launch decides whether there is a buffer, and of how many bytes. It follows from
// the dimensions as TensorIterator leaves them: those that are reduced first, each part from small
// strides to large, and neighbours that lie densely behind each other joined. A tensor of more than
// 2 GiB is reduced in several launches.

#include "ops/cuda/reduce.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/copies.h"
#include "ops/rules/allocations.h"
#include "support/rounding.h"

namespace steelyard::cuda {
namespace {

constexpr std::int64_t kMostThreads = 512;  // of a block
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kLeastPerThread = 16, kMostPerThread = 256;
constexpr std::int64_t kLeastLoaded = 128;  // elements in a row, to be read several at once
constexpr std::int64_t kLoaded = 4;         // so many

// A dimension with its strides, in elements.
struct Dimension {
  std::int64_t size, of_output, of_input;
  bool reduced() const { return of_output == 0; }
};

// TensorIteratorBase::reorder_dimensions: whether `a` must lie outside `b`; 0: it is not known.
int CompareDimensions(const Dimension& a, const Dimension& b) {
  if (a.reduced() != b.reduced()) return b.reduced() ? 1 : -1;
  for (const auto stride : {&Dimension::of_output, &Dimension::of_input}) {
    if (a.*stride == 0 || b.*stride == 0) continue;
    if (a.*stride != b.*stride) return a.*stride < b.*stride ? -1 : 1;
    if (a.size > b.size) return 1;
  }
  return 0;
}

std::vector<Dimension> Ordered(Sizes sizes, Sizes strides, shape::DimSet set) {
  const Dims kept = shape::Without(sizes, set, shape::Reduced::kKeptAsOne);
  const Dims results = ContiguousStrides(kept);
  std::vector<Dimension> dims;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const int dim = static_cast<int>(i);
    dims.push_back({sizes[i], shape::Has(set, dim) ? 0 : results[dim], strides[i]});
  }
  for (std::size_t i = 1; i < dims.size(); ++i) {
    std::size_t last = i;
    for (std::size_t j = i; j-- > 0;) {
      const int order = CompareDimensions(dims[j], dims[last]);
      if (order > 0) {
        std::swap(dims[j], dims[last]);
        last = j;
      } else if (order < 0) {
        break;
      }
    }
  }
  return dims;
}

// TensorIteratorBase::coalesce_dimensions.
std::vector<Dimension> Joined(const std::vector<Dimension>& dims) {
  std::vector<Dimension> out;
  for (const Dimension& next : dims) {
    if (!out.empty()) {
      Dimension& last = out.back();
      if (last.size == 1) {
        last = next;
        continue;
      }
      if (next.size == 1) continue;
      if (last.size * last.of_output == next.of_output &&
          last.size * last.of_input == next.of_input) {
        last.size *= next.size;
        continue;
      }
    }
    out.push_back(next);
  }
  return out;
}

std::int64_t LastPower(std::int64_t n) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

// How many elements of the output a thread can compute at once.
std::int64_t OutputsAtOnce(const std::vector<Dimension>& dims, std::size_t first_kept) {
  std::int64_t width = 4;
  const auto fit = [&](std::int64_t n) {
    while (n % width != 0) width /= 2;
  };
  fit(dims[first_kept].size);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i != first_kept) fit(dims[i].of_input);
  }
  return width;
}

// What setReduceConfig decides.
struct Launch {
  std::int64_t staged = 0;      // elements of the buffer
  std::int64_t semaphores = 0;  // of int32
};

Launch LaunchOf(const std::vector<Dimension>& dims, std::int64_t outputs, std::int64_t inputs,
                const Target& target) {
  const auto reduced = static_cast<std::size_t>(std::ranges::count_if(dims, &Dimension::reduced));
  const bool along =
      dims.empty() || reduced == dims.size() || dims[0].of_input < dims[reduced].of_input;
  std::int64_t dim0 = dims.empty() ? 1 : along ? inputs : outputs;
  const std::int64_t dim1 = dims.empty() ? 1 : along ? outputs : inputs;
  std::int64_t at_once = 1;
  const std::int64_t fastest = dims.empty() ? 1 : dims[along ? 0 : reduced].of_input;
  if (!dims.empty() && fastest == 1) {
    if (along && dim0 >= kLeastLoaded && reduced == 1) {
      dim0 /= kLoaded;
    } else if (!along) {
      at_once = OutputsAtOnce(dims, reduced);
      dim0 /= at_once;
    }
  }
  const std::int64_t most = kMostThreads / at_once;
  const std::int64_t wide = dim0 < most ? LastPower(dim0) : most;
  const std::int64_t high = dim1 < most ? LastPower(dim1) : most;
  std::int64_t width = std::min(wide, kWarp);
  const std::int64_t height = std::min(high, most / width);
  width = std::min(wide, most / height);

  std::int64_t step_input = 1, step_output = 1;
  (along ? step_input : step_output) *= width;
  const auto per_thread = [&] { return DivideUp(inputs, step_input); };
  const bool across_warps = per_thread() >= std::min(height * kLeastPerThread, kMostPerThread);
  (across_warps ? step_input : step_output) *= height;

  const std::int64_t blocks_per_processor = target.multiprocessor_threads / (width * height);
  const std::int64_t fitting = target.multiprocessors * blocks_per_processor;
  const std::int64_t grid = DivideUp(outputs / at_once, step_output);
  if (!across_warps || per_thread() < kMostPerThread || grid > fitting) return {};
  const std::int64_t shares =
      std::max(std::min(DivideUp(fitting, grid), DivideUp(per_thread(), kLeastPerThread)),
               DivideUp(per_thread(), kMostPerThread));
  if (shares <= 1) return {};
  return {.staged = outputs * shares * (along ? 1 : width * at_once), .semaphores = grid};
}

std::int64_t ElementsOf(const std::vector<Dimension>& dims) {
  std::int64_t elements = 1;
  for (const Dimension& dim : dims) elements *= dim.size;
  return elements;
}
std::int64_t OutputsOf(const std::vector<Dimension>& dims) {
  std::int64_t outputs = 1;
  for (const Dimension& dim : dims) outputs *= dim.reduced() ? 1 : dim.size;
  return outputs;
}

// A launch counts elements, and bytes from the first one, in 32 bits
// (TensorIteratorBase::can_use_32bit_indexing).
bool IsOneLaunch(const std::vector<Dimension>& dims, std::int64_t width) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (ElementsOf(dims) > kMost) return false;
  std::int64_t last = 1;
  for (const Dimension& dim : dims) last += (dim.size - 1) * dim.of_input * width;
  return last <= kMost;
}

// Takes the first half of the longest dimension out of a part (SplitUntil32Bit).
std::vector<Dimension> SplitOff(std::vector<Dimension>& dims) {
  std::size_t longest = dims.size() - 1;
  const auto extent = [&](std::size_t i) {
    return (dims[i].size - 1) * std::max(dims[i].of_input, dims[i].of_output);
  };
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (extent(i) > extent(longest)) longest = i;
  }
  std::vector<Dimension> first = dims;
  first[longest].size /= 2;
  dims[longest].size -= first[longest].size;
  return first;
}

}  // namespace

Accumulator SumOf(DType dtype) {
  constexpr int kLeast = 32;  // bits
  return {.bytes = std::max(BitsOf(dtype), kLeast) / 8, .fits_result = BitsOf(dtype) >= kLeast};
}

void Stage(const OpView& op, const Layout& layout, DType dtype, shape::DimSet set,
           const Accumulator& accumulator, Allocations& memory) {
  std::vector<std::vector<Dimension>> parts{Joined(Ordered(layout.sizes, layout.strides, set))};
  if (ElementsOf(parts[0]) == 0) return;
  const std::int64_t width = std::max(BitsOf(dtype) / 8, 1);
  std::optional<Allocations::Scratch> kept;
  if (!accumulator.fits_result && !IsOneLaunch(parts[0], width)) {
    kept = memory.Allocate(OutputsOf(parts[0]) * accumulator.bytes);
  }
  constexpr int kMostLaunches = 1 << 16;  // of 2^31 elements each: nobody waits for more
  for (int launches = 0; !parts.empty(); ++launches) {
    if (launches == kMostLaunches) Refuse("more elements than are ever reduced");
    while (!IsOneLaunch(parts.back(), width)) parts.push_back(SplitOff(parts.back()));
    const std::vector<Dimension>& part = parts.back();
    const std::int64_t outputs = OutputsOf(part);
    const Launch launch = LaunchOf(part, outputs, ElementsOf(part) / outputs, op.target());
    parts.pop_back();
    if (launch.staged == 0) continue;
    const Allocations::Scratch staged = memory.Allocate(launch.staged * accumulator.bytes);
    const Allocations::Scratch semaphores = memory.Allocate(launch.semaphores * 4);
    memory.Free(semaphores);
    memory.Free(staged);
  }
  if (kept) memory.Free(*kept);
}

void StageLimits(const OpView& op, const TensorView& of, Allocations& memory) {
  // A thread keeps both.
  const Accumulator both{.bytes = 2 * allocations::Bytes(1, of.dtype()), .fits_result = false};
  const auto dense = Contiguous(of, memory);
  const Dims strides = ContiguousStrides(of.sizes());
  Stage(op, {of.sizes(), strides}, of.dtype(), ~shape::DimSet{0}, both, memory);
  allocations::Free(dense, memory);
}

}  // namespace steelyard::cuda
