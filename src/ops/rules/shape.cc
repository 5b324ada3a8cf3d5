// SPDX-License-Identifier: Apache-2.0
//
// What TensorIterator gives (aten/src/ATen/TensorIterator.cpp: compute_shape, compute_types,
// allocate_or_resize_outputs) and reductions leave over (ReduceOpsUtils.h).

#include "ops/rules/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/rules/given.h"
#include "ops/rules/promote.h"

namespace steelyard::shape {
namespace {

int CategoryOf(DType dtype) {
  if (IsComplex(dtype)) return 3;
  if (IsFloating(dtype)) return 2;
  return IsIntegral(dtype) ? 1 : 0;
}

// Something of each operand. There are few, nearly always, and then no heap is asked.
template <class T>
class OfEach {
 public:
  explicit OfEach(std::size_t count) : many_(count > few_.size() ? count : 0), count_(count) {}
  T& operator[](std::size_t i) { return many_.empty() ? few_[i] : many_[i]; }
  operator std::span<const T>() const {  // NOLINT(google-explicit-constructor)
    return {many_.empty() ? few_.data() : many_.data(), count_};
  }

 private:
  std::array<T, GivenTensors::kMost> few_;
  std::vector<T> many_;
  std::size_t count_;
};

DType GivenType(Promotion promotion, DType computed) {
  return promotion == Promotion::kCompare ? DType::kBool : computed;
}

}  // namespace

void Like(const TensorView& other, DType dtype, Outputs& out) {
  out.Add(dtype, other.sizes(), EmptyLikeStrides(other.sizes(), other.strides()));
}

void IterateOver(const OpView& op, Promotion promotion, std::span<const int> operands,
                 Outputs& out) {
  const GivenTensors given(op, operands);
  const DType computed = ComputeType(promotion, given);
  const DType dtype = GivenType(promotion, computed);
  if (op.target().device == Device::kCpu) return AddIterated(dtype, computed, given, out);
  const std::span<const TensorView> views = given;  // a kernel of CUDA casts what it reads
  OfEach<Layout> layouts(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    layouts[i] = {views[i].sizes(), views[i].strides()};
  }
  AddIterated(dtype, layouts, out);
}

void OverwriteFrom(const OpView& op, Promotion promotion, std::span<const int> operands,
                   Outputs& out) {
  const GivenTensors given(op, operands);
  const TensorView self = op.self();
  RequireWritable(self);
  const DType computed = GivenType(promotion, ComputeType(promotion, given));
  if (CategoryOf(computed) > CategoryOf(self.dtype())) {
    Refuse(fmt::format("a result of {} cannot be written into {}", NameOf(computed), Text(self)));
  }
  const Dims sizes = Broadcast(given);
  if (!std::ranges::equal(std::span<const std::int64_t>(sizes), self.sizes())) {
    Refuse(fmt::format("a result of shape {} cannot be written into {}", Text(sizes), Text(self)));
  }
  out.AddLike(self);
}

std::string Text(const TensorView& tensor) {
  return fmt::format("{}[{}]", ShortNameOf(tensor.dtype()), fmt::join(tensor.sizes(), ","));
}

std::string Text(std::span<const std::int64_t> sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

void RequireEqual(std::string_view what, std::int64_t a, std::int64_t b, std::string hint) {
  if (a != b) Contradict(fmt::format("{} differ: {} vs {}", what, a, b), std::move(hint));
}

void RequireRank(std::string_view name, const TensorView& tensor, int rank) {
  if (tensor.rank() != rank) {
    Refuse(
        fmt::format("{} has {} dimensions, not {}: {}", name, tensor.rank(), rank, Text(tensor)));
  }
}

void RequireIntegral(std::span<const TensorView> operands) {
  for (const TensorView& operand : operands) {
    if (CategoryOf(operand.dtype()) > 1) {
      Refuse("integers or bool are needed, not " + Text(operand));
    }
  }
}

void RequireWritable(const TensorView& tensor) {
  if (tensor.count() == 0) return;
  for (int i = 0; i < tensor.rank(); ++i) {
    if (tensor.size(i) > 1 && tensor.stride(i) == 0) {
      Refuse("an expanded tensor cannot be overwritten: " + Text(tensor), "Clone it first.");
    }
  }
}

void RequireSizes(std::span<const std::int64_t> sizes) {
  for (std::int64_t size : sizes) {
    if (size < 0) Contradict(fmt::format("a size is negative: {}", Text(sizes)));
  }
}

Dims Broadcast(std::span<const Sizes> shapes) {
  const std::optional<Dims> common = BroadcastShapes(shapes);
  if (common) return *common;
  std::vector<std::string> texts;
  texts.reserve(shapes.size());
  for (Sizes sizes : shapes) texts.push_back(Text(sizes));
  Contradict(fmt::format("the shapes do not broadcast: {}", fmt::join(texts, " and ")));
}

Dims Broadcast(std::span<const TensorView> operands) {
  OfEach<Sizes> shapes(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) shapes[i] = operands[i].sizes();
  return Broadcast(std::span<const Sizes>(shapes));
}

Dims Broadcast(std::initializer_list<TensorView> operands) {
  return Broadcast(std::span(operands.begin(), operands.size()));
}

DType ComputeType(Promotion promotion, std::span<const TensorView> operands) {
  const DType common = ResultType(operands);
  return promotion == Promotion::kFloat ? FloatOf(common) : common;
}

Dims CastStrides(const TensorView& operand, DType dtype) {
  if (operand.dtype() == dtype) return Dims(operand.strides());
  return EmptyLikeStrides(operand.sizes(), operand.strides());
}

void AddIterated(DType dtype, std::span<const Layout> operands, Outputs& out) {
  OfEach<Sizes> shapes(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) shapes[i] = operands[i].sizes;
  const Dims sizes = Broadcast(std::span<const Sizes>(shapes));
  out.Add(dtype, sizes, IteratorStrides(sizes, operands));
}

void AddIterated(DType dtype, DType computed, std::span<const TensorView> operands, Outputs& out) {
  OfEach<Dims> cast(operands.size());  // the layouts may point into it
  OfEach<Layout> layouts(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const TensorView& operand = operands[i];
    const bool as_it_is = operand.dtype() == computed;
    if (!as_it_is) cast[i] = CastStrides(operand, computed);
    layouts[i] = {operand.sizes(), as_it_is ? operand.strides() : Sizes(cast[i])};
  }
  AddIterated(dtype, std::span<const Layout>(layouts), out);
}

int WrapDim(std::int64_t dim, int rank) {
  const int dims = rank == 0 ? 1 : rank;
  if (dim < -dims || dim >= dims) {
    Refuse(fmt::format("dimension {} is out of range for a tensor of {} dimensions", dim, rank));
  }
  return static_cast<int>(dim < 0 ? dim + dims : dim);
}

DimSet DimsOf(const OpView& op, int i, int rank) {
  const DimSet all = rank == 0 ? 1 : ~DimSet{0} >> (Dims::kMaxRank - rank);
  const Dims list = op.ints(i);
  if (list.empty()) return all;
  DimSet set = 0;
  for (std::int64_t d : std::span<const std::int64_t>(list)) {
    const DimSet bit = DimSet{1} << WrapDim(d, rank);
    if ((set & bit) != 0) Refuse(fmt::format("dimension {} is reduced twice", d));
    set |= bit;
  }
  return set;
}

Dims Without(std::span<const std::int64_t> sizes, DimSet set, Reduced reduced) {
  Dims out;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!Has(set, static_cast<int>(i))) {
      out.push_back(sizes[i]);
    } else if (reduced == Reduced::kKeptAsOne) {
      out.push_back(1);
    }
  }
  return out;
}

Dims ReducedSizes(const OpView& op, int dims_at, int keep_at) {
  const bool keep = keep_at >= 0 && op.boolean(keep_at);
  return Without(op.self().sizes(), DimsOf(op, dims_at, op.self().rank()),
                 keep ? Reduced::kKeptAsOne : Reduced::kDropped);
}

Count Fan(std::span<const std::int64_t> sizes, DimSet set) {
  Count fan = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (Has(set, static_cast<int>(i))) fan = fan * sizes[i];
  }
  return fan;
}

}  // namespace steelyard::shape
