// SPDX-License-Identifier: Apache-2.0
//
// Views of the same elements in another shape: reshaped, expanded, sliced, with or without
// dimensions of size 1, as windows (ATen/native/TensorShape.cpp). Nothing is allocated and nothing
// computed; only sizes and strides change. A view keeps the storage of its source alive.

#include "ops/gradients/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/view.h"

namespace steelyard::ops {
namespace {

using shape::AddView;
using shape::Geometry;
using shape::GeometryOf;

// --- Shapes -------------------------------------------------------------------------------------

// The stride of a new dimension in front of one of that size and stride.
std::int64_t Reach(std::int64_t size, std::int64_t stride) {
  const Count reach = Count(size) * stride;
  if (reach.overflowed()) Contradict(fmt::format("a stride of {} times {}", size, stride));
  return reach.value();
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

void AsStridedShape(const OpView& op, Outputs& out) {
  const Dims sizes = op.ints(1), strides = op.ints(2);
  shape::RequireEqual("the number of sizes and of strides", sizes.size(), strides.size());
  out.Add(op.self().dtype(), sizes, strides);
  if (op.given(3)) out.BeginInStorage(op.integer(3));
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

// --- Parts of a dimension -----------------------------------------------------------------------

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
  out.BeginAfter(start, self.stride(dim));
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
  const std::int64_t start = op.integer(2);
  out.BeginAfter(start < 0 ? start + self.size(dim) : start, self.stride(dim));
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
  out.BeginAfter(index < 0 ? index + n : index, self.stride(dim));
}

void UnfoldShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  const std::int64_t size = op.integer(2), step = op.integer(3);
  const std::int64_t have = self.rank() == 0 ? 1 : self.size(dim);
  if (size < 0 || size > have || step <= 0) {
    Refuse(fmt::format("windows of {} by {} in {}", size, step, shape::Text(self)));
  }
  if (self.rank() >= Dims::kMaxRank) Refuse("too many dimensions");
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.push_back(size);
  strides.push_back(self.rank() == 0 ? 1 : self.stride(dim));
  if (self.rank() > 0) {
    sizes[dim] = (have - size) / step + 1;
    if (__builtin_mul_overflow(strides[dim], step, &strides[dim])) Refuse("the step is too large");
  }
  out.Add(self.dtype(), sizes, strides);
}

// --- Dimensions of size 1 -----------------------------------------------------------------------

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

// Of none asked for none goes.
void SqueezeDimsShape(const OpView& op, Outputs& out) {
  const bool none = op.ints(1).empty();
  AddSqueezed(op.self(), none ? 0 : shape::DimsOf(op, 1, op.self().rank()), out);
}

// --- Composites ---------------------------------------------------------------------------------

std::vector<Tensor> Reshape(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const Dims sizes = Inferred(self, op.ints(1));
  if (self.is_contiguous()) return {d.Call("aten::view", d.tensor(op, 0), sizes)};
  if (const std::optional<Dims> strides = ViewStrides(self.sizes(), self.strides(), sizes)) {
    return {d.Call("aten::_reshape_alias", d.tensor(op, 0), sizes, *strides)};
  }
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
  const auto range = self.sizes().subspan(static_cast<std::size_t>(start),
                                          static_cast<std::size_t>(end - start) + 1);
  const std::optional<std::int64_t> merged = NumElements(range);
  if (!merged) Contradict(fmt::format("{} are merged into more than 2^63", shape::Text(range)));
  Dims sizes;
  for (int i = 0; i < self.rank(); ++i) {
    if (i == end) sizes.push_back(*merged);
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

std::vector<Tensor> ViewAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::view", d.tensor(op, 0), Dims(op.tensor(1).sizes()))};
}

std::vector<Tensor> ExpandAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::expand", d.tensor(op, 0), Dims(op.tensor(1).sizes()))};
}

std::vector<Tensor> ReshapeAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::reshape", d.tensor(op, 0), Dims(op.tensor(1).sizes()))};
}

std::vector<Tensor> BroadcastTo(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::expand", d.tensor(op, 0), op.arg(1))};
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

// --- Rows ---------------------------------------------------------------------------------------

constexpr Gradient kSqueezeAllInPlace{"SqueezeBackward3",
                                      {GradientOf(0, {}, gradients::SqueezeSelf)}};
constexpr Gradient kSqueezeSeveralInPlace{"SqueezeBackward5",
                                          {GradientOf(0, {}, gradients::SqueezeSelf)}};

constexpr std::array kRows{
    Knowing(
        contents::Reshaped,
        ViewKernel({"aten::view", "The same elements in another shape, without a copy.",
                    "(Tensor(a) self, SymInt[] size) -> Tensor(a)", "aten::view(f32[2,6], [3,-1])"},
                   ViewShape, gradients::kView)),
    ViewKernel(
        {"aten::view.dtype", "The same bytes as elements of another dtype.",
         "(Tensor(a) self, ScalarType dtype) -> Tensor(a)", "aten::view.dtype(f32[2,6], i8)"},
        ReadAsShape, kNoGradient),
    TakingBits(
        MathBits::kBoth,
        CopyingOut(Knowing(
            contents::Reshaped,
            ViewKernel(
                {"aten::_unsafe_view",
                 "A view that autograd does not take for one: its source is about to die.",
                 "(Tensor self, SymInt[] size) -> Tensor", "aten::_unsafe_view(f32[2,6], [3,4])"},
                ViewShape, gradients::kUnsafeView)))),
    Knowing(contents::Reshaped,
            ViewKernel({"aten::_reshape_alias", "A view with the given sizes and strides.",
                        "(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
                        "aten::_reshape_alias(f32[2,6], [3,4], [4,1])"},
                       AsStridedShape, gradients::kReshapeAlias)),
    ViewKernel({"aten::as_strided", "A view with the given sizes and strides.",
                "(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
                "Tensor(a)",
                "aten::as_strided(f32[2,6], [3,2], [2,1])"},
               AsStridedShape, gradients::kAsStrided),
    TakingBits(
        MathBits::kBoth,
        ViewInPlace(
            {"aten::as_strided_", "The tensor itself with other sizes and strides.",
             "(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
             "Tensor(a!)",
             "aten::as_strided_(f32[2,6], [3,2], [2,1])"},
            AsStridedShape, gradients::kAsStridedInPlace)),
    Knowing(contents::Expanded,
            ViewKernel({"aten::expand", "Dimensions of size 1 repeated without a copy.",
                        "(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
                        "aten::expand(f32[3,1], [2,-1,4])"},
                       ExpandShape, gradients::kExpand)),
    Knowing(contents::Sliced,
            ViewKernel(
                {"aten::slice.Tensor",
                 "Every `step`-th element from `start` to `end` along a dimension.",
                 "(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) "
                 "-> Tensor(a)",
                 "aten::slice.Tensor(f32[4,10], 1, 2, -1, 3)"},
                SliceShape, gradients::kSlice)),
    Knowing(contents::Narrowed,
            ViewKernel({"aten::narrow", "A range of a dimension.",
                        "(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
                        "aten::narrow(f32[4,10], 1, 2, 5)"},
                       NarrowShape, gradients::kNarrow)),
    Knowing(contents::Selected,
            ViewKernel({"aten::select.int", "One index of a dimension, which goes.",
                        "(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
                        "aten::select.int(f32[4,10], 0, -1)"},
                       SelectShape, gradients::kSelect)),
    ViewKernel({"aten::unfold", "Windows along a dimension, as a new last one.",
                "(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
                "aten::unfold(f32[2,8], 1, 3, 2)"},
               UnfoldShape, gradients::kUnfold),
    Knowing(contents::Reshaped,
            ViewKernel({"aten::unsqueeze", "A new dimension of size 1.",
                        "(Tensor(a) self, int dim) -> Tensor(a)", "aten::unsqueeze(f32[4,10], -1)"},
                       UnsqueezeShape, gradients::kUnsqueeze)),
    TakingBits(
        MathBits::kBoth,
        ViewInPlace({"aten::unsqueeze_", "A dimension of size 1 inserted, in place.",
                     "(Tensor(a!) self, int dim) -> Tensor(a!)", "aten::unsqueeze_(f32[2,8], 1)"},
                    UnsqueezeShape, gradients::kUnsqueezeInPlace)),
    Knowing(contents::Reshaped,
            ViewKernel({"aten::squeeze", "Without the dimensions of size 1.",
                        "(Tensor(a) self) -> Tensor(a)", "aten::squeeze(f32[1,4,1])"},
                       SqueezeAllShape, gradients::kSqueeze)),
    Knowing(contents::Reshaped,
            ViewKernel({"aten::squeeze.dim", "Without a dimension, if its size is 1.",
                        "(Tensor(a) self, int dim) -> Tensor(a)", "aten::squeeze.dim(f32[4,1], 1)"},
                       SqueezeDimShape, gradients::kSqueezeDim)),
    Knowing(contents::Reshaped,
            ViewKernel({"aten::squeeze.dims", "Without those of the dimensions whose size is 1.",
                        "(Tensor(a) self, int[] dim) -> Tensor(a)",
                        "aten::squeeze.dims(f32[1,4,1], [0,2])"},
                       SqueezeDimsShape, gradients::kSqueezeDims)),
    TakingBits(MathBits::kBoth,
               ViewInPlace({"aten::squeeze_", "Dimensions of size 1 removed, in place.",
                            "(Tensor(a!) self) -> Tensor(a!)", "aten::squeeze_(f32[2,1,8])"},
                           SqueezeAllShape, kSqueezeAllInPlace)),
    ViewInPlace({"aten::squeeze_.dim", "A dimension of size 1 removed, in place.",
                 "(Tensor(a!) self, int dim) -> Tensor(a!)", "aten::squeeze_.dim(f32[2,1,8], 1)"},
                SqueezeDimShape, gradients::kSqueezeInPlace),
    ViewInPlace(
        {"aten::squeeze_.dims", "Some dimensions of size 1 removed, in place.",
         "(Tensor(a!) self, int[] dim) -> Tensor(a!)", "aten::squeeze_.dims(f32[2,1,8,1], [1])"},
        SqueezeDimsShape, kSqueezeSeveralInPlace),
    Knowing(contents::Same<0>, ViewKernel({"aten::alias", "Another tensor on the same elements.",
                                           "(Tensor(a) self) -> Tensor(a)", "aten::alias(f32[3])"},
                                          shape::SameAs<0>, gradients::kAlias)),
    Knowing(contents::Same<0>, ViewKernel({"aten::detach", "The same elements without history.",
                                           "(Tensor(a) self) -> Tensor(a)", "aten::detach(f32[3])"},
                                          shape::SameAs<0>, kGradientDropped)),
    TakingBits(MathBits::kBoth,
               ViewInPlace({"aten::detach_", "Drops the history; the elements stay.",
                            "(Tensor(a!) self) -> Tensor(a!)", "aten::detach_(f32[3])"},
                           shape::SameAs<0>, kGradientDropped)),
    ViewComposite(
        {"aten::reshape", "Another shape: a view if the strides allow it, a copy otherwise.",
         "(Tensor(a) self, SymInt[] shape) -> Tensor(a)", "aten::reshape(f32[2,3]{1,2}, [6])"},
        Reshape),
    ViewComposite({"aten::ravel", "All elements in one dimension.", "(Tensor(a) self) -> Tensor(a)",
                   "aten::ravel(f32[2,3]{1,2})"},
                  Ravel),
    ViewComposite({"aten::flatten.using_ints", "A range of dimensions merged into one.",
                   "(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
                   "aten::flatten.using_ints(f32[2,3,4], 1)"},
                  Flatten),
    ViewComposite({"aten::unflatten.int", "A dimension taken apart.",
                   "(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
                   "aten::unflatten.int(f32[2,12], 1, [3,-1])"},
                  Unflatten),
    ViewComposite(
        {"aten::view_as", "The shape of another tensor, without a copy.",
         "(Tensor(a) self, Tensor other) -> Tensor(a)", "aten::view_as(f32[2,6], f32[3,4])"},
        ViewAs),
    ViewComposite(
        {"aten::expand_as", "Expanded to the size of another tensor.",
         "(Tensor(a) self, Tensor other) -> Tensor(a)", "aten::expand_as(f32[1,4], f32[3,4])"},
        ExpandAs),
    Composite(
        Family::kView,
        {"aten::reshape_as", "The shape of another tensor.",
         "(Tensor(a) self, Tensor other) -> Tensor(a)", "aten::reshape_as(f32[2,6], f32[3,4])"},
        ReshapeAs),
    Composite(
        Family::kView,
        {"aten::broadcast_to", "Expanded to a size.",
         "(Tensor(a) self, SymInt[] size) -> Tensor(a)", "aten::broadcast_to(f32[1,4], [3,4])"},
        BroadcastTo),
    ViewComposite(
        {"aten::broadcast_tensors", "All expanded to the size they broadcast to.",
         "(Tensor[] tensors) -> Tensor[]", "aten::broadcast_tensors([f32[1,4], f32[3,1]])"},
        BroadcastTensors),
};

}  // namespace

std::span<const OpDef> View() { return kRows; }

}  // namespace steelyard::ops
