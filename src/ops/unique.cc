// SPDX-License-Identifier: Apache-2.0
//
// Distinct elements, runs of equal ones, and distinct rows (ATen/native/Unique.cpp). How many there
// are only the data tell: rows take all elements to be distinct where the file says nothing else.

#include <fmt/core.h>

#include <array>
#include <optional>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/words.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// How many of `most` there are by the file, in dimension `dim` of the first result.
std::int64_t CountOf(Dispatcher& d, const OpView& op, int dim, std::int64_t most) {
  const std::optional<std::int64_t> count = d.SizeInFile(0, dim);
  if (!count) {
    d.Note(fmt::format("{} is weighed as if all were distinct", op.def().name->text()));
  }
  if (count.value_or(0) > most) Contradict(fmt::format("{} distinct of {}", *count, most));
  return count.value_or(most);
}

// The first of a list that has room for all.
Tensor First(Dispatcher& d, const Tensor& all, std::int64_t count) {
  if (all.size(0) <= count) return all;
  return d.Call("aten::narrow", all, 0, 0, count);
}

// --- unique_consecutive(self, return_inverse, return_counts, dim) -------------------------------

void RunsShape(const OpView& op, Outputs& out) {
  const std::int64_t count = op.self().count();
  out.Add(op.self().dtype(), Dims{count});
  out.Add(DType::kInt64, op.boolean(1) ? Dims(op.self().sizes()) : Dims{0});
  out.Add(DType::kInt64, Dims{op.boolean(2) ? count : 0});
}
void RunsAllocations(const OpView& op, Allocations& memory) {
  const auto copy = allocations::Contiguous(op.self(), memory);
  memory.Output(0, "aten::empty");
  memory.Output(1, "aten::resize_");
  memory.Output(2, "aten::resize_");
  allocations::Free(copy, memory);
}

// --- unique_dim(self, dim, sorted, return_inverse, return_counts) -------------------------------

void OrderedShape(const OpView& op, Outputs& out) { out.Add(op.self().dtype(), op.self().sizes()); }

// self, count, rows, inverse, counts, in_order: the distinct ones; the operands that follow are
// those of which they are, and where it is written where each went and how many became one
void DistinctShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the rows", op.self(), 2);
  const std::int64_t count = op.integer(1);
  if (count < 0 || count > op.self().size(0)) Refuse("that many distinct rows");
  out.Add(op.self().dtype(), Dims{count, op.self().size(1)});
}

enum class Rows { kAsTheyAre, kInOrder };

// Rows along a dimension, in order or as they are; where each went, and how many became one, are
// told in any case.
std::vector<Tensor> DistinctRows(Dispatcher& d, const OpView& op, int dim, Rows order) {
  const Tensor self = d.tensor(op, 0);
  if (self.count() == 0) Refuse("distinct rows of no elements are not modelled");
  const std::int64_t rows = self.size(dim), columns = self.count() / rows;
  const std::int64_t count = CountOf(d, op, dim, rows);
  const Tensor moved = d.Call("aten::movedim.int", self, dim, 0);
  const Dims sizes(moved.sizes());
  Tensor flat = d.Call("aten::contiguous", moved);
  flat = d.Call("aten::view", flat, Dims{rows, columns});
  Tensor sorted;
  if (order == Rows::kInOrder) sorted = d.Call("steelyard::rows_in_order", flat);
  const Tensor inverse = d.Call("aten::empty.memory_format", Dims{rows}, DType::kInt64);
  const Tensor counts = d.Call("aten::zeros", Dims{rows}, DType::kInt64);
  const Tensor distinct = d.Call("steelyard::distinct_rows", sorted.defined() ? sorted : flat,
                                 count, flat, inverse, counts, order == Rows::kInOrder);
  Dims found(sizes);
  found[0] = count;
  const Tensor out = d.Call("aten::movedim.int", d.Call("aten::view", distinct, found), 0, dim);
  return {out, inverse, First(d, counts, count)};
}

std::vector<Tensor> UniqueConsecutive(Dispatcher& d, const OpView& op) {
  const bool vector = op.self().rank() == 1 && op.given(3) && op.integer(3) == 0;
  if (op.given(3) && op.self().rank() > 0 && !vector) {
    return DistinctRows(d, op, op.dim(3, op.self().rank()), Rows::kAsTheyAre);
  }
  const std::int64_t count = CountOf(d, op, 0, op.self().count());
  const std::vector<Tensor> runs =
      d.CallMany("steelyard::runs", op.arg(0), op.arg(1), op.arg(2), count);
  return {First(d, runs[0], count), runs[1], First(d, runs[2], count)};
}

std::vector<Tensor> UniqueDim(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 0) Refuse("a number has no rows");
  return DistinctRows(d, op, op.dim(1, op.self().rank()), Rows::kInOrder);
}

// --- _unique, _unique2(self, sorted, return_inverse[, return_counts]) ---------------------------

constexpr int kInverse = 2;
constexpr int kCounts = 3;

// As many as there are values of the dtype, where those are few.
std::int64_t MostDistinct(const TensorView& self) {
  constexpr std::int64_t kBools = 2, kBytes = 256;
  if (self.dtype() == DType::kBool) return std::min(self.count(), kBools);
  if (BitsOf(self.dtype()) == 8) return std::min(self.count(), kBytes);
  return self.count();
}

// What is not asked for is given empty.
template <bool kWithCounts>
void UniqueShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const std::int64_t distinct = out.FromData(0, 0, MostDistinct(self));
  out.Add(self.dtype(), Dims{distinct});
  out.Add(DType::kInt64, op.boolean(kInverse) ? Dims(self.sizes()) : Dims{0});
  if (kWithCounts) out.Add(DType::kInt64, Dims{op.boolean(kCounts) ? distinct : 0});
}

// Elements are sorted, and where runs of equal ones begin is noted to be counted; booleans are
// counted at once.
template <bool kWithCounts>
void UniqueAllocations(const OpView& op, Allocations& memory) {
  constexpr std::string_view kResize = "aten::resize_";
  const TensorView self = op.self();
  const bool counts = kWithCounts && op.boolean(kCounts) && self.count() > 0;
  if (self.dtype() == DType::kBool) {
    memory.Output(0, kResize);
    if (kWithCounts) memory.Output(2, kResize);
    memory.Output(1, kResize);
    return;
  }
  const auto copy = allocations::Contiguous(self, memory);
  const std::int64_t positions = allocations::Bytes(self.count(), DType::kInt64);
  const Allocations::Scratch values =
      memory.Allocate(allocations::Bytes(self.count(), self.dtype()), "aten::sort");
  const Allocations::Scratch order = memory.Allocate(positions, "aten::sort");
  memory.Free(memory.Allocate(positions, kResize), "aten::sort");
  memory.Output(0, kResize);
  memory.Output(1, kResize);
  std::optional<Allocations::Scratch> begins;
  if (kWithCounts) memory.Output(2, kResize);
  if (counts) {
    const Count ends = Count(op.output().count()) + 1;
    begins = memory.Allocate(allocations::Bytes(ends, DType::kInt64), kResize);
  }
  memory.Free(values);
  memory.Free(order);
  allocations::Free(begins, memory);
  allocations::Free(copy, memory);
}

Work UniqueWork(const OpView& op) {
  const Count elements = work::Elements(op.self());
  return {.compare = elements, .move = elements};
}

// --- Rows ---------------------------------------------------------------------------------------

// Whether each element differs from the one before.
constexpr WorkFn kCompared = work::PerInput<work::PerElement{.compare = 1}>;
// Sorting compares each row with some log2(rows) others.
Work OrderWork(const OpView& op) {
  std::int64_t rounds = 1;
  for (std::int64_t rows = op.self().size(0); rows > 2; rows /= 2) ++rounds;
  return {.compare = work::Elements(op.self()) * rounds};
}

constexpr OpDef Inside(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work) {
  return OpaqueKernel(Family::kIndexing, words, shape, allocations, work, kNoGradient);
}

constexpr std::array kRows{
    CopyingOut(OpaqueKernel(
        Family::kIndexing,
        {"aten::_unique2", "Distinct elements, where each stands among them, and how often.",
         "(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
         "-> (Tensor, Tensor, Tensor)",
         "aten::_unique2(i64[1], True, True, True)"},
        UniqueShape<true>, UniqueAllocations<true>, UniqueWork, gradients::kNotImplemented)),
    CopyingOut(OpaqueKernel(
        Family::kIndexing,
        {"aten::_unique", "Distinct elements, and where each stands among them.",
         "(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
         "aten::_unique(i64[1], True, True)"},
        UniqueShape<false>, UniqueAllocations<false>, UniqueWork, gradients::kNotImplemented)),
    CopyingOut(Composite(
        "aten::unique_consecutive",
        "One of each run of equal elements, where each stands among them, and how often.",
        "(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) "
        "-> (Tensor, Tensor, Tensor)",
        "aten::unique_consecutive(i64[1], True, True)", Family::kIndexing, UniqueConsecutive,
        precision::kFollow, gradients::kNotImplemented)),
    CopyingOut(
        Composite("aten::unique_dim",
                  "Distinct rows along a dimension, where each stands among them, and how often.",
                  "(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
                  "return_counts=False) -> (Tensor, Tensor, Tensor)",
                  "aten::unique_dim(i64[1,3], 0, True, True, True)", Family::kIndexing, UniqueDim,
                  precision::kFollow, gradients::kNotImplemented)),
    Inside({"steelyard::runs", "Room for one of each run of equal elements, and how it is filled.",
            "(Tensor self, bool return_inverse, bool return_counts, int count) -> (Tensor, Tensor, "
            "Tensor)",
            "steelyard::runs(i64[4], True, True, 4)"},
           RunsShape, RunsAllocations, kCompared),
    Inside({"steelyard::rows_in_order", "Rows of a matrix in order.", "(Tensor self) -> Tensor",
            "steelyard::rows_in_order(i64[4,3])"},
           OrderedShape, allocations::Via<"aten::index_select">, OrderWork),
    Inside(
        {"steelyard::distinct_rows", "One of each run of equal rows.",
         "(Tensor self, int count, Tensor rows, Tensor inverse, Tensor counts, bool in_order) -> "
         "Tensor",
         "steelyard::distinct_rows(i64[4,3], 2, i64[4,3], i64[4], i64[4], True)"},
        DistinctShape, allocations::Via<"aten::cat">, kCompared),
};

}  // namespace

std::span<const OpDef> Unique() { return kRows; }

}  // namespace steelyard::ops
