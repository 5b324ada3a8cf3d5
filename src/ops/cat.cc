// SPDX-License-Identifier: Apache-2.0
//
// Tensors joined: one after the other along a dimension, or along a new one, and what is written
// with that (ATen/native/TensorShape.cpp, TensorTransformations.cpp). Parts of another dtype go
// through a buffer, and the result is channels-last if all parts are.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/view.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- cat, stack ---------------------------------------------------------------------------------

// An empty vector may be among the parts, whatever the others are.
bool IsSkipped(const TensorView& part) { return part.rank() == 1 && part.count() == 0; }

// Channels-last if all parts suggest it.
Dims JoinedStrides(const std::vector<TensorView>& parts, const Dims& sizes) {
  const bool channels_last = std::ranges::all_of(
      parts, [](const TensorView& part) { return IsChannelsLast(part.sizes(), part.strides()); });
  return channels_last && (sizes.size() == 4 || sizes.size() == 5) ? ChannelsLastStrides(sizes)
                                                                   : ContiguousStrides(sizes);
}

void CatShape(const OpView& op, Outputs& out) {
  const std::vector<TensorView> parts = op.tensors(0);
  if (parts.empty()) Refuse("there is nothing to concatenate");
  std::optional<Dims> sizes;
  int dim = 0;
  Count length = 0;
  for (const TensorView& part : parts) {
    if (!part.defined() || part.rank() == 0) Refuse("0-dim tensors cannot be concatenated");
    if (IsSkipped(part)) continue;
    if (!sizes) {
      sizes = Dims(part.sizes());
      dim = op.dim(1, part.rank());
    }
    shape::RequireEqual("numbers of dimensions", sizes->size(), part.rank());
    for (int d = 0; d < part.rank(); ++d) {
      if (d != dim)
        shape::RequireEqual(fmt::format("sizes in dimension {}", d), (*sizes)[d], part.size(d));
    }
    length += part.size(dim);
  }
  if (length.overflowed()) Contradict("the concatenation is too long");
  if (!sizes) sizes = Dims{0};
  if (length.value() > 0) (*sizes)[dim] = length.value();
  out.Add(ResultType(parts), *sizes, JoinedStrides(parts, *sizes));
}

// A part of another dtype is copied through a buffer of its own dtype for that slice of the output.
void CatAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  for (const TensorView& part : op.tensors(0)) {
    if (part.dtype() == op.output().dtype()) continue;
    memory.Free(memory.Allocate(allocations::Bytes(part.count(), part.dtype()), "aten::empty"));
  }
}

std::vector<Tensor> Stack(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> parts = d.tensors(op, 0);
  if (parts.empty() || !parts[0].defined()) Refuse("there is nothing to stack");
  for (const Tensor& part : parts) {
    if (!part.defined() || !std::ranges::equal(part.sizes(), parts[0].sizes())) {
      Refuse("only tensors of one shape can be stacked");
    }
  }
  const int rank = parts[0].rank();
  if (rank == Dims::kMaxRank) Refuse("too many dimensions");
  const int dim = op.dim(1, rank + 1);
  if (dim < rank) {
    Dims sizes(parts[0].sizes());
    sizes.insert(dim, static_cast<std::int64_t>(parts.size()));
    return {d.Call("aten::view", d.Call("aten::cat", parts, dim), sizes)};
  }
  for (Tensor& part : parts) part = d.Call("aten::unsqueeze", part, dim);
  return {d.Call("aten::cat", parts, dim)};
}

std::vector<Tensor> Concat(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::cat", d.tensors(op, 0), op.arg(1))};
}

// --- Dimensions in front or behind --------------------------------------------------------------

// Dimensions of size 1 in front or behind until there are `rank` of them.
Tensor AtLeast(Dispatcher& d, const Tensor& t, int rank) {
  if (t.rank() >= rank) return t;
  if (t.rank() == 0) return d.Call("aten::reshape", t, Dims::Filled(rank, 1));
  const Tensor row = t.rank() == 1 && rank > 1 ? d.Call("aten::unsqueeze", t, 0) : t;
  return rank > 2 ? d.Call("aten::unsqueeze", row, -1) : row;
}

template <int kRank>
std::vector<Tensor> AtLeastOf(Dispatcher& d, const OpView& op) {
  return {AtLeast(d, d.tensor(op, 0), kRank)};
}

template <int kRank>
std::vector<Tensor> EachAtLeast(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> out;
  for (const Tensor& t : d.tensors(op, 0)) out.push_back(AtLeast(d, t, kRank));
  return out;
}

// --- Stacks of rows, columns and layers ---------------------------------------------------------

std::vector<Tensor> AllAtLeast(Dispatcher& d, const OpView& op, int rank) {
  std::vector<Tensor> out;
  for (const Tensor& t : d.tensors(op, 0)) out.push_back(AtLeast(d, t, rank));
  if (out.empty()) Refuse("there is nothing to stack");
  return out;
}

std::vector<Tensor> StackColumns(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> parts = AllAtLeast(d, op, 1);
  return {d.Call("aten::cat", parts, parts[0].rank() == 1 ? 0 : 1)};
}

std::vector<Tensor> StackRows(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::cat", AllAtLeast(d, op, 2), 0)};
}

std::vector<Tensor> StackDepths(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::cat", AllAtLeast(d, op, 3), 2)};
}

std::vector<Tensor> ColumnStack(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> parts;
  for (const Tensor& t : d.tensors(op, 0)) {
    parts.push_back(t.rank() > 1 ? t : d.Call("aten::reshape", t, Dims{t.count(), 1}));
  }
  if (parts.empty()) Refuse("there is nothing to stack");
  return {d.Call("aten::hstack", parts)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    Knowing(contents::Concatenated,
            Casting(precision::kPromoteOnCpu,
                    Kernel(Family::kIndexing,
                           {"aten::cat", "Tensors one after the other along a dimension.",
                            "(Tensor[] tensors, int dim=0) -> Tensor",
                            "aten::cat([f32[2,8], bf16[3,8]], 0)"},
                           {CatShape, Fusion::kInjective, CatAllocations, work::Move,
                            gradients::kCat, precision::kFollow}))),
    Casting(precision::kPromoteOnCpu,
            Composite(Family::kIndexing,
                      {"aten::stack", "Tensors one after the other along a new dimension.",
                       "(Tensor[] tensors, int dim=0) -> Tensor",
                       "aten::stack([f32[2,8], f32[2,8]], -1)"},
                      Stack, gradients::kStack)),
    Composite(Family::kView,
              {"aten::concat", "Tensors one after the other along a dimension.",
               "(Tensor[] tensors, int dim=0) -> Tensor", "aten::concat([f32[2,3], f32[1,3]])"},
              Concat),
    Composite(
        Family::kView,
        {"aten::concatenate", "Tensors one after the other along a dimension.",
         "(Tensor[] tensors, int dim=0) -> Tensor", "aten::concatenate([f32[2,3], f32[2,1]], 1)"},
        Concat),
    Composite(Family::kView,
              {"aten::hstack", "Tensors one beside the other.", "(Tensor[] tensors) -> Tensor",
               "aten::hstack([f32[2,3], f32[2,1]])"},
              StackColumns),
    Composite(Family::kView,
              {"aten::vstack", "Tensors one below the other.", "(Tensor[] tensors) -> Tensor",
               "aten::vstack([f32[3], f32[2,3]])"},
              StackRows),
    Composite(Family::kView,
              {"aten::dstack", "Tensors one behind the other.", "(Tensor[] tensors) -> Tensor",
               "aten::dstack([f32[3], f32[3]])"},
              StackDepths),
    Composite(Family::kView,
              {"aten::column_stack", "Vectors as columns, matrices beside them.",
               "(Tensor[] tensors) -> Tensor", "aten::column_stack([f32[3], f32[3,2]])"},
              ColumnStack),
    Composite(Family::kView,
              {"aten::atleast_1d", "One dimension or more.", "(Tensor self) -> Tensor",
               "aten::atleast_1d(f32[])"},
              AtLeastOf<1>),
    Composite(Family::kView,
              {"aten::atleast_2d", "Two dimensions or more.", "(Tensor self) -> Tensor",
               "aten::atleast_2d(f32[3])"},
              AtLeastOf<2>),
    Composite(Family::kView,
              {"aten::atleast_3d", "Three dimensions or more.", "(Tensor self) -> Tensor",
               "aten::atleast_3d(f32[3])"},
              AtLeastOf<3>),
    Composite(Family::kView,
              {"aten::atleast_1d.Sequence", "One dimension or more of each.",
               "(Tensor[] tensors) -> Tensor[]", "aten::atleast_1d.Sequence([f32[], f32[3]])"},
              EachAtLeast<1>),
    Composite(Family::kView,
              {"aten::atleast_2d.Sequence", "Two dimensions or more of each.",
               "(Tensor[] tensors) -> Tensor[]", "aten::atleast_2d.Sequence([f32[3], f32[2,3]])"},
              EachAtLeast<2>),
    Composite(Family::kView,
              {"aten::atleast_3d.Sequence", "Three dimensions or more of each.",
               "(Tensor[] tensors) -> Tensor[]", "aten::atleast_3d.Sequence([f32[3], f32[2,3]])"},
              EachAtLeast<3>),
};

}  // namespace

std::span<const OpDef> Cat() { return kRows; }

}  // namespace steelyard::ops
