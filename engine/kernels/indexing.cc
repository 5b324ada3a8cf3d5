// SPDX-License-Identifier: Apache-2.0
//
// Reductions by index: a mean is a sum, which is divided in a step of its own. Elements that are
// found, and counted.

#include <ATen/SparseTensorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_segment_reduce_backward.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/add.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/count_nonzero.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/index_reduce.h>
#include <ATen/ops/isin.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/unique_consecutive.h>
#include <ATen/ops/unique_dim.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "kernels/kernels.h"
#include "kernels/operands_taken.h"

namespace steelyard::engine {
namespace {

constexpr char kMean[] = "mean";

// self, dim, index, source, reduce
struct Reduced {
  explicit Reduced(Taken& taken)
      : self(taken.Tensor()),
        dim(taken.Integer()),
        index(taken.Tensor()),
        source(taken.Tensor()),
        reduce(taken.Text()) {}
  at::Tensor self;
  std::int64_t dim;
  at::Tensor index, source;
  std::string reduce;
};

void IndexReduced(Stack* stack) {
  Taken taken(stack);
  Reduced of(taken);
  stack->emplace_back(of.reduce == kMean
                          ? of.self.index_add_(of.dim, of.index, of.source)
                          : of.self.index_reduce_(of.dim, of.index, of.source, of.reduce));
}

void IndexReducedAndCounted(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  at::Tensor counts = taken.Tensor();
  const at::Tensor index = taken.Tensor();
  const at::Tensor source = taken.Tensor();
  const std::string reduce = taken.Text();
  counts.index_add_(0, index, at::ones_like(source));
  stack->emplace_back(reduce == kMean ? self.index_add_(0, index, source)
                                      : self.index_reduce_(0, index, source, reduce));
}

void ScatterReduced(Stack* stack) {
  Taken taken(stack);
  Reduced of(taken);
  stack->emplace_back(
      of.self.scatter_reduce_(of.dim, of.index, of.source, of.reduce == kMean ? "sum" : of.reduce));
}

void RowsReduced(Stack* stack) {
  Taken taken(stack);
  Reduced of(taken);
  stack->emplace_back(
      of.self.scatter_reduce_(of.dim, of.index, of.source, of.reduce, taken.Bool()));
}

struct Segments {
  explicit Segments(Taken& taken)
      : reduce(taken.Text()), borders(taken.Tensor()), are_offsets(taken.Bool()) {}
  std::int64_t axis() const { return borders.dim() - 1; }
  std::optional<at::Tensor> lengths() const { return Given(!are_offsets); }
  std::optional<at::Tensor> offsets() const { return Given(are_offsets); }

  std::string reduce;
  at::Tensor borders;
  bool are_offsets;

 private:
  std::optional<at::Tensor> Given(bool given) const {
    return given ? std::optional(borders) : std::nullopt;
  }
};

void ReduceSegments(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const at::Tensor data = taken.Tensor();
  const Segments of(taken);
  constexpr bool kUnsafe = true;  // lengths are checked in steps of their own
  stack->emplace_back(
      self.copy_(at::segment_reduce(data, of.reduce, of.lengths(), std::nullopt, of.offsets(),
                                    of.axis(), kUnsafe, taken.OptionalNumber())));
}

void SpreadSegments(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const at::Tensor grad = taken.Tensor();
  const at::Tensor output = taken.Tensor();
  const at::Tensor data = taken.Tensor();
  const Segments of(taken);
  stack->emplace_back(
      self.copy_(at::_segment_reduce_backward(grad, output, data, of.reduce, of.lengths(),
                                              of.offsets(), of.axis(), taken.OptionalNumber())));
}

void FoundAmong(Stack* stack) {
  Taken taken(stack);
  const at::Tensor elements = taken.Tensor();
  const at::Tensor others = taken.Tensor();
  stack->emplace_back(at::isin(elements, others, /*assume_unique=*/false, taken.Bool()));
}

void RoomForFound(Stack* stack) {
  const at::Tensor elements = Taken(stack).Tensor();
  stack->emplace_back(at::empty_like(elements, elements.options().dtype(at::kBool)));
}

void CountNonzero(Stack* stack) {
  stack->emplace_back(at::count_nonzero(Taken(stack).Tensor(), at::IntArrayRef()));
}

// There may be a number for which the program, made before there were any, has no bin.
void CountInto(Stack* stack) {
  Taken taken(stack);
  at::Tensor bins = taken.Tensor();
  const at::Tensor numbers = taken.Tensor();
  const at::Tensor counts = at::bincount(numbers, taken.Optional(), bins.size(0));
  TORCH_CHECK_VALUE(counts.sizes() == bins.sizes(), "the numbers need ", counts.size(0),
                    " bins and the program has ", bins.size(0));
  stack->emplace_back(bins.copy_(counts));
}

// How many there are is known only now, and the program is made for so many.
void RequireCount(const at::Tensor& distinct, std::int64_t count) {
  TORCH_CHECK_VALUE(distinct.size(0) == count, "of the data ", distinct.size(0),
                    " are distinct, and the program is made for ", count);
}

// Room for all of which the first are told.
at::Tensor WithRoom(const at::Tensor& first, std::int64_t size) {
  at::Tensor room = at::empty({size}, first.options());
  room.narrow(0, 0, first.size(0)).copy_(first);
  return room;
}

void Runs(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const bool with_inverse = taken.Bool();
  const bool with_counts = taken.Bool();
  auto [distinct, inverse, counts] = at::unique_consecutive(self, with_inverse, with_counts);
  RequireCount(distinct, taken.Integer());
  stack->emplace_back(WithRoom(distinct, self.numel()));
  stack->emplace_back(std::move(inverse));
  stack->emplace_back(with_counts ? WithRoom(counts, self.numel()) : std::move(counts));
}

// `distinct_rows` puts them in order, and drops those that are equal, at once.
void RowsInOrder(Stack* stack) { stack->emplace_back(Taken(stack).Tensor().clone()); }

void DistinctRows(Stack* stack) {
  Taken taken(stack);
  taken.Tensor();
  const std::int64_t count = taken.Integer();
  const at::Tensor rows = taken.Tensor();
  const at::Tensor inverse = taken.Tensor();
  const at::Tensor counts = taken.Tensor();
  const auto [distinct, places, times] = taken.Bool() ? at::unique_dim(rows, 0, true, true, true)
                                                      : at::unique_consecutive(rows, true, true, 0);
  RequireCount(distinct, count);
  inverse.copy_(places);
  counts.narrow(0, 0, count).copy_(times);
  stack->emplace_back(distinct);
}

at::Tensor Sparse(Taken& taken, at::IntArrayRef sizes) {
  const at::Tensor indices = taken.Tensor();
  const at::Tensor values = taken.Tensor();
  return at::_sparse_coo_tensor_unsafe(indices, values, sizes);
}

void SparseCoo(Stack* stack) {
  Taken taken(stack);
  const at::Tensor indices = taken.Tensor();
  const at::Tensor values = taken.Tensor();
  stack->emplace_back(at::_sparse_coo_tensor_unsafe(indices, values, taken.Integers()));
}

void SetSparse(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  const at::Tensor indices = taken.Tensor();
  static_cast<at::SparseTensorImpl*>(self.unsafeGetTensorImpl())
      ->set_indices_and_values_unsafe(indices, taken.Tensor());
  stack->emplace_back(self);
}

// Equal neighbours are joined: there may be fewer than the program has room for.
void SparseSum(Stack* stack) {
  Taken taken(stack);
  const at::Tensor indices = taken.Tensor();
  const at::Tensor values = taken.Tensor();
  const at::Tensor other_indices = taken.Tensor();
  const at::Tensor other_values = taken.Tensor();
  const Sizes sizes = taken.Integers();
  const at::Tensor sum = at::add(at::_sparse_coo_tensor_unsafe(indices, values, sizes),
                                 at::_sparse_coo_tensor_unsafe(other_indices, other_values, sizes));
  stack->emplace_back(sum._indices());
  stack->emplace_back(sum._values());
}

void DensePlusSparse(Stack* stack) {
  Taken taken(stack);
  const at::Tensor self = taken.Tensor();
  stack->emplace_back(at::add(self, Sparse(taken, self.sizes())));
}

void AddSparse(Stack* stack) {
  Taken taken(stack);
  at::Tensor self = taken.Tensor();
  const at::Tensor other = Sparse(taken, self.sizes());
  stack->emplace_back(self.add_(other, taken.Number()));
}

constexpr std::array kRows{
    KernelRow{"steelyard::add_sparse_", AddSparse},
    KernelRow{"steelyard::count_into", CountInto},
    KernelRow{"steelyard::count_nonzero", CountNonzero},
    KernelRow{"steelyard::dense_plus_sparse", DensePlusSparse},
    KernelRow{"steelyard::distinct_rows", DistinctRows},
    KernelRow{"steelyard::found_among", FoundAmong},
    KernelRow{"steelyard::index_reduced", IndexReduced},
    KernelRow{"steelyard::index_reduced_and_counted", IndexReducedAndCounted},
    KernelRow{"steelyard::reduce_segments_", ReduceSegments},
    KernelRow{"steelyard::room_for_found", RoomForFound},
    KernelRow{"steelyard::rows_in_order", RowsInOrder},
    KernelRow{"steelyard::rows_reduced", RowsReduced},
    KernelRow{"steelyard::runs", Runs},
    KernelRow{"steelyard::scatter_reduced", ScatterReduced},
    KernelRow{"steelyard::set_sparse_", SetSparse},
    KernelRow{"steelyard::sparse_coo", SparseCoo},
    KernelRow{"steelyard::sparse_sum", SparseSum},
    KernelRow{"steelyard::spread_segments_", SpreadSegments},
};

}  // namespace

std::span<const KernelRow> IndexingKernels() { return kRows; }

}  // namespace steelyard::engine
