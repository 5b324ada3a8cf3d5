// SPDX-License-Identifier: Apache-2.0
//
// Views: nothing is allocated and nothing computed; only sizes and strides change. A view keeps the
// storage of its source alive.

#include "ops/gradients/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Shapes --------------------------------------------------------------------------------------

struct Geometry {
  Dims sizes, strides;
};

Geometry GeometryOf(const TensorView& t) { return {Dims(t.sizes()), Dims(t.strides())}; }

// The stride of a new dimension in front of one of that size and stride.
std::int64_t Reach(std::int64_t size, std::int64_t stride) {
  const Count reach = Count(size) * stride;
  if (reach.overflowed()) Contradict(fmt::format("a stride of {} times {}", size, stride));
  return reach.value();
}

void AddView(const TensorView& t, const Geometry& g, Outputs& out) {
  out.Add(t.dtype(), g.sizes, g.strides);
}

Dims Inferred(const TensorView& t, std::span<const std::int64_t> wanted) {
  const std::optional<Dims> sizes = InferSize(wanted, t.count());
  if (!sizes) {
    Contradict(
        fmt::format("{} elements cannot have the shape [{}]", t.count(), fmt::join(wanted, ", ")));
  }
  return *sizes;
}

void ViewShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const Dims sizes = Inferred(self, op.ints(1));
  const std::optional<Dims> strides = ViewStrides(self.sizes(), self.strides(), sizes);
  if (!strides) {
    Refuse(fmt::format("a view as [{}] needs a copy", fmt::join(sizes, ", ")), "Use reshape.");
  }
  out.Add(self.dtype(), sizes, *strides);
}

// The same bytes as elements of another width: the last dimension grows or shrinks.
void ReadAsShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const std::optional<DType> dtype = op.dtype(1);
  if (!dtype) Refuse("the dtype must be given");
  const std::int64_t own = BitsOf(self.dtype()), wanted = BitsOf(*dtype);
  Geometry g = GeometryOf(self);
  if (own != wanted) {
    if (self.rank() == 0 || self.stride(-1) != 1) {
      Refuse(fmt::format("{} cannot be read in another width", shape::Text(self)));
    }
    const int last = self.rank() - 1;
    const auto scaled = [&](std::int64_t count) {
      if (own > wanted) return Reach(count, own / wanted);
      if (count % (wanted / own) != 0) {
        Refuse(fmt::format("{} cannot be read as {}", shape::Text(self), ShortNameOf(*dtype)));
      }
      return count / (wanted / own);
    };
    g.sizes[last] = scaled(g.sizes[last]);
    for (int i = 0; i < last; ++i) g.strides[i] = scaled(g.strides[i]);
  }
  out.Add(*dtype, g.sizes, g.strides);
}

void TransposeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  Geometry g = GeometryOf(self);
  const int a = op.dim(1, self.rank()), b = op.dim(2, self.rank());
  if (self.rank() > 0) {
    std::swap(g.sizes[a], g.sizes[b]);
    std::swap(g.strides[a], g.strides[b]);
  }
  AddView(self, g, out);
}

void TShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() > 2)
    Refuse(fmt::format("t() takes at most 2 dimensions, not {}", self.rank()), "Use transpose.");
  Geometry g = GeometryOf(self);
  if (self.rank() == 2) {
    std::swap(g.sizes[0], g.sizes[1]);
    std::swap(g.strides[0], g.strides[1]);
  }
  AddView(self, g, out);
}

// The order of dimensions that `moved` gives: a permutation of [0, rank).
void AddPermuted(const TensorView& self, std::span<const std::int64_t> order, Outputs& out) {
  Geometry g;
  shape::DimSet seen = 0;
  for (std::int64_t d : order) {
    const std::int64_t wrapped = d < 0 ? d + self.rank() : d;
    if (wrapped < 0 || wrapped >= self.rank() || shape::Has(seen, static_cast<int>(wrapped))) {
      Refuse(fmt::format("[{}] does not order {} dimensions", fmt::join(order, ", "), self.rank()));
    }
    seen |= shape::DimSet{1} << wrapped;
    g.sizes.push_back(self.size(static_cast<int>(wrapped)));
    g.strides.push_back(self.stride(static_cast<int>(wrapped)));
  }
  if (g.sizes.size() != self.rank()) {
    Refuse(fmt::format("[{}] does not order {} dimensions", fmt::join(order, ", "), self.rank()));
  }
  AddView(self, g, out);
}

void PermuteShape(const OpView& op, Outputs& out) { AddPermuted(op.self(), op.ints(1), out); }

void ReverseShape(const OpView& op, Outputs& out) {
  Dims order;
  for (int d = op.self().rank() - 1; d >= 0; --d) order.push_back(d);
  AddPermuted(op.self(), order, out);
}

void MatrixTransposeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() < 2)
    Refuse(fmt::format("a tensor of {} dimensions has no matrices", self.rank()));
  Dims order;
  for (int d = 0; d < self.rank() - 2; ++d) order.push_back(d);
  order.push_back(self.rank() - 1);
  order.push_back(self.rank() - 2);
  AddPermuted(self, order, out);
}

void ExpandShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const Dims wanted = op.ints(1);
  const int lead = wanted.size() - self.rank();
  if (lead < 0)
    Refuse(fmt::format("expand to [{}] has too few dimensions for {}", fmt::join(wanted, ", "),
                       shape::Text(self)));
  Geometry g{Dims::Filled(wanted.size(), 0), Dims::Filled(wanted.size(), 0)};
  for (int i = wanted.size() - 1; i >= 0; --i) {
    const bool fresh = i < lead;
    const std::int64_t have = fresh ? 1 : self.size(i - lead);
    // A new dimension continues the strides of those behind it, as if it had size 1; all those of a
    // number have none.
    std::int64_t stride = 0;
    if (!fresh) {
      stride = self.stride(i - lead);
    } else if (self.rank() > 0) {
      stride = i + 1 < wanted.size() ? Reach(g.sizes[i + 1], g.strides[i + 1]) : 1;
    }
    std::int64_t size = wanted[i];
    if (size == -1 && !fresh) size = have;
    if (size < 0 || (have != size && have != 1)) {
      Refuse(fmt::format("{} does not expand to [{}]", shape::Text(self), fmt::join(wanted, ", ")));
    }
    g.sizes[i] = size;
    g.strides[i] = have == size ? stride : 0;
  }
  AddView(self, g, out);
}

void AddSlice(const TensorView& self, int dim, std::int64_t size, std::int64_t step, Outputs& out) {
  Geometry g = GeometryOf(self);
  g.sizes[dim] = size;
  if (__builtin_mul_overflow(g.strides[dim], step, &g.strides[dim]))
    Refuse(fmt::format("a step of {} is too large", step));
  AddView(self, g, out);
}

void SliceShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() == 0) Refuse("a 0-dim tensor cannot be sliced");
  const int dim = op.dim(1, self.rank());
  const std::int64_t n = self.size(dim);
  const std::int64_t step = op.integer(4, 1);
  if (step <= 0) Refuse(fmt::format("a slice needs a positive step, not {}", step));
  const auto wrap = [n](std::int64_t i) {
    return std::clamp(i < 0 && i >= -n ? i + n : i, std::int64_t{0}, n);
  };
  const std::int64_t start = wrap(op.integer(2, 0));
  const std::int64_t end = std::max(start, wrap(op.integer(3, n)));
  AddSlice(self, dim, (end - start) / step + ((end - start) % step != 0 ? 1 : 0), step, out);
}

// The elements (i, i + offset) of two dimensions, as a new last one.
void DiagonalShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int a = op.dim(2, self.rank()), b = op.dim(3, self.rank());
  if (self.rank() < 2 || a == b) Refuse(fmt::format("no diagonal of {}", shape::Text(self)));
  const std::int64_t offset = op.integer(1);
  const std::int64_t rows = self.size(a) + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns = self.size(b) - std::max<std::int64_t>(offset, 0);
  Geometry g = GeometryOf(self);
  g.sizes.push_back(std::max<std::int64_t>(std::min(rows, columns), 0));
  std::int64_t stride = 0;
  if (__builtin_add_overflow(self.stride(a), self.stride(b), &stride)) {
    Refuse(fmt::format("the strides of {} are too large", shape::Text(self)));
  }
  g.strides.push_back(stride);
  for (int dim : {std::max(a, b), std::min(a, b)}) {
    g.sizes.erase(dim);
    g.strides.erase(dim);
  }
  AddView(self, g, out);
}

void NarrowShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  const std::int64_t length = op.integer(3);
  if (length < 0 || length > self.size(dim)) {
    Refuse(fmt::format("a length of {} does not fit dimension {} of {}", length, dim,
                       shape::Text(self)));
  }
  AddSlice(self, dim, length, 1, out);
}

void SelectShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() == 0) Refuse("a 0-dim tensor has no dimension to select from");
  const int dim = op.dim(1, self.rank());
  const std::int64_t index = op.integer(2), n = self.size(dim);
  if (index < -n || index >= n)
    Refuse(fmt::format("index {} is out of range for dimension {} of {}", index, dim,
                       shape::Text(self)));
  Geometry g = GeometryOf(self);
  g.sizes.erase(dim);
  g.strides.erase(dim);
  AddView(self, g, out);
}

void UnsqueezeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() == Dims::kMaxRank)
    Refuse(fmt::format("a tensor has at most {} dimensions", Dims::kMaxRank));
  const int dim = op.dim(1, self.rank() + 1);
  Geometry g = GeometryOf(self);
  g.strides.insert(dim, dim < self.rank() ? Reach(self.size(dim), self.stride(dim)) : 1);
  g.sizes.insert(dim, 1);
  AddView(self, g, out);
}

// Drops the dimensions of size 1 among `dims`.
void AddSqueezed(const TensorView& self, shape::DimSet dims, Outputs& out) {
  Geometry g;
  for (int d = 0; d < self.rank(); ++d) {
    if (shape::Has(dims, d) && self.size(d) == 1) continue;
    g.sizes.push_back(self.size(d));
    g.strides.push_back(self.stride(d));
  }
  AddView(self, g, out);
}

void SqueezeAllShape(const OpView& op, Outputs& out) {
  AddSqueezed(op.self(), ~shape::DimSet{0}, out);
}

void SqueezeDimShape(const OpView& op, Outputs& out) {
  AddSqueezed(op.self(), shape::DimSet{1} << op.dim(1, op.self().rank()), out);
}

void SqueezeDimsShape(const OpView& op, Outputs& out) {
  AddSqueezed(op.self(), shape::DimsOf(op, 1, op.self().rank()), out);
}

// More parts than this can only come from a damaged file.
constexpr std::int64_t kMaxParts = 1 << 20;

void AddParts(const TensorView& self, int dim, std::int64_t part, Outputs& out) {
  const std::int64_t n = self.size(dim);
  if (part < 0 || (part == 0 && n > 0)) Refuse(fmt::format("parts of size {}", part));
  if (part > 0 && n / part > kMaxParts) Refuse(fmt::format("{} parts are too many", n / part));
  if (n == 0) AddSlice(self, dim, 0, 1, out);
  for (std::int64_t at = 0; at < n; at += std::min(part, n - at))
    AddSlice(self, dim, std::min(part, n - at), 1, out);
}

void SplitShape(const OpView& op, Outputs& out) {
  AddParts(op.self(), op.dim(2, op.self().rank()), op.integer(1), out);
}

void SplitWithSizesShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int dim = op.dim(2, self.rank());
  std::int64_t sum = 0;
  for (std::int64_t part : op.integers(1)) {
    if (part < 0 || part > self.size(dim))
      Refuse(fmt::format("a part of size {} of {}", part, shape::Text(self)));
    sum += part;
    AddSlice(self, dim, part, 1, out);
  }
  shape::RequireEqual("the sum of the parts and the size", sum, self.size(dim));
}

void UnbindShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() == 0) Refuse("a 0-dim tensor cannot be unbound");
  const int dim = op.dim(1, self.rank());
  if (self.size(dim) > kMaxParts) Refuse(fmt::format("{} parts are too many", self.size(dim)));
  Geometry g = GeometryOf(self);
  g.sizes.erase(dim);
  g.strides.erase(dim);
  for (std::int64_t i = 0; i < self.size(dim); ++i) AddView(self, g, out);
}

void AsStridedShape(const OpView& op, Outputs& out) {
  const Dims sizes = op.ints(1), strides = op.ints(2);
  shape::RequireEqual("the number of sizes and of strides", sizes.size(), strides.size());
  out.Add(op.self().dtype(), sizes, strides);
}

// --- Composites ----------------------------------------------------------------------------------

std::vector<Tensor> Reshape(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const Dims sizes = Inferred(self, op.ints(1));
  if (self.is_contiguous()) return {d.Call("aten::view", d.tensor(op, 0), sizes)};
  if (const std::optional<Dims> strides = ViewStrides(self.sizes(), self.strides(), sizes)) {
    return {d.Call("aten::_reshape_alias", d.tensor(op, 0), sizes, *strides)};
  }
  constexpr std::int64_t kContiguousFormat = 0;
  return {d.Call("aten::_unsafe_view", d.Call("aten::clone", d.tensor(op, 0), kContiguousFormat),
                 sizes)};
}

std::vector<Tensor> Ravel(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::view", d.Call("aten::contiguous", op.arg(0)), Dims{-1})};
}

std::vector<Tensor> Flatten(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const int start = op.dim(1, self.rank()), end = op.dim(2, self.rank());
  if (start > end) Refuse(fmt::format("flatten from dimension {} to {}", start, end));
  if (self.rank() == 0) return {d.Call("aten::reshape", d.tensor(op, 0), Dims{1})};
  if (start == end) return {d.tensor(op, 0)};
  Dims sizes;
  std::int64_t merged = 1;
  for (int i = 0; i < self.rank(); ++i) {
    if (i >= start && i <= end) merged *= self.size(i);
    if (i == end) sizes.push_back(merged);
    if (i < start || i > end) sizes.push_back(self.size(i));
  }
  return {d.Call("aten::reshape", d.tensor(op, 0), sizes)};
}

std::vector<Tensor> Unflatten(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  const Dims parts = op.ints(2);
  const std::optional<Dims> inner = InferSize(parts, self.size(dim));
  if (!inner)
    Refuse(fmt::format("a dimension of {} does not unflatten to [{}]", self.size(dim),
                       fmt::join(parts, ", ")));
  Dims sizes;
  for (int i = 0; i < self.rank(); ++i) {
    if (i != dim) sizes.push_back(self.size(i));
    if (i == dim)
      for (std::int64_t part : *inner) sizes.push_back(part);
  }
  return {d.Call("aten::view", d.tensor(op, 0), sizes)};
}

constexpr std::int64_t kMaxEmptyChunks = Dims::kMaxRank;

std::vector<Tensor> Chunk(Dispatcher& d, const OpView& op) {
  const int dim = op.dim(2, op.self().rank());
  const std::int64_t n = op.self().size(dim), chunks = op.integer(1);
  if (chunks <= 0) Refuse(fmt::format("{} chunks", chunks));
  if (n == 0) {  // as many empty parts as were asked for
    const Dims parts = Dims::Filled(static_cast<int>(std::min(chunks, kMaxEmptyChunks)), 0);
    return d.CallMany("aten::split_with_sizes", d.tensor(op, 0), parts, dim);
  }
  return d.CallMany("aten::split.Tensor", d.tensor(op, 0), n / chunks + (n % chunks != 0 ? 1 : 0),
                    dim);
}

std::vector<Tensor> SplitSizes(Dispatcher& d, const OpView& op) {
  return d.CallMany("aten::split_with_sizes", d.tensor(op, 0), op.arg(1), op.arg(2));
}

std::vector<Tensor> ViewAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::view", d.tensor(op, 0), Dims(op.tensor(1).sizes()))};
}

std::vector<Tensor> ExpandAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::expand", d.tensor(op, 0), Dims(op.tensor(1).sizes()))};
}

std::vector<Tensor> BroadcastTensors(Dispatcher& d, const OpView& op) {
  const std::vector<TensorView> views = op.tensors(0);
  const Dims sizes = shape::Broadcast(views);
  std::vector<Tensor> out;
  for (Tensor& t : d.tensors(op, 0)) {
    out.push_back(std::ranges::equal(t.sizes(), sizes) ? t : d.Call("aten::expand", t, sizes));
  }
  return out;
}

// Source dimensions to destinations, the others in order in what remains.
std::vector<Tensor> Movedim(Dispatcher& d, const OpView& op) {
  const int rank = op.self().rank();
  const Dims from = op.ints(1), to = op.ints(2);
  shape::RequireEqual("the number of sources and of destinations", from.size(), to.size());
  Dims order = Dims::Filled(rank, -1);
  shape::DimSet taken = 0;
  const auto wrapped = [rank](std::int64_t v) {
    const std::int64_t w = v < 0 ? v + rank : v;
    if (w < 0 || w >= rank)
      Refuse(fmt::format("dimension {} is out of range for {} dimensions", v, rank));
    return static_cast<int>(w);
  };
  for (int i = 0; i < from.size(); ++i) {
    order[wrapped(to[i])] = wrapped(from[i]);
    taken |= shape::DimSet{1} << wrapped(from[i]);
  }
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    if (order[i] >= 0) continue;
    while (shape::Has(taken, next)) ++next;
    order[i] = next++;
  }
  return {d.Call("aten::permute", d.tensor(op, 0), order)};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef ViewKernel(OpName name, std::string_view summary, Signature signature,
                           std::string_view example, Gradient grad, ShapeFn shape,
                           Alias alias = Alias::kView) {
  return Kernel(Family::kView, {name, summary, signature, example},
                {shape, Fusion::kView, allocations::None, work::None, grad, precision::kFollow},
                alias, traffic::None);
}

constexpr OpDef ViewComposite(OpName name, std::string_view summary, Signature signature,
                              std::string_view example, DecomposeFn decompose,
                              Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kView, decompose, precision::kFollow,
                   grad, Alias::kView);
}

constexpr std::array kRows{
    Knowing(contents::Reshaped,
            ViewKernel("aten::view", "The same elements in another shape, without a copy.",
                       "(Tensor(a) self, SymInt[] size) -> Tensor(a)",
                       "aten::view(f32[2,6], [3,-1])", gradients::kView, ViewShape)),
    ViewKernel("aten::view.dtype", "The same bytes as elements of another dtype.",
               "(Tensor(a) self, ScalarType dtype) -> Tensor(a)", "aten::view.dtype(f32[2,6], i8)",
               kNoGradient, ReadAsShape),
    Knowing(contents::Reshaped,
            ViewKernel("aten::_unsafe_view",
                       "A view that autograd does not take for one: its source is about to die.",
                       "(Tensor self, SymInt[] size) -> Tensor",
                       "aten::_unsafe_view(f32[2,6], [3,4])", gradients::kUnsafeView, ViewShape)),
    Knowing(contents::Reshaped,
            ViewKernel("aten::_reshape_alias", "A view with the given sizes and strides.",
                       "(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
                       "aten::_reshape_alias(f32[2,6], [3,4], [4,1])", gradients::kReshapeAlias,
                       AsStridedShape)),
    ViewKernel("aten::as_strided", "A view with the given sizes and strides.",
               "(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
               "Tensor(a)",
               "aten::as_strided(f32[2,6], [3,2], [2,1])", gradients::kAsStrided, AsStridedShape),
    ViewKernel("aten::as_strided_", "The tensor itself with other sizes and strides.",
               "(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
               "Tensor(a!)",
               "aten::as_strided_(f32[2,6], [3,2], [2,1])", gradients::kAsStridedInPlace,
               AsStridedShape, Alias::kInPlace),
    Knowing(contents::Transposed, ViewKernel("aten::transpose.int", "Two dimensions exchanged.",
                                             "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                                             "aten::transpose.int(f32[2,3,4], 1, -1)",
                                             gradients::kTranspose, TransposeShape)),
    Knowing(contents::Transposed,
            ViewKernel("aten::swapaxes", "Two dimensions exchanged.",
                       "(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
                       "aten::swapaxes(f32[2,3,4], 0, 2)", gradients::kTranspose, TransposeShape)),
    Knowing(
        contents::TransposedLast,
        ViewKernel("aten::t", "A matrix transposed; vectors and numbers stay as they are.",
                   "(Tensor(a) self) -> Tensor(a)", "aten::t(f32[2,3])", gradients::kT, TShape)),
    Knowing(contents::Transposed,
            ViewKernel("aten::swapdims", "Two dimensions exchanged.",
                       "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                       "aten::swapdims(f32[2,3,4], 0, 2)", gradients::kTranspose, TransposeShape)),
    ViewKernel("aten::numpy_T", "All dimensions in reverse.", "(Tensor(a) self) -> Tensor(a)",
               "aten::numpy_T(f32[2,3])", gradients::kNumpyT, ReverseShape),
    Knowing(contents::TransposedLast,
            ViewKernel("aten::mT", "The last two dimensions exchanged.",
                       "(Tensor(a) self) -> Tensor(a)", "aten::mT(f32[2,3,4])", gradients::kMT,
                       MatrixTransposeShape)),
    Knowing(contents::Permuted,
            ViewKernel("aten::permute", "Dimensions in another order.",
                       "(Tensor(a) self, int[] dims) -> Tensor(a)",
                       "aten::permute(f32[2,3,4], [2,0,-2])", gradients::kPermute, PermuteShape)),
    Knowing(contents::Expanded,
            ViewKernel("aten::expand", "Dimensions of size 1 repeated without a copy.",
                       "(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
                       "aten::expand(f32[3,1], [2,-1,4])", gradients::kExpand, ExpandShape)),
    Knowing(contents::Sliced,
            ViewKernel(
                "aten::slice.Tensor",
                "Every `step`-th element from `start` to `end` along a dimension.",
                "(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) "
                "-> Tensor(a)",
                "aten::slice.Tensor(f32[4,10], 1, 2, -1, 3)", gradients::kSlice, SliceShape)),
    Knowing(contents::Narrowed,
            ViewKernel("aten::narrow", "A range of a dimension.",
                       "(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
                       "aten::narrow(f32[4,10], 1, 2, 5)", gradients::kNarrow, NarrowShape)),
    ViewKernel("aten::diagonal", "A diagonal of two dimensions, as a new last one.",
               "(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
               "aten::diagonal(f32[4,10], 1)", gradients::kDiagonal, DiagonalShape),
    Knowing(contents::Selected,
            ViewKernel("aten::select.int", "One index of a dimension, which goes.",
                       "(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
                       "aten::select.int(f32[4,10], 0, -1)", gradients::kSelect, SelectShape)),
    Knowing(contents::Reshaped,
            ViewKernel("aten::unsqueeze", "A new dimension of size 1.",
                       "(Tensor(a) self, int dim) -> Tensor(a)", "aten::unsqueeze(f32[4,10], -1)",
                       gradients::kUnsqueeze, UnsqueezeShape)),
    Knowing(contents::Reshaped,
            ViewKernel("aten::squeeze", "Without the dimensions of size 1.",
                       "(Tensor(a) self) -> Tensor(a)", "aten::squeeze(f32[1,4,1])",
                       gradients::kSqueeze, SqueezeAllShape)),
    Knowing(contents::Reshaped,
            ViewKernel("aten::squeeze.dim", "Without a dimension, if its size is 1.",
                       "(Tensor(a) self, int dim) -> Tensor(a)", "aten::squeeze.dim(f32[4,1], 1)",
                       gradients::kSqueezeDim, SqueezeDimShape)),
    Knowing(contents::Reshaped,
            ViewKernel("aten::squeeze.dims", "Without those of the dimensions whose size is 1.",
                       "(Tensor(a) self, int[] dim) -> Tensor(a)",
                       "aten::squeeze.dims(f32[1,4,1], [0,2])", gradients::kSqueezeDims,
                       SqueezeDimsShape)),
    ViewKernel("aten::split.Tensor", "Parts of a size along a dimension, the last one shorter.",
               "(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
               "aten::split.Tensor(f32[7,2], 3)", gradients::kSplit, SplitShape),
    ViewKernel("aten::split_with_sizes", "Parts of given sizes along a dimension.",
               "(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
               "aten::split_with_sizes(f32[7,2], [3,4])", gradients::kSplitSizes,
               SplitWithSizesShape),
    ViewKernel("aten::unbind.int", "One tensor for each index of a dimension.",
               "(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", "aten::unbind.int(f32[3,2], 1)",
               gradients::kUnbind, UnbindShape),
    Knowing(contents::Same<0>, ViewKernel("aten::alias", "Another tensor on the same elements.",
                                          "(Tensor(a) self) -> Tensor(a)", "aten::alias(f32[3])",
                                          gradients::kAlias, shape::SameAs<0>)),
    Knowing(contents::Same<0>, ViewKernel("aten::detach", "The same elements without history.",
                                          "(Tensor(a) self) -> Tensor(a)", "aten::detach(f32[3])",
                                          kNoGradient, shape::SameAs<0>)),
    Kernel(Family::kView,
           {"aten::detach_", "Drops the history; the elements stay.",
            "(Tensor(a!) self) -> Tensor(a!)", "aten::detach_(f32[3])"},
           {shape::SameAs<0>, Fusion::kView, allocations::None, work::None, kNoGradient,
            precision::kFollow},
           Alias::kInPlace, traffic::None),
    ViewComposite("aten::reshape",
                  "Another shape: a view if the strides allow it, a copy otherwise.",
                  "(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
                  "aten::reshape(f32[2,3]{1,2}, [6])", Reshape),
    ViewComposite("aten::ravel", "All elements in one dimension.", "(Tensor(a) self) -> Tensor(a)",
                  "aten::ravel(f32[2,3]{1,2})", Ravel),
    ViewComposite("aten::flatten.using_ints", "A range of dimensions merged into one.",
                  "(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
                  "aten::flatten.using_ints(f32[2,3,4], 1)", Flatten),
    ViewComposite("aten::unflatten.int", "A dimension taken apart.",
                  "(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
                  "aten::unflatten.int(f32[2,12], 1, [3,-1])", Unflatten),
    ViewComposite("aten::chunk", "A dimension cut into a number of equal parts.",
                  "(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
                  "aten::chunk(f32[7,2], 3)", Chunk),
    ViewComposite("aten::split.sizes", "Parts of given sizes along a dimension.",
                  "(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
                  "aten::split.sizes(f32[7,2], [3,4])", SplitSizes),
    ViewComposite("aten::view_as", "The shape of another tensor, without a copy.",
                  "(Tensor(a) self, Tensor other) -> Tensor(a)",
                  "aten::view_as(f32[2,6], f32[3,4])", ViewAs),
    ViewComposite("aten::expand_as", "Expanded to the size of another tensor.",
                  "(Tensor(a) self, Tensor other) -> Tensor(a)",
                  "aten::expand_as(f32[1,4], f32[3,4])", ExpandAs),
    ViewComposite("aten::broadcast_tensors", "All expanded to the size they broadcast to.",
                  "(Tensor[] tensors) -> Tensor[]", "aten::broadcast_tensors([f32[1,4], f32[3,1]])",
                  BroadcastTensors),
    ViewComposite("aten::movedim.int", "A dimension moved to another place.",
                  "(Tensor(a) self, int source, int destination) -> Tensor(a)",
                  "aten::movedim.int(f32[2,3,4], 0, -1)", Movedim),
    ViewComposite("aten::moveaxis.int", "A dimension moved to another place.",
                  "(Tensor(a) self, int source, int destination) -> Tensor(a)",
                  "aten::moveaxis.int(f32[2,3,4], 0, -1)", decompose::SameAs<"aten::movedim.int">),
    ViewComposite("aten::moveaxis.intlist", "Dimensions moved to other places.",
                  "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                  "aten::moveaxis.intlist(f32[2,3,4], [0,1], [2,0])",
                  decompose::SameAs<"aten::movedim.intlist">),
    ViewComposite("aten::movedim.intlist", "Dimensions moved to other places.",
                  "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                  "aten::movedim.intlist(f32[2,3,4], [0,1], [2,0])", Movedim),
};

}  // namespace

std::span<const OpDef> View() { return kRows; }

}  // namespace steelyard::ops
