// SPDX-License-Identifier: Apache-2.0
//
// Shape rules that several operators share, and the words new ones are written with.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "ir/layout.h"
#include "ops/op_def.h"

namespace steelyard {

// The dtype an elementwise kernel computes in, and the one it gives.
enum class Promotion : std::uint8_t {
  kCommon,   // both: the common dtype of the operands
  kFloat,    // both: the common dtype; integers become float32
  kCompare,  // computes in the common dtype, gives bool
};

namespace shape {

// --- Rules --------------------------------------------------------------------------------------

// One output with the dtype, sizes and strides of argument I.
template <int I>
void SameAs(const OpView& op, Outputs& out) {
  out.AddLike(op.tensor(I));
}

// No output: Python is given a number, or nothing.
inline void None(const OpView&, Outputs&) {}

// One output as empty_like(argument I) makes it: dense strides are kept, others compacted.
void Like(const TensorView& other, DType dtype, Outputs& out);
template <int I>
void Like(const OpView& op, Outputs& out) {
  Like(op.tensor(I), op.tensor(I).dtype(), out);
}

// One output as a TensorIterator makes it of the tensor arguments `operands` (None is skipped):
// broadcast sizes, strides after the operands', dtype as `promotion` says.
void IterateOver(const OpView& op, Promotion promotion, std::span<const int> operands,
                 Outputs& out);
template <Promotion kPromotion, int... kOperands>
void Iterate(const OpView& op, Outputs& out) {
  static constexpr std::array<int, sizeof...(kOperands)> kList = {kOperands...};
  IterateOver(op, kPromotion, kList, out);
}

// Argument 0 overwritten with a result of the arguments `operands`, which must broadcast to it and
// not be of a higher category. An expanded tensor cannot be overwritten.
void OverwriteFrom(const OpView& op, Promotion promotion, std::span<const int> operands,
                   Outputs& out);
template <Promotion kPromotion, int... kOperands>
void Overwrite(const OpView& op, Outputs& out) {
  static constexpr std::array<int, sizeof...(kOperands)> kList = {kOperands...};
  OverwriteFrom(op, kPromotion, kList, out);
}

// --- Words --------------------------------------------------------------------------------------

// "f32[2,3]".
std::string Text(const TensorView& tensor);
// "[2, 3]".
std::string Text(std::span<const std::int64_t> sizes);

// Refuses unless the two are equal: "inner dimensions differ: 768 vs 1024".
void RequireEqual(std::string_view what, std::int64_t a, std::int64_t b, std::string hint = {});
// Refuses unless `tensor` has that many dimensions: "weight has 3 dimensions, not 2".
void RequireRank(std::string_view name, const TensorView& tensor, int rank);
// Refuses floating-point and complex operands of a kernel on bits.
void RequireIntegral(std::span<const TensorView> operands);
// Refuses a tensor several elements of which lie in one place.
void RequireWritable(const TensorView& tensor);
// Refuses a negative size or a list that is longer than a tensor's rank may be.
void RequireSizes(std::span<const std::int64_t> sizes);

// The sizes all operands broadcast to.
Dims Broadcast(std::span<const std::span<const std::int64_t>> shapes);
Dims Broadcast(std::span<const TensorView> operands);
Dims Broadcast(std::initializer_list<TensorView> operands);
// The dtype an elementwise kernel with these operands computes in.
DType ComputeType(Promotion promotion, std::span<const TensorView> operands);
// Strides of an operand after its cast to `dtype`, if it needs one.
Dims CastStrides(const TensorView& operand, DType dtype);
// Adds an output that a TensorIterator makes: broadcast sizes, strides after the operands'.
void AddIterated(DType dtype, std::span<const Layout> operands, Outputs& out);
// The same for operands that are all cast to `computed`.
void AddIterated(DType dtype, DType computed, std::span<const TensorView> operands, Outputs& out);

// A dimension of a tensor of `rank` as programs number it, from the end if negative. A 0-dim tensor
// may be addressed as if it had one.
int WrapDim(std::int64_t dim, int rank);
// A set of dimensions, bit i for dimension i.
using DimSet = std::uint64_t;
constexpr bool Has(DimSet set, int dim) { return (set >> dim & 1) != 0; }
// Argument i as a set of dimensions of a tensor of `rank`; all of them if it is None or empty.
DimSet DimsOf(const OpView& op, int i, int rank);
// What remains of `sizes` when the dimensions of `set` are reduced.
enum class Reduced : std::uint8_t { kDropped, kKeptAsOne };
Dims Without(std::span<const std::int64_t> sizes, DimSet set, Reduced reduced);
// The sizes that a reduction of argument 0 over argument `dims_at` leaves, with those dimensions as
// 1 where argument `keep_at` says so; negative: where there is no such argument.
Dims ReducedSizes(const OpView& op, int dims_at, int keep_at);
// Number of elements reduced into one.
Count Fan(std::span<const std::int64_t> sizes, DimSet set);

}  // namespace shape
}  // namespace steelyard
