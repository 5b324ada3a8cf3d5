// SPDX-License-Identifier: Apache-2.0
//
// Products of each group of rows with the matrix of its group, as mixtures of experts need them
// (ATen/native/GroupedMMUtils.h), whole or one mm per group. How many rows a group has, only the
// data tell; the work does not depend on it.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/layout.h"
#include "ops/cuda/blas.h"
#include "ops/gradients/linalg.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

// A group's rows of `self` (or columns of `mat2`, or part of the inner dimension) end at its
// offset; only the offsets' values, which no graph holds, say how many there are. Where both
// operands have three dimensions the groups are a batch.
void RequireGrouped(const TensorView& a, const TensorView& b, const TensorView& offsets) {
  if ((a.rank() != 2 && a.rank() != 3) || (b.rank() != 2 && b.rank() != 3)) {
    Refuse(fmt::format("grouped products of {} and {}", shape::Text(a), shape::Text(b)));
  }
  product::RequireInner(a, b);
  product::RequireSameDType(a, b);
  if (a.rank() == 3 && b.rank() == 3) {
    shape::RequireEqual("groups", a.size(0), b.size(0));
    return;
  }
  if (!offsets.defined()) Refuse("grouped products of a matrix need the offsets of the groups");
  shape::RequireRank("the offsets", offsets, 1);
  if (a.rank() == 3) shape::RequireEqual("groups", a.size(0), offsets.size(0));
  if (b.rank() == 3) shape::RequireEqual("groups", b.size(0), offsets.size(0));
}

Dims GroupedSizes(const TensorView& a, const TensorView& b, const TensorView& offsets) {
  RequireGrouped(a, b, offsets);
  if (a.rank() == 3 && b.rank() == 3) return {a.size(0), a.size(1), b.size(2)};
  if (a.rank() == 2 && b.rank() == 2) return {offsets.size(0), a.size(0), b.size(1)};
  return {a.size(-2), b.size(-1)};
}

// Rows of the result start at multiples of this (GroupedMMUtils.h, for TMA loads).
constexpr std::int64_t kRowAlignmentBits = std::int64_t{16} * 8;

Dims PaddedRows(const Dims& sizes, DType dtype) {
  const std::int64_t step = std::max<std::int64_t>(kRowAlignmentBits / BitsOf(dtype), 1);
  Dims padded = sizes;
  std::int64_t& row = padded[padded.size() - 1];
  if (row > INT64_MAX - step) Refuse(fmt::format("a row of {} elements", row));
  row = RoundUp(row, step);
  return padded;
}

void GroupedShape(const OpView& op, Outputs& out) {
  const Dims sizes = GroupedSizes(op.self(), op.tensor(1), op.tensor(2));
  const DType dtype = op.dtype(4).value_or(op.self().dtype());
  out.Add(dtype, sizes, ContiguousStrides(PaddedRows(sizes, dtype)));
}

// self, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype, use_fast_accum: each row of
// `self` and each column of `mat2` has a scale (ScaledGroupedBlas.cpp)
void RequireScaledFactor(std::string_view name, const TensorView& factor, int dense_dim) {
  if (factor.dtype() != DType::kFloat8E4M3)
    Refuse("float8_e4m3fn is needed, not " + shape::Text(factor));
  if (factor.rank() != 2 && factor.rank() != 3) Refuse("matrices or batches of them are needed");
  if (factor.stride(dense_dim) != 1) {
    Refuse(fmt::format("the {} factor {} does not lie {} by {}", name, shape::Text(factor),
                       dense_dim == -1 ? "row" : "column", dense_dim == -1 ? "row" : "column"));
  }
  constexpr std::int64_t kTile = 16;
  if (factor.size(-1) % kTile != 0 || factor.size(-2) % kTile != 0) {
    Refuse(
        fmt::format("sizes of the {} factor {} are no multiples of 16", name, shape::Text(factor)));
  }
}

void RequireScales(std::string_view name, const TensorView& scales, const TensorView& factor,
                   int dim, const TensorView& offsets) {
  if (scales.dtype() != DType::kFloat32) Refuse("scales are float32, not " + shape::Text(scales));
  const Dims wanted =
      factor.rank() == 3 ? Dims{factor.size(0), factor.size(dim)} : Dims{factor.size(dim)};
  Dims grouped = wanted;  // of two matrices each group has scales of its own
  if (factor.rank() == 2 && offsets.defined()) {
    const Count groups = Count(grouped[0]) * offsets.size(0);
    if (groups.overflowed()) Contradict("more than 2^63 scales");
    grouped[0] = groups.value();
  }
  const auto fits = [&](const Dims& sizes) {
    return std::ranges::equal(scales.sizes(), std::span<const std::int64_t>(sizes));
  };
  if (!fits(wanted) && !fits(grouped)) {
    Refuse(fmt::format("scales {} of the {} factor {}", shape::Text(scales), name,
                       shape::Text(factor)));
  }
}

void ScaledGroupedShape(const OpView& op, Outputs& out) {
  const TensorView a = op.self(), b = op.tensor(1), offsets = op.tensor(4);
  RequireScaledFactor("first", a, -1);
  RequireScaledFactor("second", b, -2);
  const Dims sizes = GroupedSizes(a, b, offsets);
  RequireScales("first", op.tensor(2), a, -2, offsets);
  RequireScales("second", op.tensor(3), b, -1, offsets);
  if (op.given(5)) Refuse("grouped products have no bias");
  if (op.dtype(7).value_or(DType::kBFloat16) != DType::kBFloat16) Refuse("the result is bfloat16");
  out.Add(DType::kBFloat16, sizes, ContiguousStrides(PaddedRows(sizes, DType::kBFloat16)));
}

// Every row is multiplied by the one matrix of its group: a mixture of experts does the work of the
// experts that were chosen. Rows behind the last offset are counted as if they belonged to a group.
Work GroupedWork(const OpView& op) {
  const TensorView a = op.self(), b = op.tensor(1);
  const Count batch = a.rank() == 3 && b.rank() == 3 ? a.size(0) : 1;
  return {.mac = batch * a.size(-2) * a.size(-1) * b.size(-1)};
}

// As many rows belong to at most as many groups: the matrices of others are not read.
Traffic GroupedTraffic(const OpView& op) {
  Traffic moved = traffic::ReadAllWriteAll(op);
  const TensorView a = op.self(), b = op.tensor(1);
  if (a.rank() != 2 || b.rank() != 3 || a.size(0) >= b.size(0)) return moved;
  const Count matrices = Count(a.size(0)) * b.size(1) * b.size(2) * (BitsOf(b.dtype()) / 8);
  moved.read = traffic::Bytes(a) + matrices;
  if (op.tensor(2).defined()) moved.read += traffic::Bytes(op.tensor(2));
  return moved;
}

// What a kernel of CUTLASS is given (cuda/GroupMM.cu, ScaledGroupMM.cu): for each group the places
// of its matrices, in pairs, its sizes and three strides; and for each multiprocessor the
// descriptors of the tiles that it loads.
void GroupsOnCuda(const OpView& op, std::int64_t places, std::int64_t descriptors,
                  Allocations& memory) {
  constexpr std::int64_t kPlaceBytes = 8, kSizesBytes = std::int64_t{3} * 4, kStrides = 3;
  const std::int64_t groups = op.self().rank() == 3      ? op.self().size(0)
                              : op.tensor(1).rank() == 3 ? op.tensor(1).size(0)
                                                         : op.output().size(0);
  const Count listed = Count(RoundUp(groups, 2)) * places * kPlaceBytes +
                       Count(groups) * (kSizesBytes + kStrides * kPlaceBytes);
  const auto lists = memory.Allocate(allocations::Bytes(listed, DType::kUInt8));
  memory.Free(memory.Allocate(op.target().multiprocessors * descriptors));
  memory.Free(lists);
}

constexpr std::int64_t kDescriptorBytes = 512, kBlackwellBytes = 5376;

bool IsHopper(const Target& target) { return target.capability / 10 == 9; }

// Other dtypes, and other devices than Hopper's and the data centre's after it, have a product for
// each group, taken not to be empty.
void GroupedOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty_strided");
  const bool fits =
      op.self().dtype() == DType::kBFloat16 && op.output().dtype() == DType::kBFloat16;
  if (fits && (IsHopper(op.target()) || op.target().capability / 10 == 10)) {
    constexpr std::int64_t kPlaces = 3;
    return GroupsOnCuda(op, kPlaces, IsHopper(op.target()) ? kDescriptorBytes : kBlackwellBytes,
                        memory);
  }
  const bool is_batch = op.self().rank() == 3 && op.tensor(1).rank() == 3;
  // As many as have a row, or column, or part of the inner dimension at most.
  const TensorView a = op.self(), b = op.tensor(1);
  const std::int64_t divided = a.rank() == 3 ? b.size(1) : b.rank() == 3 ? a.size(0) : a.size(1);
  const std::int64_t products = is_batch ? 1 : std::min(op.tensor(2).count(), divided);
  constexpr std::int64_t kMostProducts = 1 << 16;
  if (products > kMostProducts) Refuse("products of so many groups are not modelled one by one");
  for (std::int64_t i = 0; i < products; ++i) cuda::UseBlasWorkspace(op, memory);
}

void ScaledGroupedOnCuda(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kPlaces = 5;  // the scales', too
  memory.Output(0, "aten::empty_strided");
  GroupsOnCuda(op, kPlaces, kDescriptorBytes, memory);
}

void FallbackShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the rows", op.self(), 2);
  shape::RequireRank("the weights", op.tensor(1), 3);
  out.Add(op.self().dtype(), GroupedSizes(op.self(), op.tensor(1), op.tensor(2)));
}

// Both are made like the operands.
void FallbackBackwardShape(const OpView& op, Outputs& out) {
  GroupedSizes(op.self(), op.tensor(1), op.tensor(2));
  shape::Like(op.self(), op.self().dtype(), out);
  shape::Like(op.tensor(1), op.tensor(1).dtype(), out);
}

Work FallbackBackwardWork(const OpView& op) {
  const TensorView rows = op.self();
  return {.mac = Count(2) * rows.size(0) * rows.size(1) * op.tensor(1).size(2)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef GroupedProduct(OpName name, std::string_view summary, Signature signature,
                               std::string_view example, Gradient grad, ShapeFn shape,
                               DeviceAllocations allocations) {
  return Kernel(Family::kContraction, {name, summary, signature, example},
                {shape, Fusion::kOpaque, allocations, GroupedWork, grad, precision::kFollow},
                Alias::kNone, GroupedTraffic);
}

constexpr std::array kRows{
    GroupedProduct("aten::_grouped_mm",
                   "Product of each group of rows with the matrix of its group.",
                   "(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
                   "out_dtype=None) -> Tensor",
                   "aten::_grouped_mm(bf16[12,8], bf16[4,8,16], i32[4])", gradients::kGroupedMm,
                   GroupedShape, {allocations::Via<"aten::empty_strided">, GroupedOnCuda}),
    OpaqueKernel(Family::kContraction,
                 {"aten::_scaled_grouped_mm",
                  "Product of each group of rows with the matrix of its group, of float8 with "
                  "scales.",
                  "(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? offs=None, "
                  "Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool "
                  "use_fast_accum=False) -> Tensor",
                  "aten::_scaled_grouped_mm(f8e4m3[32,16], f8e4m3[4,16,32]{512,1,16}, f32[32], "
                  "f32[4,32], i32[4])"},
                 ScaledGroupedShape, {allocations::Via<"aten::empty_strided">, ScaledGroupedOnCuda},
                 GroupedWork, kNoGradient),
    GroupedProduct("transformers::grouped_mm_fallback",
                   "Product of each group of rows with the matrix of its group, one mm per group.",
                   "(Tensor input, Tensor weight, Tensor offs) -> Tensor",
                   "transformers::grouped_mm_fallback(f32[12,8], f32[4,8,5], i32[4])",
                   gradients::kGroupedMmFallback, FallbackShape, allocations::Via<"aten::empty">),
    Kernel(Family::kContraction,
           {"transformers::grouped_mm_fallback_backward",
            "The gradients of grouped products, two mm per group.",
            "(Tensor input, Tensor weight, Tensor offs, Tensor grad_output) -> (Tensor, "
            "Tensor)",
            "transformers::grouped_mm_fallback_backward(f32[12,8], f32[4,8,5], i32[4], "
            "f32[12,5])"},
           {FallbackBackwardShape, Fusion::kOpaque, allocations::Via<"aten::empty_strided">,
            FallbackBackwardWork, kNoGradient, precision::kFollow}),
};

}  // namespace

std::span<const OpDef> GroupedMm() { return kRows; }

}  // namespace steelyard::ops
