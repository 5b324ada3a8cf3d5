// SPDX-License-Identifier: Apache-2.0
//
// Borders added to tensors: of a constant, mirrored, repeated or continued from the opposite side,
// and sequences filled up to one length (ATen/native/PadNd.cpp, ReflectionPad.cpp,
// ReplicationPadding.cpp). Amounts are [left, right] of the last dimension, then of the one before,
// and so on; negative ones cut.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/cuda/copies.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

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

// --- Images -------------------------------------------------------------------------------------

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

// --- Sequences ----------------------------------------------------------------------------------

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

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef PadKernel(const Words& words, ShapeFn shape, DeviceAllocations allocations,
                          Gradient grad) {
  return Kernel(Family::kDataMovement, words,
                {shape, Fusion::kInjective, allocations, work::Move, grad, precision::kFollow});
}

constexpr std::array kRows{
    Composite("aten::pad", "Borders added, of a constant or of the tensor's own elements.",
              "(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
              "aten::pad(f32[2,3,4], [1,2])", Family::kDataMovement, Pad, precision::kFollow),
    CopyingOut(Composite("aten::constant_pad_nd",
                         "Borders of a constant added; negative amounts cut.",
                         "(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
                         "aten::constant_pad_nd(f32[2,3,4], [1,-1,0,3])", Family::kDataMovement,
                         ConstantPad, precision::kFollow, gradients::kConstantPad)),
    Casting(precision::kFullOnCpu,
            PadKernel({"aten::reflection_pad1d", "Borders that mirror the last dimension.",
                       "(Tensor self, SymInt[2] padding) -> Tensor",
                       "aten::reflection_pad1d(f32[2,3,4], [1,2])"},
                      PadImageShape<1>, {PadImageAllocations<1>, cuda::OutputsThenCopies<0>},
                      gradients::kReflectionPad1d)),
    Casting(precision::kFullOnCpu,
            PadKernel({"aten::reflection_pad2d", "Borders that mirror the last two dimensions.",
                       "(Tensor self, SymInt[4] padding) -> Tensor",
                       "aten::reflection_pad2d(f32[2,3,4,5], [1,2,1,0])"},
                      PadImageShape<2>, {ResizedPadAllocations, cuda::OutputsThenCopies<0>},
                      gradients::kReflectionPad2d)),
    PadKernel({"aten::reflection_pad3d", "Borders that mirror the last three dimensions.",
               "(Tensor self, SymInt[6] padding) -> Tensor",
               "aten::reflection_pad3d(f32[2,3,4,5,6], [1,2,1,0,2,1])"},
              PadImageShape<3>, {PadImageAllocations<3>, cuda::OutputsThenCopies<0>},
              gradients::kReflectionPad3d),
    Casting(
        precision::kFullOnCpu,
        PadKernel({"aten::replication_pad1d", "Borders that repeat the edge of the last dimension.",
                   "(Tensor self, SymInt[2] padding) -> Tensor",
                   "aten::replication_pad1d(f32[2,3,4], [1,2])"},
                  PadImageShape<1>, PadImageAllocations<1>, gradients::kReplicationPad1d)),
    Casting(precision::kFullOnCpu,
            PadKernel({"aten::replication_pad2d",
                       "Borders that repeat the edges of the last two dimensions.",
                       "(Tensor self, SymInt[4] padding) -> Tensor",
                       "aten::replication_pad2d(f32[2,3,4,5], [1,2,1,0])"},
                      PadImageShape<2>, PadImageAllocations<2>, gradients::kReplicationPad2d)),
    Casting(precision::kFullOnCpu,
            PadKernel({"aten::replication_pad3d",
                       "Borders that repeat the edges of the last three dimensions.",
                       "(Tensor self, SymInt[6] padding) -> Tensor",
                       "aten::replication_pad3d(f32[2,3,4,5,6], [1,2,1,0,2,1])"},
                      PadImageShape<3>, PadImageAllocations<3>, gradients::kReplicationPad3d)),
    Composite("aten::_pad_circular", "Borders that continue from the opposite side.",
              "(Tensor self, SymInt[] pad) -> Tensor", "aten::_pad_circular(f32[2,3,4], [1,2])",
              Family::kDataMovement, PadCircular, precision::kFollow),
    Composite(Family::kDataMovement,
              {"aten::pad_sequence", "Sequences beside each other, as long as the longest.",
               "(Tensor[] sequences, bool batch_first=False, float padding_value=0., str "
               "padding_side=\"right\") -> Tensor",
               "aten::pad_sequence([f32[3,4],f32[5,4]], True)"},
              PadSequence),
};

}  // namespace

std::span<const OpDef> Padding() { return kRows; }

}  // namespace steelyard::ops
