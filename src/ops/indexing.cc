// SPDX-License-Identifier: Apache-2.0
//
// Elements and slices chosen by lists of indices. Indexing is a TensorIterator over the operand,
// the indexed dimensions of which do not advance, and the index tensors (ATen/native/
// TensorAdvancedIndexing.cpp); that decides the strides of its result.

#include "ops/gradients/indexing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/cuda/determinism.h"
#include "ops/cuda/nonzero.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/indices.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

bool IsMask(const TensorView& index) {
  return index.dtype() == DType::kBool || index.dtype() == DType::kUInt8;
}

// --- index --------------------------------------------------------------------------------------

// An index as ATen's kernels see it: a mask of r dimensions is r lists of positions.
struct Index {
  Dims sizes;
  Dims strides;
  DType dtype = DType::kInt64;
};

std::vector<TensorView> Defined(const std::vector<TensorView>& indices) {
  std::vector<TensorView> out;
  for (const TensorView& index : indices) {
    if (index.defined()) out.push_back(index);
  }
  return out;
}

bool HasMask(const std::vector<TensorView>& indices) {
  return std::ranges::any_of(
      indices, [](const TensorView& index) { return index.defined() && IsMask(index); });
}

// One entry for each dimension of the operand that the list speaks of, masks having chosen `chosen`
// elements.
std::vector<std::optional<Index>> ForDimensions(const TensorView& self,
                                                const std::vector<TensorView>& indices,
                                                std::int64_t chosen) {
  std::vector<std::optional<Index>> out;
  for (const TensorView& index : indices) {
    const int at = static_cast<int>(out.size());
    if (!index.defined()) {
      out.emplace_back();
    } else if (IsMask(index)) {
      for (int d = 0; d < index.rank() && at + d < self.rank(); ++d) {
        shape::RequireEqual("sizes of mask and operand", index.size(d), self.size(at + d));
      }
      const Index positions{.sizes = {chosen}, .strides = {1}};
      out.insert(out.end(), static_cast<std::size_t>(index.rank()), positions);
    } else {
      RequireIndex(index);
      out.emplace_back(Index{
          .sizes = Dims(index.sizes()), .strides = Dims(index.strides()), .dtype = index.dtype()});
    }
  }
  if (static_cast<int>(out.size()) > self.rank()) {
    Refuse(fmt::format("{} indices for {}", out.size(), shape::Text(self)));
  }
  out.resize(static_cast<std::size_t>(self.rank()));
  return out;
}

// What indexing with a list of tensors comes to: the indexed dimensions lie next to each other, at
// the front if they did not, and the joint shape of the indices stands in their place.
struct Advanced {
  std::vector<Index> indices;
  Dims sizes;
  Dims strides;  // of the operand: 0 where it is indexed
  Dims joint;
  int before = 0;  // dimensions in front of the joint ones
};

Dims JointShape(const std::vector<Index>& indices) {
  std::vector<Sizes> shapes;
  shapes.reserve(indices.size());
  for (const Index& index : indices) shapes.emplace_back(index.sizes);
  return shape::Broadcast(shapes);
}

Advanced PlanFor(const TensorView& self, const std::vector<TensorView>& list, std::int64_t chosen) {
  const std::vector<std::optional<Index>> indices = ForDimensions(self, list, chosen);
  const auto indexed = [&](int d) { return indices[static_cast<std::size_t>(d)].has_value(); };
  Advanced plan;
  int first = self.rank();
  int last = -1;
  for (int d = 0; d < self.rank(); ++d) {
    if (!indexed(d)) continue;
    first = std::min(first, d);
    last = d;
    plan.indices.push_back(*indices[static_cast<std::size_t>(d)]);
  }
  if (plan.indices.empty()) Refuse("there is no index");
  const int count = static_cast<int>(plan.indices.size());
  plan.joint = JointShape(plan.indices);
  plan.before = last - first + 1 == count ? first : 0;
  if (self.rank() - count + plan.joint.size() > Dims::kMaxRank) Refuse("too many dimensions");
  const auto add_joint = [&] {
    for (std::int64_t size : std::span<const std::int64_t>(plan.joint)) {
      plan.sizes.push_back(size);
      plan.strides.push_back(0);
    }
  };
  if (plan.before == 0) add_joint();
  for (int d = 0; d < self.rank(); ++d) {
    if (indexed(d)) continue;
    plan.sizes.push_back(self.size(d));
    plan.strides.push_back(self.stride(d));
    if (plan.before > 0 && plan.sizes.size() == plan.before) add_joint();
  }
  return plan;
}

// The most elements that masks can choose: as many as they have, or as the lists of positions
// beside them.
std::int64_t MostChosen(const std::vector<TensorView>& indices) {
  std::optional<std::int64_t> most;
  for (const TensorView& index : Defined(indices)) {
    if (IsMask(index)) most = std::min(most.value_or(INT64_MAX), index.count());
  }
  for (const TensorView& index : Defined(indices)) {
    if (!IsMask(index) && index.rank() > 0 && index.size(-1) != 1) return index.size(-1);
  }
  return most.value_or(0);
}

// The dimension of the result in which the chosen elements lie.
int ChosenDim(const Advanced& plan) { return plan.before + plan.joint.size() - 1; }

// Of `index`, once its result is there.
Advanced PlanOf(const OpView& op) {
  const std::vector<TensorView> indices = op.tensors(1);
  if (!HasMask(indices)) return PlanFor(op.self(), indices, 0);
  const Advanced most = PlanFor(op.self(), indices, MostChosen(indices));
  return PlanFor(op.self(), indices, op.output().size(ChosenDim(most)));
}

// Strides of an index expanded to the joint shape, a copy if it had to become int64.
Dims ExpandedStrides(const Index& index, const Dims& joint) {
  Dims out = Dims::Filled(joint.size(), 0);
  const int shift = joint.size() - index.sizes.size();
  for (int d = 0; d < index.sizes.size(); ++d) {
    const bool repeated = index.sizes[d] == 1 && joint[d + shift] != 1;
    out[d + shift] = repeated ? 0 : index.strides[d];
  }
  return index.dtype == DType::kInt64 ? out : EmptyLikeStrides(joint, out);
}

bool LieAlike(const std::vector<Dims>& strides) {
  return std::ranges::all_of(
      strides, [&](const Dims& s) { return std::ranges::equal(Sizes(s), Sizes(strides[0])); });
}

// Strides of the expanded indices. CUDA's kernel reads several at the same strides: where they
// differ, all are made contiguous (AdvancedIndex in TensorAdvancedIndexing.cpp).
std::vector<Dims> IndexStrides(const OpView& op, const Advanced& plan) {
  std::vector<Dims> strides;
  strides.reserve(plan.indices.size());
  for (const Index& index : plan.indices) strides.push_back(ExpandedStrides(index, plan.joint));
  if (op.target().device == Device::kCuda && !LieAlike(strides)) {
    for (Dims& s : strides) {
      if (!IsContiguous(plan.joint, s)) s = ContiguousStrides(plan.joint);
    }
  }
  return strides;
}

void IndexShape(const OpView& op, Outputs& out) {
  const std::vector<TensorView> indices = op.tensors(1);
  Advanced plan = PlanFor(op.self(), indices, MostChosen(indices));
  if (HasMask(indices)) {
    plan = PlanFor(op.self(), indices, out.FromData(0, ChosenDim(plan), MostChosen(indices)));
  }
  const int after = plan.sizes.size() - plan.before - plan.joint.size();
  Dims sizes;  // of an index among the other dimensions
  for (int i = 0; i < plan.before; ++i) sizes.push_back(1);
  for (std::int64_t size : std::span<const std::int64_t>(plan.joint)) sizes.push_back(size);
  for (int i = 0; i < after; ++i) sizes.push_back(1);
  std::vector<Dims> strides;
  for (const Dims& expanded : IndexStrides(op, plan)) {
    strides.push_back(ViewStrides(plan.joint, expanded, sizes).value_or(ContiguousStrides(sizes)));
  }
  std::vector<Layout> layouts{{plan.sizes, plan.strides}};
  for (const Dims& s : strides) layouts.push_back({sizes, s});
  out.Add(op.self().dtype(), plan.sizes, IteratorStrides(plan.sizes, layouts));
}

// Masks become lists of positions; int32 indices are expanded and then made int64.
std::vector<Allocations::Scratch> MakeIndices(const OpView& op, const Advanced& plan,
                                              Allocations& memory) {
  std::vector<Allocations::Scratch> out;
  const std::int64_t chosen = plan.joint.empty() ? 1 : plan.joint[plan.joint.size() - 1];
  for (const TensorView& index : Defined(op.tensors(1))) {
    if (!IsMask(index)) continue;
    const Count positions = Count(chosen) * index.rank();
    out.push_back(memory.Allocate(allocations::Bytes(positions, DType::kInt64), "aten::nonzero"));
  }
  const std::int64_t bytes = allocations::Bytes(work::Elements(plan.joint), DType::kInt64);
  for (const Index& index : plan.indices) {
    if (index.dtype == DType::kInt32) out.push_back(memory.Allocate(bytes, "aten::empty_strided"));
  }
  return out;
}

// The lists of positions that indices are read from on CUDA. Masks are searched, each for as many
// lists as it has dimensions; int32 is cast to int64.
class ListsOnCuda {
 public:
  // How long the casts are: as long as their indices, or as what these are expanded to.
  enum class Casts : std::uint8_t { kOfIndices, kOfExpanded };

  ListsOnCuda(const OpView& op, const Advanced& plan, Casts casts, Allocations& memory)
      : memory_(memory) {
    const std::int64_t chosen = plan.joint.empty() ? 1 : plan.joint[plan.joint.size() - 1];
    for (const TensorView& index : Defined(op.tensors(1))) {
      if (!IsMask(index)) {
        of_index_.emplace_back();
        continue;
      }
      const cuda::Searched in = cuda::SearchedIn(index);
      const cuda::Search search = cuda::BeginSearch(in, op.target(), memory);
      const Count positions = Count(chosen) * index.rank();
      const auto found = memory.Allocate(allocations::Bytes(positions, DType::kInt64));
      of_index_.insert(of_index_.end(), static_cast<std::size_t>(index.rank()), found);
      cuda::EndSearch(search, in, op.target(), memory);
    }
    for (std::size_t i = 0; i < plan.indices.size(); ++i) {
      if (plan.indices[i].dtype != DType::kInt32) continue;
      const Dims& sizes = casts == Casts::kOfExpanded ? plan.joint : plan.indices[i].sizes;
      Replace(i, allocations::Bytes(work::Elements(sizes), DType::kInt64));
    }
  }

  // A copy in place of a list, which goes if no other index reads it.
  void Replace(std::size_t i, std::int64_t bytes) {
    const auto copy = memory_.Allocate(bytes);
    Release(i);
    of_index_[i] = copy;
  }

  void FreeForwards() {
    for (std::size_t i = 0; i < of_index_.size(); ++i) Release(i);
  }
  void FreeBackwards() {
    for (std::size_t i = of_index_.size(); i-- > 0;) Release(i);
  }

 private:
  void Release(std::size_t i) {
    const auto held = std::exchange(of_index_[i], std::nullopt);
    if (held && std::ranges::find(of_index_, held) == of_index_.end()) memory_.Free(*held);
  }

  Allocations& memory_;
  std::vector<std::optional<Allocations::Scratch>> of_index_;  // those that were made
};

void IndexAllocations(const OpView& op, Allocations& memory) {
  const std::vector<Allocations::Scratch> made = MakeIndices(op, PlanOf(op), memory);
  memory.Output(0);
  for (std::size_t i = made.size(); i-- > 0;) memory.Free(made[i]);
}

// The kernels read all lists at the same strides.
void LayOutAlike(const Advanced& plan, ListsOnCuda& lists) {
  std::vector<Dims> strides;
  strides.reserve(plan.indices.size());
  for (const Index& index : plan.indices) strides.push_back(ExpandedStrides(index, plan.joint));
  if (LieAlike(strides)) return;
  const std::int64_t bytes = allocations::Bytes(work::Elements(plan.joint), DType::kInt64);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (!IsContiguous(plan.joint, strides[i])) lists.Replace(i, bytes);
  }
}

void IndexOnCuda(const OpView& op, Allocations& memory) {
  const Advanced plan = PlanOf(op);
  ListsOnCuda lists(op, plan, ListsOnCuda::Casts::kOfExpanded, memory);
  LayOutAlike(plan, lists);
  memory.Output(0);
  lists.FreeBackwards();
}

// --- index_put ----------------------------------------------------------------------------------

// One value written through masks is a masked_fill, whose extent does not matter.
bool FillsMasks(const OpView& op) {
  const std::vector<TensorView> indices = Defined(op.tensors(1));
  return !op.boolean(3) && op.tensor(2).count() == 1 && !indices.empty() &&
         std::ranges::all_of(indices, [](const TensorView& index) { return IsMask(index); });
}

std::optional<std::int64_t> ChosenByValues(const OpView& op, const Advanced& most) {
  const TensorView values = op.tensor(2);
  const int at = values.rank() - (most.sizes.size() - ChosenDim(most));
  if (at < 0 || at >= values.rank() || values.size(at) == 1) return std::nullopt;
  return values.size(at);
}

Advanced PutPlan(const OpView& op) {
  const std::vector<TensorView> indices = op.tensors(1);
  Advanced most = PlanFor(op.self(), indices, MostChosen(indices));
  if (!HasMask(indices)) return most;
  const std::optional<std::int64_t> chosen = ChosenByValues(op, most);
  return chosen ? PlanFor(op.self(), indices, *chosen) : most;
}

void IndexPutShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const TensorView values = op.tensor(2);
  if (values.dtype() != self.dtype()) {
    Refuse(fmt::format("{} cannot be written into {}", shape::Text(values), shape::Text(self)));
  }
  if (!FillsMasks(op)) {
    const Advanced plan = PutPlan(op);
    if (HasMask(op.tensors(1)) && !ChosenByValues(op, plan)) out.Assume();
    const std::array<Sizes, 2> shapes{plan.sizes, values.sizes()};
    const std::optional<Dims> common = BroadcastShapes(shapes);
    if (!common || !std::ranges::equal(Sizes(*common), Sizes(plan.sizes))) {
      Contradict(fmt::format("{} does not fit the indexed shape {}", shape::Text(values),
                             shape::Text(plan.sizes)));
    }
  }
  out.AddLike(self);
}

void IndexPutAllocations(const OpView& op, Allocations& memory) {
  if (FillsMasks(op)) return;
  const std::vector<Allocations::Scratch> made = MakeIndices(op, PutPlan(op), memory);
  for (std::size_t i = made.size(); i-- > 0;) memory.Free(made[i], "aten::_index_put_impl_");
}

// As indices lie once they are int64.
Dims CastStrides(const Index& index) {
  return index.dtype == DType::kInt64 ? index.strides
                                      : EmptyLikeStrides(index.sizes, index.strides);
}

// The least and the largest of the indices, and whether they lie within the dimension.
void CheckOnCuda(const OpView& op, const Index& index, const Dims& joint, Allocations& memory) {
  const DType dtype = DType::kInt64;
  const Dims strides = ContiguousStrides(joint);
  const auto largest = memory.Allocate(BitsOf(dtype) / 8),
             least = memory.Allocate(BitsOf(dtype) / 8);
  std::optional<Allocations::Scratch> dense;
  // One that is not repeated is expanded by dimensions of size 1 alone, and lies as it did.
  const std::int64_t elements = work::Elements(joint).value();
  const bool repeated = work::Elements(index.sizes).value() != elements;
  if (repeated || !IsContiguous(index.sizes, CastStrides(index)))
    dense = memory.Allocate(allocations::Bytes(elements, dtype));
  cuda::Stage(op, {joint, strides}, dtype, ~shape::DimSet{0},
              {.bytes = 2 * BitsOf(dtype) / 8, .fits_result = false}, memory);
  allocations::Free(dense, memory);
  for (int i = 0; i < 2; ++i) memory.Free(memory.Allocate(1));
  memory.Free(least);
  memory.Free(largest);
}

// The operand with the indexed dimensions in front where they do not lie next to each other: how
// many elements a row has, and whether rows are copied to lie so.
struct Rows {
  std::int64_t length = 1;
  bool moved = false;
};
Rows RowsOf(const OpView& op, const Advanced& plan) {
  const TensorView self = op.self();
  const auto given = ForDimensions(self, op.tensors(1), 0);
  const auto indexed = [&](int d) { return given[static_cast<std::size_t>(d)].has_value(); };
  int last = 0;
  Dims dims, sizes, strides;  // the indexed ones, then the others
  for (const bool in_front : {true, false}) {
    for (int d = 0; d < self.rank(); ++d) {
      if (indexed(d) == in_front) dims.push_back(d);
      if (indexed(d)) last = d;
    }
  }
  const bool adjacent = plan.before > 0 || last + 1 == static_cast<int>(plan.indices.size());
  const Dims of_self = ContiguousStrides(Dims(self.sizes()));
  Rows rows;
  for (const std::int64_t at : std::span<const std::int64_t>(dims)) {
    const int d = static_cast<int>(at);
    sizes.push_back(self.size(d));
    strides.push_back(of_self[d]);
    if (!indexed(d) && (!adjacent || d > last)) rows.length *= self.size(d);
  }
  rows.moved = !adjacent && !IsContiguous(sizes, strides);
  return rows;
}

// The number of the row that each place of the indices stands for, in order. The first index says
// how they lie before.
Allocations::Scratch RowNumbersOnCuda(const OpView& op, const Advanced& plan, bool checked,
                                      Allocations& memory) {
  const std::int64_t bytes = allocations::Bytes(work::Elements(plan.joint), DType::kInt64);
  std::optional<Allocations::Scratch> places;
  for (const Index& index : plan.indices) {
    if (checked) CheckOnCuda(op, index, plan.joint, memory);
    const auto wrapped = memory.Allocate(bytes), scaled = memory.Allocate(bytes);
    memory.Free(wrapped);
    places ? memory.Free(scaled) : void(places = scaled);
  }
  return places.value();
}
bool RowNumbersLieInOrder(const Advanced& plan) {
  const Index& first = plan.indices.front();
  const Dims expanded =
      ExpandedStrides({.sizes = first.sizes, .strides = CastStrides(first)}, plan.joint);
  return IsContiguous(plan.joint, EmptyLikeStrides(plan.joint, expanded));
}

// Indexing.cu: rows that are added are put in order first: places of rows in one list, sorted with
// where they came from.
void AccumulateOnCuda(const OpView& op, bool checked, Allocations& memory) {
  const Advanced plan = PutPlan(op);
  const TensorView self = op.self(), values = op.tensor(2);
  const std::int64_t count = work::Elements(plan.joint).value();
  if (count == 0) return;
  const auto copy = cuda::Contiguous(self, memory);
  ListsOnCuda lists(op, plan, ListsOnCuda::Casts::kOfIndices, memory);
  Allocations::Scratch places = RowNumbersOnCuda(op, plan, checked, memory);
  lists.FreeForwards();
  if (values.count() == 0) {
    memory.Free(places);
    return allocations::Free(copy, memory);
  }
  const std::int64_t written = work::Elements(plan.sizes).value();
  const bool expands = values.count() != written || !values.is_contiguous();
  const auto dense = memory.Allocate(expands ? allocations::Bytes(written, values.dtype()) : 0);
  const std::int64_t bytes = allocations::Bytes(count, DType::kInt64);
  const Rows rows = RowsOf(op, plan);
  const auto moved = memory.Allocate(rows.moved ? self.bytes() : 0);
  if (!RowNumbersLieInOrder(plan)) {
    const auto in_order = memory.Allocate(bytes);
    memory.Free(places);
    places = in_order;
  }
  const auto sorted = memory.Allocate(bytes), origins = memory.Allocate(bytes),
             range = memory.Allocate(bytes);
  cuda::FillResized(op, count, DType::kInt64, memory);
  const std::int64_t largest = (self.count() - 1) / std::max<std::int64_t>(rows.length, 1);
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
  memory.Free(memory.Allocate(cuda::SortPairsBytes(count, bits, op.target())));
  for (const auto scratch : {range, origins, sorted, moved, dense}) memory.Free(scratch);
  memory.Free(places);
  allocations::Free(copy, memory);
}

void IndexPutOnCuda(const OpView& op, Allocations& memory) {
  if (FillsMasks(op) || Defined(op.tensors(1)).empty()) return;
  if (op.boolean(3)) return AccumulateOnCuda(op, !op.boolean(4), memory);
  const Advanced plan = PutPlan(op);
  ListsOnCuda lists(op, plan, ListsOnCuda::Casts::kOfExpanded, memory);
  LayOutAlike(plan, lists);
  lists.FreeForwards();
}

Work IndexPutWork(const OpView& op) {
  if (FillsMasks(op)) return {.compare = work::Elements(op.self())};
  const Count count = work::Elements(PutPlan(op).sizes);
  return op.boolean(3) ? Work{.alu = count} : Work{.move = count};
}

// The values and indices are read, and where they accumulate also what they are added to.
Traffic IndexPutTraffic(const OpView& op) {
  if (FillsMasks(op)) return traffic::ReadAllWriteAll(op);
  const Count count = work::Elements(PutPlan(op).sizes);
  const Count touched = count * (BitsOf(op.self().dtype()) / 8);
  Traffic total{.read = traffic::Bytes(op.tensor(2)), .written = touched};
  for (const TensorView& index : Defined(op.tensors(1))) total.read += traffic::Bytes(index);
  if (op.boolean(3)) total.read += touched;
  return total;
}

std::vector<Tensor> IndexPut(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::clone", d.tensor(op, 0));
  return {d.Call("aten::index_put_", out, op.arg(1), op.arg(2), op.arg(3))};
}

// --- index_select -------------------------------------------------------------------------------

void IndexSelectShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const TensorView index = op.tensor(2);
  RequireIndex(index);
  if (index.rank() > 1) Refuse("the index has more than one dimension: " + shape::Text(index));
  const int dim = op.dim(1, self.rank());
  Dims sizes(self.sizes());
  if (self.rank() > 0) {
    if (self.size(dim) == 0 && index.count() > 0) Refuse("there is nothing to select from");
    sizes[dim] = index.count();
  }
  out.Add(self.dtype(), sizes);
}

// The index is made contiguous; along dimension 1, for which there is a kernel, the operand too.
void IndexSelectAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  if (op.output().count() == 0) return;
  const auto index = allocations::Contiguous(op.tensor(2), memory);
  if (op.self().rank() > 1 && op.dim(1, op.self().rank()) == 1) {
    allocations::Free(allocations::Contiguous(op.self(), memory), memory);
  }
  allocations::Free(index, memory);
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Kernel(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, Gradient grad, ShapeFn shape,
                       DeviceAllocations allocations,
                       TrafficFn traffic = traffic::ReadPartOfFirst) {
  return Kernel(Family::kIndexing, {name, summary, signature, example},
                {shape, Fusion::kInjective, allocations, work::Move, grad, precision::kFollow},
                Alias::kNone, traffic);
}

constexpr OpDef Put(const Words& words, Gradient grad) {
  return Kernel(
      Family::kIndexing, words,
      {IndexPutShape, Fusion::kOpaque, DeviceAllocations{IndexPutAllocations, IndexPutOnCuda},
       IndexPutWork, grad, precision::kFollow},
      Alias::kInPlace, IndexPutTraffic);
}

constexpr OpDef Call(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kIndexing, decompose,
                   precision::kFollow, grad);
}

constexpr std::array kRows{
    Kernel("aten::index_select", "Rows of a dimension chosen by an index.",
           "(Tensor self, int dim, Tensor index) -> Tensor",
           "aten::index_select(f32[4,6,8]{48,8,1}, 1, i64[3])", gradients::kIndexSelect,
           IndexSelectShape, IndexSelectAllocations),
    Knowing(contents::Looked,
            Kernel("aten::index.Tensor", "Elements chosen by a list of index tensors.",
                   "(Tensor self, Tensor?[] indices) -> Tensor",
                   "aten::index.Tensor(f32[4,6,8], [None, i64[3,1], i32[2]])", gradients::kIndex,
                   IndexShape, {IndexAllocations, IndexOnCuda})),
    Put({"aten::index_put_", "Overwrites, or adds to, elements chosen by a list of index tensors.",
         "(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) "
         "-> Tensor(a!)",
         "aten::index_put_(f32[4,6], [i64[3]], f32[3,6], True)"},
        gradients::kIndexPut),
    Put({"aten::_index_put_impl_", "The same; `unsafe` says that indices need no check.",
         "(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool "
         "unsafe=False) -> Tensor(a!)",
         "aten::_index_put_impl_(f32[4,6], [i64[3]], f32[3,6], True, True)"},
        gradients::kIndexPutImpl),
    CopyingOut(Casting(
        precision::kPromoteOnCuda,
        Call("aten::index_put", "A copy in which elements chosen by index tensors are overwritten.",
             "(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
             "aten::index_put(f32[4,6], [i64[3]], f32[6])", IndexPut, gradients::kIndexPut))),
    Call("aten::_unsafe_index.Tensor", "Elements chosen by index tensors that nobody checks.",
         "(Tensor self, Tensor?[] indices) -> Tensor",
         "aten::_unsafe_index.Tensor(f32[4,6,8], [None, i64[3,1], i32[2]])",
         decompose::SameAs<"aten::index.Tensor">, gradients::kUnsafeIndex),
    Call("aten::_unsafe_index_put", "The same for a copy in which they are overwritten.",
         "(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
         "aten::_unsafe_index_put(f32[4,6], [i64[3]], f32[6])",
         decompose::SameAs<"aten::index_put">, gradients::kUnsafeIndexPut),
};

}  // namespace

std::optional<std::int64_t> ChosenByValues(const OpView& op) {
  const std::vector<TensorView> indices = op.tensors(1);
  if (!HasMask(indices)) return std::nullopt;
  return ChosenByValues(op, PlanFor(op.self(), indices, MostChosen(indices)));
}

std::span<const OpDef> Indexing() { return kRows; }

}  // namespace steelyard::ops
