// SPDX-License-Identifier: Apache-2.0
//
// Operators that put the same elements elsewhere in a larger or reordered tensor: padding,
// repetition, rolling and flipping.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/copies.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Padding: [left, right] of the last dimension, then of the one before, and so on ------------

// Sizes after padding. Negative amounts cut.
Dims PaddedSizes(const TensorView& self, const Dims& pad) {
  if (pad.size() % 2 != 0 || pad.size() / 2 > self.rank()) {
    Refuse(fmt::format("a padding of {} numbers does not fit {}", pad.size(), shape::Text(self)));
  }
  Dims sizes(self.sizes());
  for (int k = 0; k < pad.size() / 2; ++k) {
    std::int64_t& size = sizes[self.rank() - 1 - k];
    if (__builtin_add_overflow(size, pad[2 * k], &size) ||
        __builtin_add_overflow(size, pad[2 * k + 1], &size) || size < 0) {
      Refuse(fmt::format("a padding of [{}] leaves no elements of {}", fmt::join(pad, ", "),
                         shape::Text(self)));
    }
  }
  return sizes;
}

// The part of `t` that padding keeps: what negative amounts leave, or the interior of the padded
// one.
Tensor Cut(Dispatcher& d, Tensor t, const Dims& pad, bool interior) {
  const int rank = t.rank();
  for (int k = 0; k < pad.size() / 2; ++k) {
    const int dim = rank - 1 - k;
    const auto amount = [&](int i) {
      return interior ? std::max<std::int64_t>(pad[i], 0) : std::max<std::int64_t>(-pad[i], 0);
    };
    const std::int64_t before = amount(2 * k), after = amount(2 * k + 1);
    if (before > 0) t = d.Call("aten::narrow", t, dim, before, t.size(dim) - before);
    if (after > 0) t = d.Call("aten::narrow", t, dim, 0, t.size(dim) - after);
  }
  return t;
}

std::vector<Tensor> ConstantPad(Dispatcher& d, const OpView& op) {
  const Dims pad = op.ints(1);
  const Dims sizes = PaddedSizes(op.self(), pad);
  const Tensor kept = Cut(d, d.tensor(op, 0), pad, false);
  if (std::ranges::all_of(pad, [](std::int64_t p) { return p <= 0; }))
    return {d.Call("aten::clone", kept)};
  // suggest_memory_format: a channels-last image stays one.
  constexpr int kContiguous = 0, kChannelsLast = 2;
  const int format =
      IsChannelsLast(op.self().sizes(), op.self().strides()) ? kChannelsLast : kContiguous;
  const Tensor out = d.Call("aten::empty.memory_format", sizes, op.self().dtype(), std::nullopt,
                            std::nullopt, std::nullopt, format);
  d.Call("aten::fill_.Scalar", out, op.arg(2));
  d.Call("aten::copy_", Cut(d, out, pad, true), kept);
  return {out};
}

// pad(..., mode): which operator each mode is, by the number of padded dimensions.
std::vector<Tensor> Pad(Dispatcher& d, const OpView& op) {
  const std::string_view mode = op.text(2);
  const int dims = op.ints(1).size() / 2;
  if (mode == "constant") {
    return {d.Call("aten::constant_pad_nd", op.arg(0), op.arg(1),
                   op.given(3) ? op.arg(3) : Argument::OfInt(std::int64_t{0}))};
  }
  if (mode == "circular") return {d.Call("aten::_pad_circular", op.arg(0), op.arg(1))};
  const bool reflect = mode == "reflect";
  if ((reflect || mode == "replicate") && dims == 1) {
    return {reflect ? d.Call("aten::reflection_pad1d", op.arg(0), op.arg(1))
                    : d.Call("aten::replication_pad1d", op.arg(0), op.arg(1))};
  }
  if ((reflect || mode == "replicate") && dims == 2) {
    return {reflect ? d.Call("aten::reflection_pad2d", op.arg(0), op.arg(1))
                    : d.Call("aten::replication_pad2d", op.arg(0), op.arg(1))};
  }
  if ((reflect || mode == "replicate") && dims == 3) {
    return {reflect ? d.Call("aten::reflection_pad3d", op.arg(0), op.arg(1))
                    : d.Call("aten::replication_pad3d", op.arg(0), op.arg(1))};
  }
  Refuse(fmt::format("padding mode \"{}\" of {} dimensions", mode, dims),
         "Modes are constant, reflect, replicate and circular.");
}

// The middle is written first, then each border from the opposite side of what is there.
std::vector<Tensor> PadCircular(Dispatcher& d, const OpView& op) {
  const Dims pad = op.ints(1), from(op.self().sizes());
  const Dims to = PaddedSizes(op.self(), pad);
  const auto part = [&](const Tensor& t, int dim, std::int64_t begin, std::int64_t end) {
    return d.Call("aten::slice.Tensor", t, dim, begin, end);
  };
  const auto copy = [&](const Tensor& target, const Tensor& source) {
    d.Call("aten::copy_", target, source);
  };
  constexpr std::int64_t kZero = 0;
  const Tensor out = d.Call("aten::new_empty", d.tensor(op, 0), to);
  Tensor target = out, source = d.tensor(op, 0);
  const int dims = pad.size() / 2;
  for (int i = 0; i < dims; ++i) {
    const int dim = from.size() - 1 - i;
    const std::int64_t left = pad[2 * i], right = pad[2 * i + 1];
    target = part(target, dim, std::max(left, kZero), to[dim] - std::max(right, kZero));
    source = part(source, dim, std::max(-left, kZero), from[dim] - std::max(-right, kZero));
  }
  copy(target, source);
  for (int i = 0; i < dims; ++i) {
    const int dim = from.size() - 1 - i;
    const std::int64_t left = pad[2 * i], right = pad[2 * i + 1];
    const std::int64_t begin = std::max(left, kZero), end = to[dim] - std::max(right, kZero);
    if (left > 0) {
      target = part(out, dim, 0, left);
      source = part(out, dim, end - left, end);
      copy(target, source);
    }
    if (right > 0) {
      target = part(out, dim, to[dim] - right, to[dim]);
      source = part(out, dim, begin, begin + right);
      copy(target, source);
    }
  }
  return {out};
}

// Batches of images keep their memory format; images in none are copied into it first
// (ReflectionPad.cpp, ReplicationPadding.cpp).
template <int kSpatial>
bool KeepsChannelsLast(const TensorView& image) {
  return image.rank() == kSpatial + 2 && IsChannelsLast(image.sizes(), image.strides());
}

template <int kSpatial>
void PadImageShape(const OpView& op, Outputs& out) {
  const TensorView image = op.self();
  const Dims sizes = PaddedSizes(image, op.ints(1));
  const bool on_cpu = op.target().device == Device::kCpu;
  out.Add(image.dtype(), sizes,
          on_cpu && KeepsChannelsLast<kSpatial>(image) ? ChannelsLastStrides(sizes)
                                                       : ContiguousStrides(sizes));
}

template <int kSpatial>
void CopyImage(const OpView& op, Allocations& memory) {
  const TensorView image = op.self();
  const bool last = KeepsChannelsLast<kSpatial>(image);
  if (!LiesDense(image, last)) memory.Free(memory.Allocate(image.bytes(), "aten::empty"));
}

template <int kSpatial>
void PadImageAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  CopyImage<kSpatial>(op, memory);
}

void ResizedPadAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  CopyImage<2>(op, memory);
}

// --- Repetition ----------------------------------------------------------------------------------

void RepeatShape(const OpView& op, Outputs& out) {
  const Dims repeats = op.ints(1);
  const int lead = repeats.size() - op.self().rank();
  if (lead < 0)
    Refuse(
        fmt::format("{} repetitions are too few for {}", repeats.size(), shape::Text(op.self())));
  Dims sizes;
  for (int i = 0; i < repeats.size(); ++i) {
    const Count size = Count(i < lead ? 1 : op.self().size(i - lead)) * Count(repeats[i]);
    if (repeats[i] < 0 || size.overflowed())
      Refuse(fmt::format("{} repetitions of {}", repeats[i], shape::Text(op.self())));
    sizes.push_back(size.value());
  }
  out.Add(op.self().dtype(), sizes);
}

// The result, then the index arithmetic that orders its dimensions: arange(n), arange(n) + n (a
// boxed number), and both concatenated.
void RepeatAllocations(const OpView& op, Allocations& memory) {
  constexpr std::int64_t kIndex = 8;  // bytes of an int64
  const std::int64_t n = op.output().rank();
  memory.Output(0, "aten::empty");
  const Dims repeats = op.ints(1);
  const bool none = std::ranges::find(repeats, 0) != repeats.end();
  if (n == 0 || none) return;
  const auto first = memory.Allocate(kIndex * n, "aten::resize_");
  const auto number = memory.Allocate(kIndex, "aten::add");
  const auto second = memory.Allocate(kIndex * n, "aten::add");
  memory.Free(number, "aten::add");
  const auto both = memory.Allocate(2 * kIndex * n, "aten::cat");
  for (const auto scratch : {first, second, both}) memory.Free(scratch);
}

// --- Rolling -------------------------------------------------------------------------------------

Tensor RollOne(Dispatcher& d, const Tensor& t, std::int64_t shift, std::int64_t at) {
  const int dim = static_cast<int>(at < 0 ? at + t.rank() : at);
  const std::int64_t size = t.size(dim);
  if (t.count() == 0) return d.Call("aten::clone", t);
  // A kernel of CUDA reads it dense, and makes the same result.
  if (d.target().device == Device::kCuda && !t.view().is_contiguous()) {
    return RollOne(d, d.Call("aten::contiguous", t), shift, at);
  }
  const std::int64_t start = ((size - shift % size) % size + size) % size;
  const std::vector<Tensor> parts{d.Call("aten::narrow", t, dim, start, size - start),
                                  d.Call("aten::narrow", t, dim, 0, start)};
  return d.Call("aten::cat", parts, dim);
}

std::vector<Tensor> Roll(Dispatcher& d, const OpView& op) {
  const Dims shifts = op.ints(1), dims = op.ints(2);
  const Tensor self = d.tensor(op, 0);
  if (dims.empty() && shifts.size() == 1) {
    const Tensor flat = d.Call("aten::view", d.Call("aten::contiguous", self), Dims{self.count()});
    return {d.Call("aten::view", d.Call("aten::roll", flat, shifts, Dims{0}), self.sizes())};
  }
  shape::RequireEqual("the number of shifts and of dimensions", shifts.size(), dims.size());
  if (dims.empty()) Refuse("roll needs a shift");
  for (std::int64_t dim : dims)
    (void)self.size(
        static_cast<int>(std::clamp<std::int64_t>(dim, -Dims::kMaxRank - 1, Dims::kMaxRank)));
  if (dims.size() == 1) return {RollOne(d, self, shifts[0], dims[0])};
  const Tensor first = d.Call("aten::roll", self, Dims{shifts[0]}, Dims{dims[0]});
  return {d.Call("aten::roll", first, Dims(std::span<const std::int64_t>(shifts).subspan(1)),
                 Dims(std::span<const std::int64_t>(dims).subspan(1)))};
}

void FlipShape(const OpView& op, Outputs& out) {
  shape::DimsOf(op, 1, op.self().rank());  // refuses dimensions that are not there
  shape::Like<0>(op, out);
}

// --- Turns, and tensors put into larger ones ----------------------------------------------------

// self, k, dims: quarter turns from the first dimension to the second
std::vector<Tensor> Rotate(Dispatcher& d, const OpView& op) {
  const Dims dims = op.ints(2);
  const Tensor self = d.tensor(op, 0);
  if (dims.size() != 2 || self.rank() < 2) Refuse("a turn is in two dimensions");
  const std::int64_t turns = ((op.integer(1) % 4) + 4) % 4;
  if (turns == 0) return {d.Call("aten::clone", self, kContiguousFormat)};
  if (turns == 2) return {d.Call("aten::flip", self, dims)};
  const Tensor flipped = d.Call("aten::flip", self, Dims{turns == 1 ? dims[1] : dims[0]});
  return {d.Call("aten::transpose_", flipped, dims[0], dims[1])};
}

template <int kDim>
std::vector<Tensor> FlipOne(Dispatcher& d, const OpView& op) {
  if (op.self().rank() <= kDim) Refuse("that dimension is not there in " + shape::Text(op.self()));
  return {d.Call("aten::flip", op.arg(0), Dims{kDim})};
}

// self, offset
std::vector<Tensor> DiagonalOfAll(Dispatcher& d, const OpView& op) {
  const Tensor row = d.Call("aten::view", d.Call("aten::contiguous", op.arg(0)), Dims{-1});
  return {d.Call("aten::diag", row, op.arg(1))};
}

// sequences, batch_first, padding_value, padding_side
std::vector<Tensor> PadSequence(Dispatcher& d, const OpView& op) {
  const std::vector<Tensor> parts = d.tensors(op, 0);
  if (parts.empty() || parts[0].rank() == 0) Refuse("a sequence is needed");
  std::int64_t longest = 0;
  for (const Tensor& part : parts) {
    shape::RequireEqual("dimensions of the sequences", part.rank(), parts[0].rank());
    longest = std::max(longest, part.size(0));
  }
  const bool batch_first = op.boolean(1);
  Dims sizes{static_cast<std::int64_t>(parts.size()), longest};
  if (!batch_first) std::swap(sizes[0], sizes[1]);
  for (int i = 1; i < parts[0].rank(); ++i) sizes.push_back(parts[0].size(i));
  const Tensor out = d.Call("aten::full", sizes, op.real(2, 0.0), parts[0].dtype());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t length = parts[i].size(0);
    const std::int64_t from = op.text(3) == "left" ? longest - length : 0;
    const auto row = static_cast<std::int64_t>(i);
    const Tensor of_batch = d.Call("aten::select.int", out, batch_first ? 0 : 1, row);
    const Tensor place = d.Call("aten::narrow", of_batch, 0, from, length);
    d.Call("aten::copy_", place, parts[i]);
  }
  return {out};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr OpDef Kernel(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, Gradient grad, ShapeFn shape,
                       DeviceAllocations allocations) {
  return Kernel(Family::kDataMovement, {name, summary, signature, example},
                {shape, Fusion::kInjective, allocations, work::Move, grad, precision::kFollow});
}

constexpr OpDef Turned(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, DecomposeFn decompose,
                       Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kDataMovement, decompose,
                   precision::kFollow, grad);
}

constexpr std::array kRows{
    Composite("aten::pad", "Borders added, of a constant or of the tensor's own elements.",
              "(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
              "aten::pad(f32[2,3,4], [1,2])", Family::kDataMovement, Pad, precision::kFollow),
    Composite("aten::constant_pad_nd", "Borders of a constant added; negative amounts cut.",
              "(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
              "aten::constant_pad_nd(f32[2,3,4], [1,-1,0,3])", Family::kDataMovement, ConstantPad,
              precision::kFollow, gradients::kConstantPad),
    Casting(precision::kFullOnCpu,
            Kernel("aten::reflection_pad1d", "Borders that mirror the last dimension.",
                   "(Tensor self, SymInt[2] padding) -> Tensor",
                   "aten::reflection_pad1d(f32[2,3,4], [1,2])", gradients::kReflectionPad1d,
                   PadImageShape<1>, PadImageAllocations<1>)),
    Casting(precision::kFullOnCpu,
            Kernel("aten::reflection_pad2d", "Borders that mirror the last two dimensions.",
                   "(Tensor self, SymInt[4] padding) -> Tensor",
                   "aten::reflection_pad2d(f32[2,3,4,5], [1,2,1,0])", gradients::kReflectionPad2d,
                   PadImageShape<2>, {ResizedPadAllocations, cuda::OutputsThenCopies<0>})),
    Kernel("aten::reflection_pad3d", "Borders that mirror the last three dimensions.",
           "(Tensor self, SymInt[6] padding) -> Tensor",
           "aten::reflection_pad3d(f32[2,3,4,5,6], [1,2,1,0,2,1])", gradients::kReflectionPad3d,
           PadImageShape<3>, {PadImageAllocations<3>, cuda::OutputsThenCopies<0>}),
    Casting(precision::kFullOnCpu,
            Kernel("aten::replication_pad1d", "Borders that repeat the edge of the last dimension.",
                   "(Tensor self, SymInt[2] padding) -> Tensor",
                   "aten::replication_pad1d(f32[2,3,4], [1,2])", gradients::kReplicationPad1d,
                   PadImageShape<1>, PadImageAllocations<1>)),
    Casting(precision::kFullOnCpu,
            Kernel("aten::replication_pad2d",
                   "Borders that repeat the edges of the last two dimensions.",
                   "(Tensor self, SymInt[4] padding) -> Tensor",
                   "aten::replication_pad2d(f32[2,3,4,5], [1,2,1,0])", gradients::kReplicationPad2d,
                   PadImageShape<2>, PadImageAllocations<2>)),
    Casting(precision::kFullOnCpu,
            Kernel("aten::replication_pad3d",
                   "Borders that repeat the edges of the last three dimensions.",
                   "(Tensor self, SymInt[6] padding) -> Tensor",
                   "aten::replication_pad3d(f32[2,3,4,5,6], [1,2,1,0,2,1])",
                   gradients::kReplicationPad3d, PadImageShape<3>, PadImageAllocations<3>)),
    Composite("aten::_pad_circular", "Borders that continue from the opposite side.",
              "(Tensor self, SymInt[] pad) -> Tensor", "aten::_pad_circular(f32[2,3,4], [1,2])",
              Family::kDataMovement, PadCircular, precision::kFollow),
    Kernel("aten::repeat", "Copies side by side, along each dimension.",
           "(Tensor self, SymInt[] repeats) -> Tensor", "aten::repeat(f32[2,3], [4,1,2])",
           gradients::kRepeat, RepeatShape, RepeatAllocations),
    Composite("aten::roll",
              "Elements shifted along dimensions; what falls off comes in on the other side.",
              "(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
              "aten::roll(f32[2,3,4], [1,2], [0,-1])", Family::kDataMovement, Roll,
              precision::kFollow, gradients::kRoll),
    Kernel("aten::flip", "Dimensions in reverse order.", "(Tensor self, int[] dims) -> Tensor",
           "aten::flip(f32[2,3], [1])", gradients::kFlip, FlipShape,
           allocations::Via<"aten::empty_strided">),
    Turned("aten::rot90", "Quarter turns in two dimensions.",
           "(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", "aten::rot90(f32[2,8], 1, [0,1])",
           Rotate, gradients::kRotate),
    Turned("aten::fliplr", "The second dimension in reverse order.", "(Tensor self) -> Tensor",
           "aten::fliplr(f32[2,8])", FlipOne<1>),
    Turned("aten::flipud", "The first dimension in reverse order.", "(Tensor self) -> Tensor",
           "aten::flipud(f32[2,8])", FlipOne<0>),
    Turned("aten::diagflat", "A matrix with all elements on a diagonal.",
           "(Tensor self, int offset=0) -> Tensor", "aten::diagflat(f32[2,3])", DiagonalOfAll),
    Turned("aten::pad_sequence", "Sequences beside each other, as long as the longest.",
           "(Tensor[] sequences, bool batch_first=False, float padding_value=0., str "
           "padding_side=\"right\") -> Tensor",
           "aten::pad_sequence([f32[3,4],f32[5,4]], True)", PadSequence),
};

}  // namespace

std::span<const OpDef> Rearrange() { return kRows; }

}  // namespace steelyard::ops
