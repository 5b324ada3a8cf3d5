// SPDX-License-Identifier: Apache-2.0
//
// Further views, and tensors put together from others or from positions: diagonals, grids, stacks
// and shuffled channels (ATen/native/TensorShape.cpp, TensorFactories.cpp, PixelShuffle.cpp).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/gradients/view.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

constexpr OpDef Call(const Words& words, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(Family::kView, words, decompose, grad);
}
constexpr OpDef View(const Words& words, ShapeFn shape, Gradient grad, Alias alias = Alias::kView) {
  return Kernel(Family::kView, words,
                {.shape = shape,
                 .fusion = Fusion::kView,
                 .allocations = allocations::None,
                 .work = work::None,
                 .grad = grad,
                 .precision = precision::kFollow},
                alias, traffic::None);
}
constexpr OpDef ViewInPlace(const Words& words, ShapeFn shape, Gradient grad) {
  return View(words, shape, grad, Alias::kInPlace);
}
constexpr OpDef Made(const Words& words, ShapeFn shape, AllocationsFn allocations,
                     Gradient grad = kGradientUnknown) {
  return Kernel(Family::kDataMovement, words,
                {.shape = shape,
                 .fusion = Fusion::kInjective,
                 .allocations = allocations,
                 .work = work::Move,
                 .grad = grad,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::ReadWhatIsWritten);
}
constexpr OpDef Fresh(const Words& words, ShapeFn shape, AllocationsFn allocations) {
  return Kernel(Family::kFactory, words,
                {.shape = shape,
                 .fusion = Fusion::kInjective,
                 .allocations = allocations,
                 .work = work::Move,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::WriteOnly);
}

// More parts than this can only come from a damaged file.
constexpr std::int64_t kMostParts = 1 << 16;

// --- Windows as a dimension ---------------------------------------------------------------------

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

// --- In place -----------------------------------------------------------------------------------

void UnsqueezeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() >= Dims::kMaxRank) Refuse("too many dimensions");
  const int dim = op.dim(1, self.rank() + 1);
  Dims sizes, strides;
  for (int i = 0; i <= self.rank(); ++i) {
    if (i == dim) {
      sizes.push_back(1);
      strides.push_back(i < self.rank() ? self.size(i) * self.stride(i) : 1);
    }
    if (i < self.rank()) {
      sizes.push_back(self.size(i));
      strides.push_back(self.stride(i));
    }
  }
  out.Add(self.dtype(), sizes, strides);
}

void SqueezeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int dim = op.dim(1, self.rank());
  Dims sizes, strides;
  for (int i = 0; i < self.rank(); ++i) {
    if (i == dim && self.size(i) == 1) continue;
    sizes.push_back(self.size(i));
    strides.push_back(self.stride(i));
  }
  out.Add(self.dtype(), sizes, strides);
}

// self, dim: all of them where none is asked for
void SqueezeSeveralShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  shape::DimSet asked = ~shape::DimSet{0};
  if (op.arg_count() > 1) asked = op.ints(1).empty() ? 0 : shape::DimsOf(op, 1, self.rank());
  Dims sizes, strides;
  for (int i = 0; i < self.rank(); ++i) {
    if (self.size(i) == 1 && shape::Has(asked, i)) continue;
    sizes.push_back(self.size(i));
    strides.push_back(self.stride(i));
  }
  out.Add(self.dtype(), sizes, strides);
}

void TransposedMatrixShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  if (self.rank() > 2) Refuse("a matrix is needed, not " + shape::Text(self));
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.rank() == 2) {
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
  }
  out.Add(self.dtype(), sizes, strides);
}

void TransposeShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const int a = op.dim(1, self.rank()), b = op.dim(2, self.rank());
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.rank() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  out.Add(self.dtype(), sizes, strides);
}

// --- Other names of views -----------------------------------------------------------------------

std::vector<Tensor> ReshapeAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::reshape", d.tensor(op, 0), Dims(op.tensor(1).sizes()))};
}
std::vector<Tensor> BroadcastTo(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::expand", d.tensor(op, 0), op.arg(1))};
}
template <Label kTarget>
std::vector<Tensor> Parts(Dispatcher& d, const OpView& op) {
  return d.CallMany(kOpNamed<kTarget>, d.tensor(op, 0), op.arg(1), op.arg(2));
}
std::vector<Tensor> UnsafeChunk(Dispatcher& d, const OpView& op) {
  const int dim = op.dim(2, op.self().rank());
  const std::int64_t size = op.self().size(dim), chunks = op.integer(1);
  if (chunks <= 0 || chunks > kMostParts) Refuse(fmt::format("{} chunks", chunks));
  if (size == 0) {
    const Dims parts =
        Dims::Filled(static_cast<int>(std::min<std::int64_t>(chunks, Dims::kMaxRank)), 0);
    return d.CallMany("aten::unsafe_split_with_sizes", d.tensor(op, 0), parts, dim);
  }
  return d.CallMany("aten::unsafe_split.Tensor", d.tensor(op, 0), DivideUp(size, chunks), dim);
}
std::vector<Tensor> LinalgDiagonal(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::diagonal", d.tensor(op, 0), op.arg(1), op.arg(2), op.arg(3))};
}

// The larger parts come first.
std::vector<Tensor> SplitInto(Dispatcher& d, const OpView& op) {
  const int dim = op.dim(2, op.self().rank());
  const std::int64_t parts = op.integer(1);
  if (op.self().rank() == 0) Refuse("a 0-dim tensor cannot be split");
  if (parts < 1 || parts > kMostParts) Refuse(fmt::format("{} parts", parts));
  const std::int64_t size = op.self().size(dim);
  std::vector<Tensor> out;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t end = at + size / parts + (i < size % parts ? 1 : 0);
    out.push_back(d.Call("aten::slice.Tensor", d.tensor(op, 0), dim, at, end));
    at = end;
  }
  return out;
}

std::vector<Tensor> SplitAt(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 0) Refuse("a 0-dim tensor cannot be split");
  const int dim = op.dim(2, op.self().rank());
  std::vector<Tensor> out;
  std::int64_t at = 0;
  for (std::int64_t end : op.integers(1)) {
    out.push_back(d.Call("aten::slice.Tensor", d.tensor(op, 0), dim, at, end));
    at = end;
  }
  out.push_back(d.Call("aten::slice.Tensor", d.tensor(op, 0), dim, at, op.self().size(dim)));
  return out;
}

// --- Stacks -------------------------------------------------------------------------------------

// Dimensions of size 1 in front or behind until there are `rank` of them.
Tensor AtLeast(Dispatcher& d, const Tensor& t, int rank) {
  if (t.rank() >= rank) return t;
  if (t.rank() == 0) return d.Call("aten::reshape", t, Dims::Filled(rank, 1));
  const Tensor row = t.rank() == 1 && rank > 1 ? d.Call("aten::unsqueeze", t, 0) : t;
  return rank > 2 ? d.Call("aten::unsqueeze", row, -1) : row;
}

std::vector<Tensor> AllAtLeast(Dispatcher& d, const OpView& op, int rank) {
  std::vector<Tensor> out;
  for (const Tensor& t : d.tensors(op, 0)) out.push_back(AtLeast(d, t, rank));
  if (out.empty()) Refuse("there is nothing to stack");
  return out;
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
std::vector<Tensor> Concat(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::cat", d.tensors(op, 0), op.arg(1))};
}

// --- Grids --------------------------------------------------------------------------------------

std::vector<Tensor> Grid(Dispatcher& d, std::vector<Tensor> axes, bool by_columns) {
  if (axes.empty()) Refuse("there is no axis");
  if (static_cast<int>(axes.size()) > Dims::kMaxRank) Refuse("too many dimensions");
  const bool swaps = by_columns && axes.size() > 1;
  if (swaps) std::swap(axes[0], axes[1]);
  Dims sizes;
  for (const Tensor& axis : axes) {
    if (axis.rank() > 1) Refuse("an axis has one dimension, not " + shape::Text(axis.view()));
    if (axis.dtype() != axes[0].dtype()) Refuse("axes must be of one dtype");
    sizes.push_back(axis.count());
  }
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Dims spread = Dims::Filled(sizes.size(), 1);
    spread[static_cast<int>(i)] = axes[i].count();
    out.push_back(d.Call("aten::expand", d.Call("aten::view", axes[i], spread), sizes));
  }
  if (swaps) std::swap(out[0], out[1]);
  return out;
}
std::vector<Tensor> Meshgrid(Dispatcher& d, const OpView& op) {
  return Grid(d, d.tensors(op, 0), false);
}
std::vector<Tensor> MeshgridIndexed(Dispatcher& d, const OpView& op) {
  if (op.text(1) != "ij" && op.text(1) != "xy") Refuse("grids are indexed 'ij' or 'xy'");
  return Grid(d, d.tensors(op, 0), op.text(1) == "xy");
}

std::vector<Tensor> CartesianProduct(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> axes = d.tensors(op, 0);
  if (axes.size() == 1) return {axes[0]};
  std::vector<Tensor> flat;
  {
    std::vector<Tensor> grid = d.CallMany("aten::meshgrid", axes);
    for (Tensor& t : grid) t = d.Call("aten::flatten.using_ints", t);
    flat = std::move(grid);
  }
  return {d.Call("aten::stack", flat, 1)};
}

// self, r, with_replacement: elements at places that rise
std::vector<Tensor> Combinations(Dispatcher& d, const OpView& op) {
  shape::RequireRank("the vector", op.self(), 1);
  const std::int64_t n = op.self().size(0), r = op.integer(1, 2);
  if (r < 0 || r > Dims::kMaxRank) Refuse(fmt::format("combinations of {}", r));
  if (r == 0) return {d.Call("aten::empty.memory_format", Dims{0}, op.self().dtype())};
  const bool repeats = op.boolean(2);
  Count count = 1;
  for (std::int64_t i = 0; i < r; ++i) {
    const std::int64_t choices = repeats ? n + i : n - i;
    const Count product = count * std::max<std::int64_t>(choices, 0);
    if (product.overflowed()) Contradict("more than 2^63 combinations");
    count = Count(product.value() / (i + 1));
  }
  Tensor chosen;
  {
    Tensor mask;
    {
      const Tensor range = d.Call("aten::arange", n, DType::kInt64);
      const std::vector<Tensor> places(static_cast<std::size_t>(r), range);
      const std::vector<Tensor> grids = d.CallMany("aten::meshgrid.indexing", places, d.Text("ij"));
      mask = d.Call("aten::full", Dims(grids[0].sizes()), true, DType::kBool);
      const OpName rises = repeats ? OpName("aten::le.Tensor") : OpName("aten::lt.Tensor");
      for (std::size_t i = 0; i + 1 < grids.size(); ++i) {
        d.Call("aten::mul_.Tensor", mask, d.Call(rises, grids[i], grids[i + 1]));
      }
    }
    // As aten::nonzero_static, of which it is known how many are chosen.
    const Dims sizes{count.value(), r};
    chosen = d.Call("aten::empty.memory_format", sizes, DType::kInt64);
    const Dispatcher::Inside frame(d, "aten::nonzero_static");
    const Dims strides{1, count.value()};
    d.Call("aten::copy_", chosen, d.Call("steelyard::result", sizes, strides, DType::kInt64));
  }
  return {d.Call("aten::contiguous",
                 d.Call("aten::index.Tensor", op.arg(0), std::vector<Tensor>{chosen}))};
}

// Elements of a triangle (get_tril_size in ATen/native/TensorFactories.h).
Count BelowDiagonal(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  if (rows == 0 || columns == 0) return 0;
  if (offset >= columns) return Count(rows) * columns;
  const std::int64_t first = offset > 0 ? std::min(columns, 1 + offset) : (rows + offset > 0);
  const std::int64_t last = std::max<std::int64_t>(0, std::min(columns, rows + offset));
  const std::int64_t filled = std::max<std::int64_t>(0, std::min(rows, rows + offset));
  const std::int64_t stairs = last - first + 1;
  const Count trapezoid = Count((first + last) * stairs / 2);
  return trapezoid + Count(std::max<std::int64_t>(0, filled - stairs)) * columns;
}

constexpr std::int64_t kMostRows = std::int64_t{1} << 31;

template <bool kLower>
void TriangleShape(const OpView& op, Outputs& out) {
  const std::int64_t rows = op.integer(0), columns = op.integer(1), offset = op.integer(2);
  if (rows < 0 || columns < 0) Refuse("a negative number of rows or columns");
  if (rows > kMostRows || columns > kMostRows || std::abs(offset) > kMostRows) {
    Refuse("a triangle of more than 2^31 rows");
  }
  const Count below = BelowDiagonal(rows, columns, kLower ? offset : offset - 1);
  const std::int64_t size =
      kLower ? below.value() : (Count(rows) * columns).value() - below.value();
  if (size < 0) Refuse("a triangle of more than 2^63 elements");
  out.Add(op.dtype(3).value_or(DType::kInt64), Dims{2, size});
}

// --- Diagonals ----------------------------------------------------------------------------------

std::vector<Tensor> DiagonalEmbed(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() == 0) Refuse("a 0-dim tensor is no diagonal");
  const int rank = self.rank() + 1;
  if (rank > Dims::kMaxRank) Refuse("too many dimensions");
  const int first = op.dim(2, rank), second = op.dim(3, rank);
  if (first == second) Refuse("a diagonal lies between two different dimensions");
  std::int64_t side = 0;
  if (__builtin_add_overflow(self.size(-1), std::abs(op.integer(1)), &side)) {
    Refuse("the offset is too large");
  }
  Dims sizes;
  for (int i = 0, from = 0; i < rank; ++i) {
    sizes.push_back(i == first || i == second ? side : self.size(from++));
  }
  const Tensor out = d.Call("aten::zeros", sizes, self.dtype());
  const Tensor diagonal = d.Call("aten::diagonal", out, op.arg(1), first, second);
  d.Call("aten::copy_", diagonal, d.tensor(op, 0));
  return {out};
}

std::vector<Tensor> Diagonal(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 1) return {d.Call("aten::diag_embed", d.tensor(op, 0), op.arg(1))};
  if (op.self().rank() == 2) return {d.Call("aten::diagonal_copy", d.tensor(op, 0), op.arg(1))};
  Refuse("a vector or a matrix is needed, not " + shape::Text(op.self()));
}

// --- Shuffled channels --------------------------------------------------------------------------

// The operand in the memory format that the result has.
void ShuffleAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  const TensorView self = op.self();
  if (op.output().count() == 0) return;
  const Dims strides = window::StridesLike(self, self.sizes());
  if (IsContiguous(self.sizes(), self.strides()) && IsContiguous(self.sizes(), strides)) return;
  if ((self.rank() == 4 || self.rank() == 5) && !IsContiguous(self.sizes(), strides) &&
      IsContiguousChannelsLast(self.sizes(), self.strides())) {
    return;
  }
  memory.Free(memory.Allocate(allocations::Bytes(self.count(), self.dtype()), "aten::empty"));
}

void RequireImage(const TensorView& self) {
  if (self.rank() < 3) Refuse("an image has three dimensions or more, not " + shape::Text(self));
}

void AddImage(const TensorView& self, const Dims& sizes, Outputs& out) {
  out.Add(self.dtype(), sizes, window::StridesLike(self, sizes));
}

void PixelShuffleShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  RequireImage(self);
  const std::int64_t factor = op.integer(1);
  if (factor <= 0 || factor > kMostParts) Refuse(fmt::format("pixels shuffled by {}", factor));
  Dims sizes(self.sizes());
  const int rank = self.rank();
  if (sizes[rank - 3] % (factor * factor) != 0) {
    Refuse(fmt::format("{} channels cannot be shuffled by {}", sizes[rank - 3], factor));
  }
  sizes[rank - 3] /= factor * factor;
  sizes[rank - 2] *= factor;
  sizes[rank - 1] *= factor;
  AddImage(self, sizes, out);
}
void PixelUnshuffleShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  RequireImage(self);
  const std::int64_t factor = op.integer(1);
  if (factor <= 0 || factor > kMostParts) Refuse(fmt::format("pixels shuffled by {}", factor));
  Dims sizes(self.sizes());
  const int rank = self.rank();
  if (sizes[rank - 2] % factor != 0 || sizes[rank - 1] % factor != 0) {
    Refuse(fmt::format("{} cannot be shuffled by {}", shape::Text(self), factor));
  }
  sizes[rank - 3] *= factor * factor;
  sizes[rank - 2] /= factor;
  sizes[rank - 1] /= factor;
  AddImage(self, sizes, out);
}
void ChannelShuffleShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  RequireImage(self);
  const std::int64_t groups = op.integer(1);
  if (groups <= 0 || self.size(1) % groups != 0) {
    Refuse(fmt::format("{} channels in {} groups", self.size(1), groups));
  }
  AddImage(self, Dims(self.sizes()), out);
}
std::vector<Tensor> ChannelShuffle(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::native_channel_shuffle", d.tensor(op, 0), op.arg(1))};
}

// --- Repeats ------------------------------------------------------------------------------------

std::vector<Tensor> Tile(Dispatcher& d, const OpView& op) {
  Dims times = op.ints(1);
  const int missing = op.self().rank() - times.size();
  if (missing > 0) {
    Dims padded = Dims::Filled(missing, 1);
    for (std::int64_t n : std::span<const std::int64_t>(times)) padded.push_back(n);
    times = padded;
  }
  return {d.Call("aten::repeat", d.tensor(op, 0), times)};
}

// --- Kronecker products -------------------------------------------------------------------------

std::vector<Tensor> Kron(Dispatcher& d, const OpView& op) {
  const TensorView a = op.self(), b = op.tensor(1);
  const int rank = std::max(a.rank(), b.rank());
  if (2 * rank > Dims::kMaxRank) Refuse("too many dimensions");
  Dims of_a, of_b, merged;
  for (int i = 0; i < rank; ++i) {
    const int in_a = i - (rank - a.rank()), in_b = i - (rank - b.rank());
    const std::int64_t size_a = in_a < 0 ? 1 : a.size(in_a);
    const std::int64_t size_b = in_b < 0 ? 1 : b.size(in_b);
    of_a.push_back(size_a);
    of_a.push_back(1);
    of_b.push_back(1);
    of_b.push_back(size_b);
    merged.push_back((Count(size_a) * size_b).value());
  }
  const Tensor first = d.Call("aten::_unsafe_view", d.tensor(op, 0), of_a);
  const Tensor second = d.Call("aten::_unsafe_view", d.tensor(op, 1), of_b);
  return {d.Call("aten::_unsafe_view", d.Call("aten::mul.Tensor", first, second), merged)};
}

// --- Rows ---------------------------------------------------------------------------------------

Tensor DiagonalOfGradient(Dispatcher& d, const Backward& b) {
  return d.Call("aten::diagonal", b.grad(), b.op().arg(1), b.op().arg(2), b.op().arg(3));
}
constexpr Gradient kTInPlace{"TBackward1", {GradientOf(0, {}, gradients::TSelf)}};
constexpr Gradient kSqueezeAllInPlace{"SqueezeBackward3",
                                      {GradientOf(0, {}, gradients::SqueezeSelf)}};
constexpr Gradient kSqueezeSeveralInPlace{"SqueezeBackward5",
                                          {GradientOf(0, {}, gradients::SqueezeSelf)}};
constexpr Gradient kDiagonalEmbed{"DiagEmbedBackward0", {GradientOf(0, {}, DiagonalOfGradient)}};
constexpr Gradient kUnsafeSplit{"UnsafeSplitBackward0", {GradientOf(0, {}, gradients::SplitSelf)}};
constexpr Gradient kUnsafeSplitSizes{"UnsafeSplitWithSizesBackward0",
                                     {GradientOf(0, {}, gradients::SplitSelf)}};

constexpr std::array kRows{
    View({"aten::unfold", "Windows along a dimension, as a new last one.",
          "(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
          "aten::unfold(f32[2,8], 1, 3, 2)"},
         UnfoldShape, gradients::kUnfold),
    ViewInPlace({"aten::unsqueeze_", "A dimension of size 1 inserted, in place.",
                 "(Tensor(a!) self, int dim) -> Tensor(a!)", "aten::unsqueeze_(f32[2,8], 1)"},
                UnsqueezeShape, gradients::kUnsqueezeInPlace),
    ViewInPlace({"aten::squeeze_.dim", "A dimension of size 1 removed, in place.",
                 "(Tensor(a!) self, int dim) -> Tensor(a!)", "aten::squeeze_.dim(f32[2,1,8], 1)"},
                SqueezeShape, gradients::kSqueezeInPlace),
    ViewInPlace(
        {"aten::transpose_", "Two dimensions exchanged, in place.",
         "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "aten::transpose_(f32[2,8], 0, 1)"},
        TransposeShape, gradients::kTransposeInPlace),
    ViewInPlace(
        {"aten::swapdims_", "Two dimensions exchanged, in place.",
         "(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "aten::swapdims_(f32[2,8], 0, 1)"},
        TransposeShape, gradients::kTransposeInPlace),
    ViewInPlace({"aten::swapaxes_", "Two dimensions exchanged, in place.",
                 "(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
                 "aten::swapaxes_(f32[2,8], 0, 1)"},
                TransposeShape, gradients::kTransposeInPlace),
    ViewInPlace({"aten::t_", "A matrix transposed, in place.", "(Tensor(a!) self) -> Tensor(a!)",
                 "aten::t_(f32[2,8])"},
                TransposedMatrixShape, kTInPlace),
    ViewInPlace({"aten::squeeze_", "Dimensions of size 1 removed, in place.",
                 "(Tensor(a!) self) -> Tensor(a!)", "aten::squeeze_(f32[2,1,8])"},
                SqueezeSeveralShape, kSqueezeAllInPlace),
    ViewInPlace(
        {"aten::squeeze_.dims", "Some dimensions of size 1 removed, in place.",
         "(Tensor(a!) self, int[] dim) -> Tensor(a!)", "aten::squeeze_.dims(f32[2,1,8,1], [1])"},
        SqueezeSeveralShape, kSqueezeSeveralInPlace),
    Call({"aten::reshape_as", "The shape of another tensor.",
          "(Tensor(a) self, Tensor other) -> Tensor(a)", "aten::reshape_as(f32[2,6], f32[3,4])"},
         ReshapeAs),
    Call({"aten::broadcast_to", "Expanded to a size.",
          "(Tensor(a) self, SymInt[] size) -> Tensor(a)", "aten::broadcast_to(f32[1,4], [3,4])"},
         BroadcastTo),
    Call({"aten::linalg_diagonal", "Diagonals of matrices.",
          "(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
          "aten::linalg_diagonal(f32[2,3,4])"},
         LinalgDiagonal),
    Call({"aten::unsafe_split.Tensor", "Parts of a size along a dimension.",
          "(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
          "aten::unsafe_split.Tensor(f32[7,2], 3)"},
         Parts<"aten::split.Tensor">, kUnsafeSplit),
    Call({"aten::unsafe_split_with_sizes", "Parts of given sizes along a dimension.",
          "(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
          "aten::unsafe_split_with_sizes(f32[7,2], [3,4])"},
         Parts<"aten::split_with_sizes">, kUnsafeSplitSizes),
    Call({"aten::unsafe_chunk", "A dimension cut into a number of equal parts.",
          "(Tensor self, int chunks, int dim=0) -> Tensor[]", "aten::unsafe_chunk(f32[7,2], 3)"},
         UnsafeChunk),
    Call({"aten::tensor_split.sections", "A dimension cut into parts of equal size, or nearly.",
          "(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
          "aten::tensor_split.sections(f32[7,2], 3)"},
         SplitInto),
    Call({"aten::tensor_split.indices", "A dimension cut at given places.",
          "(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
          "aten::tensor_split.indices(f32[7,2], [1,4])"},
         SplitAt),
    Call({"aten::atleast_1d", "One dimension or more.", "(Tensor self) -> Tensor",
          "aten::atleast_1d(f32[])"},
         AtLeastOf<1>),
    Call({"aten::atleast_2d", "Two dimensions or more.", "(Tensor self) -> Tensor",
          "aten::atleast_2d(f32[3])"},
         AtLeastOf<2>),
    Call({"aten::atleast_3d", "Three dimensions or more.", "(Tensor self) -> Tensor",
          "aten::atleast_3d(f32[3])"},
         AtLeastOf<3>),
    Call({"aten::atleast_1d.Sequence", "One dimension or more of each.",
          "(Tensor[] tensors) -> Tensor[]", "aten::atleast_1d.Sequence([f32[], f32[3]])"},
         EachAtLeast<1>),
    Call({"aten::atleast_2d.Sequence", "Two dimensions or more of each.",
          "(Tensor[] tensors) -> Tensor[]", "aten::atleast_2d.Sequence([f32[3], f32[2,3]])"},
         EachAtLeast<2>),
    Call({"aten::atleast_3d.Sequence", "Three dimensions or more of each.",
          "(Tensor[] tensors) -> Tensor[]", "aten::atleast_3d.Sequence([f32[3], f32[2,3]])"},
         EachAtLeast<3>),
    Call({"aten::concat", "Tensors one after the other along a dimension.",
          "(Tensor[] tensors, int dim=0) -> Tensor", "aten::concat([f32[2,3], f32[1,3]])"},
         Concat),
    Call({"aten::concatenate", "Tensors one after the other along a dimension.",
          "(Tensor[] tensors, int dim=0) -> Tensor", "aten::concatenate([f32[2,3], f32[2,1]], 1)"},
         Concat),
    Call({"aten::hstack", "Tensors one beside the other.", "(Tensor[] tensors) -> Tensor",
          "aten::hstack([f32[2,3], f32[2,1]])"},
         StackColumns),
    Call({"aten::vstack", "Tensors one below the other.", "(Tensor[] tensors) -> Tensor",
          "aten::vstack([f32[3], f32[2,3]])"},
         StackRows),
    Call({"aten::dstack", "Tensors one behind the other.", "(Tensor[] tensors) -> Tensor",
          "aten::dstack([f32[3], f32[3]])"},
         StackDepths),
    Call({"aten::column_stack", "Vectors as columns, matrices beside them.",
          "(Tensor[] tensors) -> Tensor", "aten::column_stack([f32[3], f32[3,2]])"},
         ColumnStack),
    Call({"aten::meshgrid", "Axes spread over a grid.", "(Tensor[] tensors) -> Tensor[]",
          "aten::meshgrid([f32[3], f32[4]])"},
         Meshgrid),
    Call({"aten::meshgrid.indexing", "Axes spread over a grid, rows or columns first.",
          "(Tensor[] tensors, *, str indexing) -> Tensor[]",
          "aten::meshgrid.indexing([f32[3], f32[4]], indexing='xy')"},
         MeshgridIndexed),
    Call({"aten::cartesian_prod", "All pairs of two vectors' elements.",
          "(Tensor[] tensors) -> Tensor", "aten::cartesian_prod([f32[3], f32[4]])"},
         CartesianProduct),
    Call({"aten::combinations", "All choices of some elements of a vector.",
          "(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
          "aten::combinations(f32[4])"},
         Combinations),
    Fresh({"aten::tril_indices", "Rows and columns of a lower triangle.",
           "(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
           "device=None, bool? pin_memory=None) -> Tensor",
           "aten::tril_indices(4, 3)"},
          TriangleShape<true>, allocations::OutputsOnly),
    Fresh({"aten::triu_indices", "Rows and columns of an upper triangle.",
           "(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
           "device=None, bool? pin_memory=None) -> Tensor",
           "aten::triu_indices(4, 3, 1)"},
          TriangleShape<false>, allocations::OutputsOnly),
    Call({"aten::diag_embed", "Vectors as diagonals of matrices.",
          "(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
          "aten::diag_embed(f32[2,3])"},
         DiagonalEmbed, kDiagonalEmbed),
    Call({"aten::diag", "The diagonal of a matrix, or a matrix of a diagonal.",
          "(Tensor self, int diagonal=0) -> Tensor", "aten::diag(f32[3])"},
         Diagonal),
    Made({"aten::pixel_shuffle", "Channels spread over a larger image.",
          "(Tensor self, int upscale_factor) -> Tensor", "aten::pixel_shuffle(f32[2,12,3,3], 2)"},
         PixelShuffleShape, ShuffleAllocations, gradients::kPixelShuffle),
    Made(
        {"aten::pixel_unshuffle", "Pixels gathered as channels of a smaller image.",
         "(Tensor self, int downscale_factor) -> Tensor", "aten::pixel_unshuffle(f32[2,3,6,6], 2)"},
        PixelUnshuffleShape, ShuffleAllocations, gradients::kPixelUnshuffle),
    Made(
        {"aten::native_channel_shuffle", "Channels of groups dealt out in turn.",
         "(Tensor self, SymInt groups) -> Tensor", "aten::native_channel_shuffle(f32[2,6,4,4], 2)"},
        ChannelShuffleShape, ShuffleAllocations),
    Call({"aten::channel_shuffle", "Channels of groups dealt out in turn.",
          "(Tensor self, SymInt groups) -> Tensor", "aten::channel_shuffle(f32[2,6,4,4], 2)"},
         ChannelShuffle, gradients::kChannelShuffle),
    Call({"aten::tile", "Copies side by side.", "(Tensor self, SymInt[] dims) -> Tensor",
          "aten::tile(f32[2,3], [2])"},
         Tile),
    Call({"aten::kron", "Every element of one tensor times the whole other.",
          "(Tensor self, Tensor other) -> Tensor", "aten::kron(f32[2,3], f32[4,5])"},
         Kron),
};

}  // namespace

std::span<const OpDef> Assemble() { return kRows; }

}  // namespace steelyard::ops
