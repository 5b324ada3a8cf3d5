// SPDX-License-Identifier: Apache-2.0
//
// Elements repeated: a whole tensor side by side, and each element some times in place, by one
// number for all or by a list of them (ATen/native/TensorShape.cpp, Repeat.cpp). How long the
// result of a list is, only the data tell.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- repeat, tile -------------------------------------------------------------------------------

void RepeatShape(const OpView& op, Outputs& out) {
  const Dims repeats = op.ints(1);
  const int lead = repeats.size() - op.self().rank();
  if (lead < 0)
    Refuse(
        fmt::format("{} repetitions are too few for {}", repeats.size(), shape::Text(op.self())));
  Dims sizes;
  for (int i = 0; i < repeats.size(); ++i) {
    const Count size = Count(i < lead ? 1 : op.self().size(i - lead)) * Count(repeats[i]);
    if (repeats[i] < 0 || size.overflowed())
      Refuse(fmt::format("{} repetitions of {}", repeats[i], shape::Text(op.self())));
    sizes.push_back(size.value());
  }
  out.Add(op.self().dtype(), sizes);
}

// The result, then the index arithmetic that orders its dimensions: arange(n), arange(n) + n (a
// boxed number), and both concatenated.
void RepeatAllocations(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kIndex = 8;  // bytes of an int64
  const std::int64_t n = op.output().rank();
  memory.Output(0, "aten::empty");
  const Dims repeats = op.ints(1);
  const bool none = std::ranges::find(repeats, 0) != repeats.end();
  if (n == 0 || none) return;
  const auto first = memory.Allocate(kIndex * n, "aten::resize_");
  const auto number = memory.Allocate(kIndex, "aten::add");
  const auto second = memory.Allocate(kIndex * n, "aten::add");
  memory.Free(number, "aten::add");
  const auto both = memory.Allocate(2 * kIndex * n, "aten::cat");
  for (const auto scratch : {first, second, both}) memory.Free(scratch);
}

std::vector<Tensor> Tile(Dispatcher& d, const OpView& op) {
  Dims times = op.ints(1);
  const int missing = op.self().rank() - times.size();
  if (missing > 0) {
    Dims padded = Dims::Filled(missing, 1);
    for (std::int64_t n : std::span<const std::int64_t>(times)) padded.push_back(n);
    times = padded;
  }
  return {d.Call("aten::repeat", d.tensor(op, 0), times)};
}

// --- repeat_interleave --------------------------------------------------------------------------

// repeat_interleave(self, repeats, dim, output_size) by one number.
std::vector<Tensor> RepeatInterleave(Dispatcher& d, const OpView& op) {
  Tensor input = op.given(2) ? d.tensor(op, 0) : d.Call("aten::flatten.using_ints", op.arg(0));
  const int dim = op.given(2) ? op.dim(2, input.rank()) : 0;
  const std::int64_t repeats = op.integer(1);
  if (repeats < 0) Refuse(fmt::format("{} repetitions", repeats));
  input = d.Call("aten::unsqueeze", input, dim + 1);
  Dims sizes(input.sizes());
  sizes[dim + 1] = repeats;
  input = d.Call("aten::expand", input, sizes);
  return {d.Call("aten::flatten.using_ints", d.Call("aten::clone", input, kContiguousFormat), dim,
                 dim + 1)};
}

void PositionsShape(const OpView& op, Outputs& out) {
  const TensorView repeats = op.self();
  shape::RequireRank("the repetitions", repeats, 1);
  if (repeats.dtype() != DType::kInt64 && repeats.dtype() != DType::kInt32) {
    Refuse("repetitions must be int64 or int32, not " + shape::Text(repeats));
  }
  const std::int64_t count = op.given(1) ? op.integer(1) : out.FromData(0, 0, std::nullopt);
  out.Add(repeats.dtype(), Dims{count});
}

// Where each element's copies end; without a size for the result, also the least of the
// repetitions, which must not be negative.
void PositionsAllocations(const OpView& op, Allocations& memory) {
  const TensorView repeats = op.self();
  if (repeats.count() == 0) return memory.Output(0, "aten::empty");
  const auto copy = allocations::Contiguous(repeats, memory);
  const std::int64_t bytes = allocations::Bytes(repeats.count(), DType::kInt64);
  const Allocations::Scratch ends = memory.Allocate(bytes, "aten::cumsum");
  if (repeats.dtype() != DType::kInt64) {
    memory.Free(memory.Allocate(bytes, "aten::empty_strided"), "aten::cumsum");
  }
  if (!op.given(1)) {
    const Allocations::Scratch least =
        memory.Allocate(allocations::Bytes(1, repeats.dtype()), "aten::empty");
    if (copy) memory.Free(memory.Allocate(repeats.bytes(), "aten::empty"), "aten::min");
    memory.Free(least);
  }
  memory.Output(0, "aten::empty");
  memory.Free(ends);
  allocations::Free(copy, memory);
}

void PositionsOnCuda(const OpView& op, Allocations& memory) {
  const TensorView repeats = op.self();
  if (repeats.count() == 0) return memory.Output(0, "aten::empty");
  const auto copy = cuda::Contiguous(repeats, memory);
  const std::int64_t bytes = allocations::Bytes(repeats.count(), DType::kInt64);
  const Allocations::Scratch ends = memory.Allocate(bytes, "aten::cumsum");
  const auto cast = allocations::Cast(repeats, DType::kInt64, memory);
  const auto dense = cast ? std::nullopt : cuda::Contiguous(repeats, memory);
  memory.Free(memory.Allocate(cuda::ScanBytes(repeats.count())));
  allocations::Free(dense, memory);
  allocations::Free(cast, memory);
  memory.Output(0, "aten::empty");
  memory.Free(ends);
  allocations::Free(copy, memory);
}

// repeat_interleave(self, repeats, dim, output_size): one number stands for all.
std::vector<Tensor> RepeatByList(Dispatcher& d, const OpView& op) {
  const Tensor input =
      op.given(2) ? d.tensor(op, 0) : d.Call("aten::flatten.using_ints", op.arg(0));
  const int dim = op.given(2) ? op.dim(2, input.rank()) : 0;
  Tensor repeats = d.tensor(op, 1);
  if (repeats.count() == 1 && repeats.rank() <= 1) {
    repeats = d.Call("aten::reshape", repeats, Dims{1});
    repeats = d.Call("aten::expand", repeats, Dims{input.size(dim)});
  }
  shape::RequireRank("the repetitions", repeats.view(), 1);
  shape::RequireEqual("numbers of elements and of repetitions", input.size(dim), repeats.count());
  const Dispatcher::WithSize size(d, d.SizeInFile(0, dim));
  return {d.Call("aten::index_select", input, dim,
                 d.Call("aten::repeat_interleave.Tensor", repeats, op.arg(3)))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    CopyingOut(
        Kernel(Family::kDataMovement,
               {"aten::repeat", "Copies side by side, along each dimension.",
                "(Tensor self, SymInt[] repeats) -> Tensor", "aten::repeat(f32[2,3], [4,1,2])"},
               {RepeatShape, Fusion::kInjective, RepeatAllocations, work::Move, gradients::kRepeat,
                precision::kFollow})),
    Composite(Family::kView,
              {"aten::tile", "Copies side by side.", "(Tensor self, SymInt[] dims) -> Tensor",
               "aten::tile(f32[2,3], [2])"},
              Tile),
    TakingBits(
        MathBits::kBoth,
        Composite(Family::kDataMovement,
                  {"aten::repeat_interleave.self_int",
                   "Each element of a dimension repeated a number of times in place.",
                   "(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> "
                   "Tensor",
                   "aten::repeat_interleave.self_int(f32[2,3,4], 5, 1)"},
                  RepeatInterleave)),
    TakingBits(MathBits::kBoth,
               CopyingOut(OpaqueKernel(
                   Family::kIndexing,
                   {"aten::repeat_interleave.Tensor", "Each position as often as a list says.",
                    "(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
                    "aten::repeat_interleave.Tensor(i64[4], output_size=4)"},
                   PositionsShape, DeviceAllocations{PositionsAllocations, PositionsOnCuda},
                   work::Move, kNoGradient))),
    TakingBits(
        MathBits::kBoth,
        Composite(
            "aten::repeat_interleave.self_Tensor",
            "Each element of a dimension repeated as often as a list says.",
            "(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
            "aten::repeat_interleave.self_Tensor(f32[4,6], i64[6], 1, output_size=6)",
            Family::kIndexing, RepeatByList, precision::kFollow)),
};

}  // namespace

std::span<const OpDef> Repeat() { return kRows; }

}  // namespace steelyard::ops
