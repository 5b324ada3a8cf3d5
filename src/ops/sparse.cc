// SPDX-License-Identifier: Apache-2.0
//
// Kernels on the parts of sparse tensors: indices [dims, n], which say where values [n, ...] stand
// in a tensor that is zero elsewhere (ATen/native/sparse/SparseTensorMath.cpp). What calls them is
// gradients/sparse.cc.

#include <array>

#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// The tensor has no memory of its own: its parts have, which it keeps.
void CooShape(const OpView& op, Outputs& out) {
  const Dims sizes = op.ints(2);
  out.Add(op.tensor(1).dtype(), sizes, Dims::Filled(sizes.size(), 0));
}

// indices, values, and those of the other. At most all of both are there.
void SumShape(const OpView& op, Outputs& out) {
  const TensorView indices = op.tensor(0), values = op.tensor(1);
  shape::RequireRank("the indices", indices, 2);
  const std::int64_t count = indices.size(1) + op.tensor(2).size(1);
  out.Add(DType::kInt64, Dims{indices.size(0), count});
  Dims sizes(values.sizes());
  sizes[0] = count;
  out.Add(values.dtype(), sizes);
}

template <int kValues>
Work AddWork(const OpView& op) {
  return {.alu = 2 * Count(op.tensor(kValues).count())};
}

// Only what the values stand for is looked at.
Traffic AddTraffic(const OpView& op) {
  const Count values = traffic::Bytes(op.tensor(2));
  return {.read = values + values + traffic::Bytes(op.tensor(1)), .written = values};
}

constexpr OpDef Part(const Words& words, ShapeFn shape, AllocationsFn allocations, WorkFn work,
                     Alias alias = Alias::kNone, TrafficFn traffic = traffic::ReadAllWriteAll) {
  return Kernel(Family::kIndexing, words,
                {shape, Fusion::kOpaque, allocations, work, kNoGradient, precision::kFollow}, alias,
                traffic);
}

constexpr std::array kRows{
    Kernel(
        Family::kControl,
        {"steelyard::sparse_coo", "A sparse tensor, of its indices and values.",
         "(Tensor indices, Tensor values, SymInt[] size) -> Tensor", ""},
        {CooShape, Fusion::kOpaque, allocations::None, work::None, kNoGradient, precision::kFollow},
        Alias::kNone, traffic::None),
    Kernel(Family::kControl,
           {"steelyard::set_sparse_", "Gives a sparse tensor other indices and values.",
            "(Tensor(a!) self, Tensor indices, Tensor values) -> Tensor(a!)", ""},
           {shape::SameAs<0>, Fusion::kOpaque, allocations::None, work::None, kNoGradient,
            precision::kFollow},
           Alias::kInPlace, traffic::None),
    Part({"steelyard::sparse_sum", "The parts of the sum of two sparse tensors.",
          "(Tensor indices, Tensor values, Tensor other_indices, Tensor other_values, SymInt[] "
          "size) -> (Tensor, Tensor)",
          "steelyard::sparse_sum(i64[1,3], f32[3,4], i64[1,5], f32[5,4], [20,4])"},
         SumShape, allocations::Via<"aten::empty">, AddWork<3>),
    Part({"steelyard::dense_plus_sparse", "The sum of a dense and a sparse tensor.",
          "(Tensor self, Tensor indices, Tensor values) -> Tensor",
          "steelyard::dense_plus_sparse(f32[20,4], i64[1,5], f32[5,4])"},
         shape::SameAs<0>, allocations::Via<"aten::resize_">, AddWork<2>),
    Part({"steelyard::add_sparse_", "Adds a sparse tensor to a dense one.",
          "(Tensor(a!) self, Tensor indices, Tensor values, Scalar alpha=1) -> Tensor(a!)",
          "steelyard::add_sparse_(f32[20,4], i64[1,5], f32[5,4], 0.5)"},
         shape::SameAs<0>, allocations::None, AddWork<2>, Alias::kInPlace, AddTraffic),
};

}  // namespace

std::span<const OpDef> Sparse() { return kRows; }

}  // namespace steelyard::ops
