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
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
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

// The same on CUDA, where masks are searched.
std::vector<Allocations::Scratch> MakeIndicesOnCuda(const OpView& op, const Advanced& plan,
                                                    bool casts, Allocations& memory) {
  std::vector<Allocations::Scratch> out;
  const std::int64_t chosen = plan.joint.empty() ? 1 : plan.joint[plan.joint.size() - 1];
  for (const TensorView& index : Defined(op.tensors(1))) {
    if (!IsMask(index)) continue;
    const cuda::Searched in = cuda::SearchedIn(index);
    const cuda::Search search = cuda::BeginSearch(in, op.target(), memory);
    const Count positions = Count(chosen) * index.rank();
    out.push_back(memory.Allocate(allocations::Bytes(positions, DType::kInt64)));
    cuda::EndSearch(search, in, op.target(), memory);
  }
  const std::int64_t bytes = allocations::Bytes(work::Elements(plan.joint), DType::kInt64);
  for (const Index& index : plan.indices) {
    if (casts && index.dtype == DType::kInt32) out.push_back(memory.Allocate(bytes));
  }
  return out;
}

void IndexAllocations(const OpView& op, Allocations& memory) {
  const std::vector<Allocations::Scratch> made = MakeIndices(op, PlanOf(op), memory);
  memory.Output(0);
  for (std::size_t i = made.size(); i-- > 0;) memory.Free(made[i]);
}

void IndexOnCuda(const OpView& op, Allocations& memory) {
  const Advanced plan = PlanOf(op);
  std::vector<Allocations::Scratch> made = MakeIndicesOnCuda(op, plan, /*casts=*/true, memory);
  std::vector<Dims> strides;
  strides.reserve(plan.indices.size());
  for (const Index& index : plan.indices) strides.push_back(ExpandedStrides(index, plan.joint));
  if (!LieAlike(strides)) {
    const std::int64_t bytes = allocations::Bytes(work::Elements(plan.joint), DType::kInt64);
    for (const Dims& s : strides) {
      if (!IsContiguous(plan.joint, s)) made.push_back(memory.Allocate(bytes, "aten::empty"));
    }
  }
  memory.Output(0);
  for (std::size_t i = made.size(); i-- > 0;) memory.Free(made[i]);
}

// --- index_put ----------------------------------------------------------------------------------

// One value written through masks is a masked_fill, whose extent does not matter.
bool FillsMasks(const OpView& op) {
  const std::vector<TensorView> indices = Defined(op.tensors(1));
  return op.tensor(2).count() == 1 && !indices.empty() &&
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

// The least and the largest of the indices, and whether they lie within the dimension.
void CheckOnCuda(const OpView& op, const Index& index, const Dims& joint, Allocations& memory) {
  const DType dtype = DType::kInt64;
  const Dims strides = ContiguousStrides(joint);
  const auto largest = memory.Allocate(BitsOf(dtype) / 8),
             least = memory.Allocate(BitsOf(dtype) / 8);
  std::optional<Allocations::Scratch> dense;
  const bool whole = std::ranges::equal(Sizes(index.sizes), Sizes(joint));
  if (!whole || !IsContiguous(index.sizes, index.strides))
    dense = memory.Allocate(allocations::Bytes(work::Elements(joint), dtype));
  cuda::Stage(op, {joint, strides}, dtype, ~shape::DimSet{0},
              {.bytes = 2 * BitsOf(dtype) / 8, .fits_result = false}, memory);
  allocations::Free(dense, memory);
  for (int i = 0; i < 2; ++i) memory.Free(memory.Allocate(1));
  memory.Free(least);
  memory.Free(largest);
}

// Elements of a row: of the dimensions behind those that are indexed, or of all others where these
// do not lie next to each other.
struct Rows {
  std::int64_t length = 1;
  bool moved = false;
};
Rows RowsOf(const OpView& op) {
  const TensorView self = op.self();
  const std::vector<TensorView> indices = op.tensors(1);
  int first = self.rank(), last = -1, given = 0;
  for (int i = 0; i < static_cast<int>(indices.size()); ++i) {
    if (!indices[static_cast<std::size_t>(i)].defined()) continue;
    first = std::min(first, i);
    last = i;
    ++given;
  }
  Rows rows{.moved = last - first + 1 != given};
  for (int i = 0; i < self.rank(); ++i) {
    const bool indexed =
        i < static_cast<int>(indices.size()) && indices[static_cast<std::size_t>(i)].defined();
    if (!indexed && (rows.moved || i > last)) rows.length *= self.size(i);
  }
  return rows;
}

// Indexing.cu: rows that are added are put in order first: places of rows in one list, sorted with
// where they came from.
void AccumulateOnCuda(const OpView& op, bool checked, Allocations& memory) {
  const Advanced plan = PutPlan(op);
  const TensorView self = op.self(), values = op.tensor(2);
  const std::int64_t count = work::Elements(plan.joint).value();
  if (count == 0) return;
  std::vector<Allocations::Scratch> casts;
  for (const Index& index : plan.indices) {
    const std::int64_t elements = work::Elements(index.sizes).value();
    if (index.dtype == DType::kInt32)
      casts.push_back(memory.Allocate(allocations::Bytes(elements, DType::kInt64)));
  }
  const auto copy = cuda::Contiguous(self, memory);
  const std::int64_t bytes = allocations::Bytes(count, DType::kInt64);
  std::optional<Allocations::Scratch> places;
  for (const Index& index : plan.indices) {
    if (checked) CheckOnCuda(op, index, plan.joint, memory);
    const auto wrapped = memory.Allocate(bytes), scaled = memory.Allocate(bytes);
    memory.Free(wrapped);
    places ? memory.Free(scaled) : void(places = scaled);
  }
  for (const auto cast : casts) memory.Free(cast);
  if (values.count() == 0) {
    allocations::Free(places, memory);
    return allocations::Free(copy, memory);
  }
  const std::int64_t written = work::Elements(plan.sizes).value();
  const bool expands = values.count() != written || !values.is_contiguous();
  const auto dense = memory.Allocate(expands ? allocations::Bytes(written, values.dtype()) : 0);
  const Rows rows = RowsOf(op);
  const auto moved = memory.Allocate(rows.moved ? self.bytes() : 0);
  const auto sorted = memory.Allocate(bytes), origins = memory.Allocate(bytes),
             range = memory.Allocate(bytes);
  const std::int64_t largest = (self.count() - 1) / std::max<std::int64_t>(rows.length, 1);
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
  memory.Free(memory.Allocate(cuda::SortPairsBytes(count, bits, op.target())));
  for (const auto scratch : {range, origins, sorted, moved, dense}) memory.Free(scratch);
  allocations::Free(places, memory);
  allocations::Free(copy, memory);
}

void IndexPutOnCuda(const OpView& op, Allocations& memory) {
  if (FillsMasks(op) || Defined(op.tensors(1)).empty()) return;
  const bool adds = op.boolean(3);
  const std::vector<Allocations::Scratch> made =
      MakeIndicesOnCuda(op, PutPlan(op), /*casts=*/!adds, memory);
  if (adds) AccumulateOnCuda(op, !op.boolean(4), memory);
  for (std::size_t i = made.size(); i-- > 0;) memory.Free(made[i]);
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
